// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import TestSupport
import Testing

@testable import LocationService

@Suite("Beacons through BlueZ")
struct BeaconTests {
  private static let data: [UInt8] =
    [0x02, 0x15] + (0..<16).map { UInt8(0xA0 + $0) } + [0x01, 0x02, 0x03, 0x04, 0xC5]

  private func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  @Test("iBeacon's data: UUID, major, minor and the strength at one metre, big-endian")
  func parsing() throws {
    let beacon = try #require(BeaconAdvertisement(Self.data))
    #expect(beacon.uuid == (0xA0A1_A2A3_A4A5_A6A7, 0xA8A9_AAAB_ACAD_AEAF))
    #expect(beacon.major == 0x0102 && beacon.minor == 0x0304 && beacon.strengthAtOneMetre == -59)
  }

  @Test("Other types and other lengths are not beacons, and all other bytes are read as they are")
  func others() {
    for length in 0..<40 where length != 23 {
      #expect(BeaconAdvertisement(Array((Self.data + Self.data).prefix(length))) == nil)
    }
    var random = SeededRandomNumberGenerator(seed: 23)
    for _ in 0..<20_000 {
      var data = Self.data
      for _ in 0..<random.int(1...4) {
        data[random.int(0...22)] = random.byte()
      }
      // The bytes were read in the order in which they were written.
      if let beacon = BeaconAdvertisement(data) {
        #expect(data[0] == 2 && data[1] == 0x15)
        #expect(UInt8(truncatingIfNeeded: beacon.uuid.high >> 56) == data[2])
        #expect(UInt8(truncatingIfNeeded: beacon.minor) == data[21])
        #expect(UInt8(bitPattern: beacon.strengthAtOneMetre) == data[22])
      } else {
        #expect(data[0] != 2 || data[1] != 0x15)
      }
    }
  }

  // MARK: A simulated BlueZ

  /// A scan, and BlueZ's side of it.
  private struct Scene {
    var scan = BeaconScan()
    var calls: [BusCall] = []
    var words: [String] = []
    var seconds = 0.0
    var now: Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

    mutating func settle() {
      while let output = scan.nextOutput() {
        switch output {
        case .call(let call):
          calls.append(call)
          if !call.member.hasSuffix("Match") { words.append(call.member) }
        case .available(let isAvailable): words.append(isAvailable ? "available" : "unavailable")
        case .received(let beacon, let strength):
          words.append("received \(beacon.minor) \(strength.map { "\($0)" } ?? "at no strength")")
        case .log: words.append("logged")
        }
      }
    }

    /// Returns the outputs since the last call.
    mutating func take() -> [String] {
      settle()
      defer { words = [] }
      return words
    }

    mutating func answer(_ member: String, _ body: [BusValue] = []) {
      settle()
      guard let call = calls.last(where: { $0.member == member }) else { return }
      scan.receive(BusMessage(.reply(call.token), body), at: now)
    }

    mutating func refuse(_ member: String, _ name: String) {
      settle()
      guard let call = calls.last(where: { $0.member == member }) else { return }
      scan.receive(BusMessage(.refusal(call.token, name: name, text: "no")), at: now)
    }

    mutating func signal(_ path: String, _ interface: String, _ member: String, _ body: [BusValue]) {
      scan.receive(BusMessage(.signal(path: path, interface: interface, member: member), body), at: now)
    }

    mutating func change(_ path: String, _ interface: String, _ properties: [(String, BusValue)]) {
      signal(
        path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
        [.text(interface), BeaconTests.dictionary(properties), .list([])])
    }

    mutating func wake(after seconds: Double) {
      self.seconds += seconds
      scan.wake(at: now)
    }
  }

  private static func dictionary(_ entries: [(String, BusValue)]) -> BusValue {
    .dictionary(entries.map { BusEntry(.text($0.0), $0.1) })
  }

  private static func objects(isOn: Bool) -> [BusValue] {
    [
      dictionary([
        ("/org/bluez", dictionary([("org.bluez.AgentManager1", dictionary([]))])),
        (adapter, dictionary([("org.bluez.Adapter1", dictionary([("Powered", .flag(isOn))]))])),
        (
          device,
          dictionary([("org.bluez.Device1", dictionary([("ManufacturerData", manufacturer), ("RSSI", .integer(-50))]))])
        ),
      ])
    ]
  }

  private static let adapter = "/org/bluez/hci0"
  private static let device = "/org/bluez/hci0/dev_00_11_22_33_44_55"
  private static let manufacturer = BusValue.dictionary([BusEntry(.integer(0x4C), .bytes(data))])

  private func scene(isOn: Bool = true, isWanted: Bool = true) -> Scene {
    var scene = Scene()
    scene.scan.connected()
    scene.scan.setWanted(isWanted, at: scene.now)
    scene.answer("GetManagedObjects", Self.objects(isOn: isOn))
    return scene
  }

  @Test("The search runs while beacons are wanted, for Bluetooth LE only, and ends after that")
  func search() throws {
    var scene = scene()
    #expect(scene.take() == ["GetManagedObjects", "available", "SetDiscoveryFilter", "StartDiscovery"])
    let filter = try #require(scene.calls.first { $0.member == "SetDiscoveryFilter" })
    #expect(filter.path == Self.adapter)
    #expect(
      filter.arguments == [
        .settings([BusCall.Setting("Transport", .text("le")), BusCall.Setting("DuplicateData", .flag(true))])
      ])
    scene.answer("StartDiscovery")
    #expect(scene.take() == [])
    scene.scan.setWanted(false, at: scene.now)
    #expect(scene.take() == ["StopDiscovery"])
    #expect(scene.calls.count { $0.member == "AddMatch" } == scene.calls.count { $0.member == "RemoveMatch" } + 3)
  }

  @Test("BE-8 an adapter that measures no strength receives beacons all the same")
  func strengthless() {
    var scene = scene()
    scene.answer("StartDiscovery")
    _ = scene.take()
    scene.change(Self.device, "org.bluez.Device1", [("ManufacturerData", Self.manufacturer)])
    #expect(scene.take() == ["received 772 at no strength"])
  }

  @Test("BE-3 an advertisement is received with its strength; a device that BlueZ has stored is not")
  func words() {
    var scene = scene()
    scene.answer("StartDiscovery")
    _ = scene.take()
    scene.change(Self.device, "org.bluez.Device1", [("RSSI", .integer(-61)), ("ManufacturerData", Self.manufacturer)])
    scene.change(Self.device, "org.bluez.Device1", [("RSSI", .integer(-62))])
    scene.change(Self.device, "org.bluez.Device1", [("ManufacturerData", Self.manufacturer)])
    scene.change(Self.device, "org.bluez.Device1", [("RSSI", .integer(127))])
    scene.change(Self.device, "org.bluez.Device1", [("Connected", .flag(true))])
    #expect(scene.take() == ["received 772 -61", "received 772 -62", "received 772 -62"])
    // Another device, of another maker.
    let other = BusValue.dictionary([BusEntry(.integer(6), .bytes(Self.data))])
    scene.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [
        .text("\(Self.adapter)/dev_01"),
        Self.dictionary([
          ("org.bluez.Device1", Self.dictionary([("RSSI", .integer(-40)), ("ManufacturerData", other)]))
        ]),
      ])
    #expect(scene.take() == [])
  }

  @Test("BE-4 without an adapter, with one that is off, or without BlueZ no beacons can be received")
  func unavailable() {
    var off = scene(isOn: false)
    #expect(off.take() == ["GetManagedObjects", "unavailable", "logged"])
    off.change(Self.adapter, "org.bluez.Adapter1", [("Powered", .flag(true))])
    #expect(off.take() == ["available", "SetDiscoveryFilter", "StartDiscovery"])
    off.change(Self.adapter, "org.bluez.Adapter1", [("Powered", .flag(false))])
    #expect(off.take() == ["unavailable"])

    var none = Scene()
    none.scan.connected()
    none.refuse("GetManagedObjects", "org.freedesktop.DBus.Error.ServiceUnknown")
    #expect(none.take() == ["GetManagedObjects", "logged", "unavailable"])
  }

  @Test("The search starts again after an adapter is plugged in again, and after a restart of BlueZ")
  func hotPlug() {
    var scene = scene()
    scene.answer("StartDiscovery")
    _ = scene.take()
    scene.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.text(Self.adapter), .list([.text("org.bluez.Adapter1")])])
    #expect(scene.take() == ["unavailable"])
    scene.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [
        .text("/org/bluez/hci1"),
        Self.dictionary([("org.bluez.Adapter1", Self.dictionary([("Powered", .flag(true))]))]),
      ])
    #expect(scene.take() == ["available", "SetDiscoveryFilter", "StartDiscovery"])
    let bus = "/org/freedesktop/DBus"
    scene.signal(bus, "org.freedesktop.DBus", "NameOwnerChanged", [.text("org.bluez"), .text(":1.5"), .text("")])
    #expect(scene.take() == ["unavailable"])
    scene.signal(bus, "org.freedesktop.DBus", "NameOwnerChanged", [.text("org.bluez"), .text(""), .text(":1.6")])
    scene.answer("GetManagedObjects", Self.objects(isOn: true))
    #expect(scene.take() == ["GetManagedObjects", "available", "SetDiscoveryFilter", "StartDiscovery"])
  }

  @Test("A refused search is tried again after five seconds and logged once; a search that is on already serves")
  func refusal() {
    var scene = scene()
    scene.refuse("StartDiscovery", "org.bluez.Error.Failed")
    #expect(scene.take().last == "logged")
    scene.wake(after: 4.9)
    #expect(scene.take() == [])
    scene.wake(after: 0.2)
    #expect(scene.take() == ["SetDiscoveryFilter", "StartDiscovery"])
    scene.refuse("StartDiscovery", "org.bluez.Error.Failed")
    #expect(scene.take() == [])
    scene.wake(after: 6)
    scene.refuse("StartDiscovery", "org.bluez.Error.InProgress")
    scene.wake(after: 60)
    #expect(scene.take() == ["SetDiscoveryFilter", "StartDiscovery"])
    #expect(scene.scan.deadline == nil)
    // The adapter ends the search on its own.
    scene.change(Self.adapter, "org.bluez.Adapter1", [("Discovering", .flag(false))])
    #expect(scene.take() == ["SetDiscoveryFilter", "StartDiscovery"])
  }

  @Test("No message of the bus causes a crash, and the devices of changing addresses are discarded")
  func disorder() {
    var scene = scene()
    for value: BusValue in [.flag(true), .integer(5), .bytes([1]), .list([]), .dictionary([]), .text("x")] {
      for (interface, member) in [
        ("org.freedesktop.DBus", "NameOwnerChanged"), ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"),
        ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"),
        ("org.freedesktop.DBus.Properties", "PropertiesChanged"),
      ] {
        for count in 0...3 {
          scene.signal("/x", interface, member, Array(repeating: value, count: count))
          scene.signal("/x", interface, member, [.text("org.bluez.Device1")] + Array(repeating: value, count: count))
        }
      }
      scene.answer("GetManagedObjects", [value])
    }
    scene.answer("GetManagedObjects", Self.objects(isOn: true))
    _ = scene.take()
    for number in 0..<2000 {
      scene.change(
        "\(Self.adapter)/dev_\(number)", "org.bluez.Device1",
        [("RSSI", .integer(-61)), ("ManufacturerData", Self.manufacturer)])
    }
    #expect(scene.take().count == 2000)
  }

  @Test("The loss of the bus clears all state, which is requested again")
  func reconnection() {
    var scene = scene()
    _ = scene.take()
    scene.scan.disconnected()
    #expect(scene.take() == ["unavailable"])
    scene.scan.connected()
    scene.answer("GetManagedObjects", Self.objects(isOn: true))
    #expect(scene.take() == ["GetManagedObjects", "available", "SetDiscoveryFilter", "StartDiscovery"])
  }
}
