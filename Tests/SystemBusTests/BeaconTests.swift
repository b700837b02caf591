import MonotonicTime
import Testing

@testable import SystemBus

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

  @Test("Other types and other lengths are no beacons, and no bytes do harm")
  func others() {
    for length in 0..<40 where length != 23 {
      #expect(BeaconAdvertisement(Array((Self.data + Self.data).prefix(length))) == nil)
    }
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var data = Self.data
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        data[Int.random(in: 0..<23, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      // What is read is what was written.
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

  // MARK: A BlueZ of words

  /// A scan and the side of BlueZ that a test plays.
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
        case .heard(let beacon, let strength):
          words.append("heard \(beacon.minor) \(strength.map { "\($0)" } ?? "at no strength")")
        case .log: words.append("said")
        }
      }
    }

    /// What happened since the last time.
    mutating func heard() -> [String] {
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

  @Test("It searches while beacons are wanted, for Bluetooth LE alone, and ends the search")
  func search() throws {
    var scene = scene()
    #expect(scene.heard() == ["GetManagedObjects", "available", "SetDiscoveryFilter", "StartDiscovery"])
    let filter = try #require(scene.calls.first { $0.member == "SetDiscoveryFilter" })
    #expect(filter.path == Self.adapter)
    #expect(
      filter.arguments == [
        .settings([BusCall.Setting("Transport", .text("le")), BusCall.Setting("DuplicateData", .flag(true))])
      ])
    scene.answer("StartDiscovery")
    #expect(scene.heard() == [])
    scene.scan.setWanted(false, at: scene.now)
    #expect(scene.heard() == ["StopDiscovery"])
    #expect(scene.calls.count { $0.member == "AddMatch" } == scene.calls.count { $0.member == "RemoveMatch" } + 3)
  }

  @Test("BE-8 an adapter that measures no strength hears beacons all the same")
  func strengthless() {
    var scene = scene()
    scene.answer("StartDiscovery")
    _ = scene.heard()
    scene.change(Self.device, "org.bluez.Device1", [("ManufacturerData", Self.manufacturer)])
    #expect(scene.heard() == ["heard 772 at no strength"])
  }

  @Test("BE-3 an advertisement is heard with its strength; what BlueZ only remembers is not")
  func heard() {
    var scene = scene()
    scene.answer("StartDiscovery")
    _ = scene.heard()
    scene.change(Self.device, "org.bluez.Device1", [("RSSI", .integer(-61)), ("ManufacturerData", Self.manufacturer)])
    scene.change(Self.device, "org.bluez.Device1", [("RSSI", .integer(-62))])
    scene.change(Self.device, "org.bluez.Device1", [("ManufacturerData", Self.manufacturer)])
    scene.change(Self.device, "org.bluez.Device1", [("RSSI", .integer(127))])
    scene.change(Self.device, "org.bluez.Device1", [("Connected", .flag(true))])
    #expect(scene.heard() == ["heard 772 -61", "heard 772 -62", "heard 772 -62"])
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
    #expect(scene.heard() == [])
  }

  @Test("BE-4 without an adapter, with one that is off, or without BlueZ they cannot be heard")
  func unavailable() {
    var off = scene(isOn: false)
    #expect(off.heard() == ["GetManagedObjects", "unavailable", "said"])
    off.change(Self.adapter, "org.bluez.Adapter1", [("Powered", .flag(true))])
    #expect(off.heard() == ["available", "SetDiscoveryFilter", "StartDiscovery"])
    off.change(Self.adapter, "org.bluez.Adapter1", [("Powered", .flag(false))])
    #expect(off.heard() == ["unavailable"])

    var none = Scene()
    none.scan.connected()
    none.refuse("GetManagedObjects", "org.freedesktop.DBus.Error.ServiceUnknown")
    #expect(none.heard() == ["GetManagedObjects", "said", "unavailable"])
  }

  @Test("An adapter that is pulled out and put in again is searched with; so is a BlueZ that starts anew")
  func hotPlug() {
    var scene = scene()
    scene.answer("StartDiscovery")
    _ = scene.heard()
    scene.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.text(Self.adapter), .list([.text("org.bluez.Adapter1")])])
    #expect(scene.heard() == ["unavailable"])
    scene.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [
        .text("/org/bluez/hci1"),
        Self.dictionary([("org.bluez.Adapter1", Self.dictionary([("Powered", .flag(true))]))]),
      ])
    #expect(scene.heard() == ["available", "SetDiscoveryFilter", "StartDiscovery"])
    let bus = "/org/freedesktop/DBus"
    scene.signal(bus, "org.freedesktop.DBus", "NameOwnerChanged", [.text("org.bluez"), .text(":1.5"), .text("")])
    #expect(scene.heard() == ["unavailable"])
    scene.signal(bus, "org.freedesktop.DBus", "NameOwnerChanged", [.text("org.bluez"), .text(""), .text(":1.6")])
    scene.answer("GetManagedObjects", Self.objects(isOn: true))
    #expect(scene.heard() == ["GetManagedObjects", "available", "SetDiscoveryFilter", "StartDiscovery"])
  }

  @Test("A refused search is tried again after five seconds, said once; one that is on is on")
  func refusal() {
    var scene = scene()
    scene.refuse("StartDiscovery", "org.bluez.Error.Failed")
    #expect(scene.heard().last == "said")
    scene.wake(after: 4.9)
    #expect(scene.heard() == [])
    scene.wake(after: 0.2)
    #expect(scene.heard() == ["SetDiscoveryFilter", "StartDiscovery"])
    scene.refuse("StartDiscovery", "org.bluez.Error.Failed")
    #expect(scene.heard() == [])
    scene.wake(after: 6)
    scene.refuse("StartDiscovery", "org.bluez.Error.InProgress")
    scene.wake(after: 60)
    #expect(scene.heard() == ["SetDiscoveryFilter", "StartDiscovery"])
    #expect(scene.scan.deadline == nil)
    // The adapter's own end of the search.
    scene.change(Self.adapter, "org.bluez.Adapter1", [("Discovering", .flag(false))])
    #expect(scene.heard() == ["SetDiscoveryFilter", "StartDiscovery"])
  }

  @Test("Whatever comes over the bus does no harm, and beacons whose addresses change are forgotten")
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
    _ = scene.heard()
    for number in 0..<2000 {
      scene.change(
        "\(Self.adapter)/dev_\(number)", "org.bluez.Device1",
        [("RSSI", .integer(-61)), ("ManufacturerData", Self.manufacturer)])
    }
    #expect(scene.heard().count == 2000)
  }

  @Test("When the bus goes what was known goes with it, and is asked anew")
  func reconnection() {
    var scene = scene()
    _ = scene.heard()
    scene.scan.disconnected()
    #expect(scene.heard() == ["unavailable"])
    scene.scan.connected()
    scene.answer("GetManagedObjects", Self.objects(isOn: true))
    #expect(scene.heard() == ["GetManagedObjects", "available", "SetDiscoveryFilter", "StartDiscovery"])
  }
}
