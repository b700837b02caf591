// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LocationService

@Suite("The announcement of a service by mDNS")
struct ServiceAnnouncementTests {
  private var announcement = ServiceAnnouncement(
    [.init(type: "_nmea-0183._tcp", port: 10110, interface: nil, text: ["accuracy=exact"])], name: "Sextant on board")

  /// Returns the calls.
  private mutating func calls() -> [BusCall] {
    var calls: [BusCall] = []
    while case .call(let call)? = announcement.nextOutput() { calls.append(call) }
    return calls
  }

  private mutating func answer(_ call: BusCall?, _ values: BusValue...) throws {
    announcement.receive(BusMessage(.reply(try #require(call).token), values))
  }

  private static func owner(isThere: Bool) -> BusMessage {
    BusMessage(
      .signal(path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged"),
      [.text("org.freedesktop.Avahi"), .text(isThere ? "" : ":1.5"), .text(isThere ? ":1.9" : "")])
  }

  private static func changed(_ interface: String, _ path: String, _ state: Int64) -> BusMessage {
    BusMessage(
      .signal(path: path, interface: "org.freedesktop.Avahi.\(interface)", member: "StateChanged"),
      [.integer(state), .text("")])
  }

  /// Connects to a running Avahi. Returns the calls to the group.
  private mutating func announce(group: String = "/Client1/EntryGroup1") throws -> [BusCall] {
    announcement.connected()
    try answer(calls().last, .flag(true))
    try answer(calls().last, .integer(2))
    try answer(calls().last, .text(group))
    return calls()
  }

  @Test("A running Avahi gets the service with its port and its text, then the request to publish it")
  mutating func announced() throws {
    announcement.connected()
    let first = calls()
    #expect(first.map(\.member) == ["AddMatch", "AddMatch", "NameHasOwner"])
    try answer(first.last, .flag(true))
    let second = calls()
    #expect(second.map(\.member) == ["GetState"])
    try answer(second.last, .integer(2))
    let third = calls()
    #expect(third.map(\.member) == ["EntryGroupNew"])
    try answer(third.last, .text("/Client1/EntryGroup1"))
    let last = calls()
    #expect(last.map(\.member) == ["AddService", "Commit"])
    #expect(
      last[0].arguments == [
        .int32(-1), .int32(-1), .uint32(0), .text("Sextant on board"), .text("_nmea-0183._tcp"), .text(""), .text(""),
        .uint16(10110), .byteStrings(["accuracy=exact"]),
      ])
    #expect(announcement.isAnnounced)
  }

  @Test("Without Avahi nothing is called, and nothing is logged; it is announced as soon as Avahi comes")
  mutating func absent() throws {
    announcement.connected()
    try answer(calls().last, .flag(false))
    #expect(announcement.nextOutput() == nil)
    announcement.receive(Self.owner(isThere: true))
    #expect(calls().map(\.member) == ["GetState"])
  }

  @Test("An Avahi that starts again gets the service again")
  mutating func restart() throws {
    _ = try announce()
    announcement.receive(Self.owner(isThere: false))
    #expect(!announcement.isAnnounced && announcement.nextOutput() == nil)
    announcement.receive(Self.owner(isThere: true))
    try answer(calls().last, .integer(1))
    #expect(announcement.nextOutput() == nil)
    announcement.receive(Self.changed("Server", "/", 2))
    try answer(calls().last, .text("/Client2/EntryGroup1"))
    #expect(calls().map(\.path) == ["/Client2/EntryGroup1", "/Client2/EntryGroup1"])
  }

  @Test("A name in use gets a number")
  mutating func collision() throws {
    _ = try announce()
    announcement.receive(Self.changed("EntryGroup", "/Client1/EntryGroup1", 3))
    let again = calls()
    #expect(again.map(\.member) == ["Reset", "AddService", "Commit"])
    #expect(again[1].arguments.contains(.text("Sextant on board #2")))
    let call = again[1]
    announcement.receive(BusMessage(.refusal(call.token, name: "org.freedesktop.Avahi.CollisionError", text: "")))
    #expect(calls()[1].arguments.contains(.text("Sextant on board #3")))
  }

  @Test("A host with a new name has its services announced again")
  mutating func hostName() throws {
    _ = try announce()
    announcement.receive(Self.changed("Server", "/", 3))
    #expect(calls().map(\.member) == ["Free"])
    announcement.receive(Self.changed("Server", "/", 2))
    #expect(calls().map(\.member) == ["EntryGroupNew"])
  }

  @Test("A refusal is logged once")
  mutating func refused() throws {
    let call = try announce()[0]
    announcement.receive(BusMessage(.refusal(call.token, name: "org.freedesktop.Avahi.NotPermittedError", text: "no")))
    announcement.receive(Self.changed("EntryGroup", "/Client1/EntryGroup1", 4))
    #expect(announcement.nextOutput() == .log("NMEA is not announced by mDNS: no"))
    #expect(announcement.nextOutput() == nil)
  }
}
