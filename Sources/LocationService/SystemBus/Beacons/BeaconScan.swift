// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// Receives beacons through BlueZ: its adapters, their power state, and, while beacons are needed, their search for
/// Bluetooth LE devices. The inputs are messages and the time, the outputs are calls and advertisements; it does not
/// use a bus.
///
///     no BlueZ ──name appears──▶ asked ──objects──▶ adapters: off ◀─Powered─▶ on ──wanted──▶ starting ──▶ searching
///        ▲                                                                     ▲                │             │
///        └───────name vanishes─────────────────────────────────────────────────┴── not wanted ─┴─ refused: again in 5 s
package struct BeaconScan: Sendable {
  package enum Output: Hashable, Sendable {
    case call(BusCall)
    /// Whether beacons can be received; reported once it is known, and after each change.
    case available(Bool)
    /// A beacon, with its strength in dBm; nil if the adapter does not measure it.
    case received(BeaconAdvertisement, strength: Int?)
    /// A line for the log.
    case log(String)
  }

  private enum Request: Hashable {
    case rule, objects
    case filter(String), start(String), stop(String)
  }

  private struct Adapter {
    var isOn: Bool
    var search = Search.off
  }

  private enum Search { case off, starting, on, refused }

  private struct Device {
    var advertisement: BeaconAdvertisement?
    var strength: Int?
  }

  private static let bluez = "org.bluez"
  private static let adapter = "org.bluez.Adapter1"
  private static let device = "org.bluez.Device1"
  private static let ruleForDevices =
    "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
    + "arg0='org.bluez.Device1'"
  /// The retry interval of a refused search.
  static let retry = Milliseconds(5000)
  /// The largest number of devices. Beacons change their addresses, each of which is a device, so the oldest are discarded.
  static let limit = 512

  private var isConnected = false
  private var isWanted = false
  private var adapters: [String: Adapter] = [:]
  private var devices: [String: Device] = [:]
  private var oldestFirst: [String] = []
  private var isAvailable: Bool?
  private var isDevicesRule = false
  private var retryAt: Instant?
  private var requests: [Int: Request] = [:]
  private var nextNumber = 0
  private var logged: Set<String> = []
  private var outputs: [Output] = []

  package init() {}

  /// The time of the next `wake`.
  package var deadline: Instant? { isConnected && isWanted ? retryAt : nil }

  /// Returns the next output; nil if there is none.
  package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  // MARK: Inputs

  /// Handles the connection of the bus: requests BlueZ's adapters.
  package mutating func connected() {
    isConnected = true
    for rule in [
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'",
      "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.ObjectManager'",
      "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
        + "arg0='org.bluez.Adapter1'",
    ] { outputs.append(.call(.match(token(.rule), rule))) }
    ask()
  }

  /// Handles the loss of the bus: clears everything received through it.
  package mutating func disconnected() {
    let wanted = isWanted
    outputs = []
    self = BeaconScan(wanted: wanted)
    setAvailable()
    isAvailable = nil
  }

  private init(wanted: Bool) { isWanted = wanted }

  /// Sets whether beacons are needed.
  package mutating func setWanted(_ wanted: Bool, at now: Instant) {
    guard wanted != isWanted else { return }
    isWanted = wanted
    retryAt = nil
    decide(at: now)
  }

  /// Performs the actions that are due.
  package mutating func wake(at now: Instant) {
    guard let due = deadline, now >= due else { return }
    retryAt = nil
    for path in adapters.keys where adapters[path]?.search == .refused { adapters[path]?.search = .off }
    decide(at: now)
  }

  /// Handles a message.
  package mutating func receive(_ message: BusMessage, at now: Instant) {
    switch message.kind {
    case .reply(let token): answered(token, message.body, at: now)
    case .refusal(let token, let name, let text): refused(token, name, text, at: now)
    case .signal(let path, let interface, let member): signalled(path, interface, member, message.body, at: now)
    }
  }

  // MARK: Answers

  private mutating func answered(_ token: BusToken, _ body: [BusValue], at now: Instant) {
    switch requests.removeValue(forKey: token.number) {
    case .objects:
      for object in body.first?.entries ?? [] {
        if let path = object.key.text { added(path, object.value, isNew: false) }
      }
      setAvailable()
      decide(at: now)
    case .start(let path):
      if adapters[path]?.search == .starting { adapters[path]?.search = .on }
      decide(at: now)
    case .rule, .filter, .stop, nil: break
    }
  }

  private mutating func refused(_ token: BusToken, _ name: String, _ text: String, at now: Instant) {
    switch requests.removeValue(forKey: token.number) {
    case .objects:
      adapters = [:]
      log("beacons cannot be received: BlueZ does not answer (\(text)); install bluez, or start bluetooth.service")
      setAvailable()
    case .start(let path):
      guard adapters[path]?.search == .starting else { return }
      // Another search of this program is already running, which is sufficient.
      if name == "org.bluez.Error.InProgress" {
        adapters[path]?.search = .on
        return
      }
      adapters[path]?.search = .refused
      retryAt = now + Self.retry
      // An adapter that is being switched on first reports this.
      if name != "org.bluez.Error.NotReady" {
        log("beacons cannot be received: \(text) (\(name)); may this user use org.bluez on the system bus?")
      }
    case .rule, .filter, .stop, nil: break
    }
  }

  // MARK: Signals

  private mutating func signalled(
    _ path: String, _ interface: String, _ member: String, _ body: [BusValue], at now: Instant
  ) {
    switch (interface, member) {
    case ("org.freedesktop.DBus", "NameOwnerChanged"):
      guard body.count == 3, body[0].text == Self.bluez else { return }
      adapters = [:]
      clearDevices()
      if body[2].text == "" { setAvailable() } else { ask() }
    case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
      guard body.count == 2, let path = body[0].text else { return }
      added(path, body[1], isNew: true)
      setAvailable()
      decide(at: now)
    case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
      guard body.count == 2, let path = body[0].text, case .list(let interfaces) = body[1] else { return }
      if interfaces.contains(.text(Self.device)) { remove(path) }
      if interfaces.contains(.text(Self.adapter)) {
        adapters[path] = nil
        setAvailable()
      }
    case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
      guard body.count >= 2 else { return }
      if body[0].text == Self.device { changed(path, body[1]) }
      if body[0].text == Self.adapter { changed(adapter: path, body[1], at: now) }
    default: break
    }
  }

  /// Handles an object. Devices stored by BlueZ are not being received now.
  private mutating func added(_ path: String, _ interfaces: BusValue, isNew: Bool) {
    if let properties = interfaces[Self.adapter] {
      adapters[path] = Adapter(isOn: properties["Powered"]?.flag ?? false)
    }
    if isNew, let properties = interfaces[Self.device] { changed(path, properties) }
  }

  private mutating func changed(adapter path: String, _ properties: BusValue, at now: Instant) {
    guard var adapter = adapters[path] else { return }
    if let isOn = properties["Powered"]?.flag {
      adapter.isOn = isOn
      if !isOn { adapter.search = .off }
    }
    // The search has ended without a request, for example after a reset of the adapter.
    if properties["Discovering"]?.flag == false, adapter.search == .on { adapter.search = .off }
    adapters[path] = adapter
    setAvailable()
    decide(at: now)
  }

  private mutating func changed(_ path: String, _ properties: BusValue) {
    var isReceived = false
    var device = devices[path] ?? Device()
    // 127 means an unknown strength.
    if let strength = properties["RSSI"]?.integer, strength > -128, strength < 127 {
      device.strength = Int(strength)
      isReceived = true
    }
    if let data = properties["ManufacturerData"] {
      let entry = data.entries.first { $0.key.integer == Int64(BeaconAdvertisement.company) }
      device.advertisement = entry?.value.bytes.flatMap(BeaconAdvertisement.init)
      isReceived = true
    }
    guard device.advertisement != nil || devices[path] != nil || device.strength != nil else { return }
    keep(device, path)
    guard isReceived, isWanted, let advertisement = device.advertisement else { return }
    outputs.append(.received(advertisement, strength: device.strength))
  }

  // MARK: Decisions

  private mutating func ask() {
    outputs.append(
      .call(BusCall(token(.objects), Self.bluez, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")))
  }

  private mutating func setAvailable() {
    let isOn = adapters.values.contains { $0.isOn }
    guard isOn != isAvailable else { return }
    isAvailable = isOn
    outputs.append(.available(isOn))
    if !isOn, !adapters.isEmpty { log("beacons cannot be received: Bluetooth is off (bluetoothctl power on)") }
  }

  private mutating func decide(at now: Instant) {
    guard isConnected else { return }
    if isWanted != isDevicesRule {
      isDevicesRule = isWanted
      outputs.append(.call(.match(token(.rule), Self.ruleForDevices, isWanted: isWanted)))
      if !isWanted { clearDevices() }
    }
    for path in adapters.keys.sorted() {
      guard var adapter = adapters[path], adapter.isOn else { continue }
      switch (adapter.search, isWanted) {
      case (.off, true):
        adapter.search = .starting
        // Every advertisement is reported, not only the first of each device.
        let settings = [
          BusCall.Setting("Transport", .text("le")), BusCall.Setting("DuplicateData", .flag(true)),
        ]
        outputs.append(
          .call(
            BusCall(token(.filter(path)), Self.bluez, path, Self.adapter, "SetDiscoveryFilter", [.settings(settings)])))
        outputs.append(.call(BusCall(token(.start(path)), Self.bluez, path, Self.adapter, "StartDiscovery")))
      case (.on, false), (.starting, false):
        adapter.search = .off
        outputs.append(.call(BusCall(token(.stop(path)), Self.bluez, path, Self.adapter, "StopDiscovery")))
      case (.refused, false): adapter.search = .off
      default: break
      }
      adapters[path] = adapter
    }
  }

  private mutating func keep(_ device: Device, _ path: String) {
    if devices.updateValue(device, forKey: path) == nil {
      oldestFirst.append(path)
      if oldestFirst.count > Self.limit { devices[oldestFirst.removeFirst()] = nil }
    }
  }

  private mutating func remove(_ path: String) {
    if devices.removeValue(forKey: path) != nil { oldestFirst.removeAll { $0 == path } }
  }

  private mutating func clearDevices() {
    devices = [:]
    oldestFirst = []
  }

  private mutating func token(_ request: Request) -> BusToken {
    nextNumber += 1
    requests[nextNumber] = request
    return BusToken(.beacons, nextNumber)
  }

  /// Logs each line once.
  private mutating func log(_ text: String) {
    if logged.insert(text).inserted { outputs.append(.log(text)) }
  }
}

/// A beacon's advertisement: the iBeacon form of the manufacturer's data in a Bluetooth LE advertisement.
package struct BeaconAdvertisement: Hashable, Sendable {
  /// The identifier of the company that the data belongs to.
  package static let company = 0x004C

  /// The family's 128 bits, big-endian.
  package var uuid: (high: UInt64, low: UInt64) { (high, low) }
  private let high, low: UInt64
  package let major: UInt16
  package let minor: UInt16
  /// The strength at one metre, dBm.
  package let strengthAtOneMetre: Int8

  /// Reads the data after the company's number: type 2, length 21, then UUID, major, minor and strength, big-endian.
  ///
  /// - Returns: nil for other data; the company's devices advertise other types as well.
  package init?(_ data: [UInt8]) {
    guard data.count == 23, data[0] == 0x02, data[1] == 0x15 else { return nil }
    func number(_ range: Range<Int>) -> UInt64 { data[range].reduce(0) { $0 << 8 | UInt64($1) } }
    high = number(2..<10)
    low = number(10..<18)
    major = UInt16(number(18..<20))
    minor = UInt16(number(20..<22))
    strengthAtOneMetre = Int8(bitPattern: data[22])
  }
}
