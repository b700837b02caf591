import MonotonicTime

/// Listens for beacons through BlueZ: which adapters there are, whether they are on, and, while beacons are wanted, their
/// search for Bluetooth LE devices. Messages and the time go in, calls and what was heard come out; it has no bus.
///
///     no BlueZ ──name appears──▶ asked ──objects──▶ adapters: off ◀─Powered─▶ on ──wanted──▶ starting ──▶ searching
///        ▲                                                                     ▲                │             │
///        └───────name vanishes─────────────────────────────────────────────────┴── not wanted ─┴─ refused: again in 5 s
public struct BeaconScan: Sendable {
  public enum Output: Hashable, Sendable {
    case call(BusCall)
    /// Whether beacons can be heard; comes once when it is known, and when it changes.
    case available(Bool)
    /// The strength is in dBm; nil: the adapter does not measure it.
    case heard(BeaconAdvertisement, strength: Int?)
    /// A line for people.
    case log(String)
  }

  private enum Question: Hashable {
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
  /// A refused search is tried again.
  static let retry = Milliseconds(5000)
  /// Beacons change their addresses, and each is a device: the oldest are forgotten beyond these.
  static let limit = 512

  private var isConnected = false
  private var isWanted = false
  private var adapters: [String: Adapter] = [:]
  private var devices: [String: Device] = [:]
  private var order: [String] = []
  private var isAvailable: Bool?
  private var isDevicesRule = false
  private var retryAt: Instant?
  private var questions: [Int: Question] = [:]
  private var nextNumber = 0
  private var told: Set<String> = []
  private var outputs: [Output] = []

  public init() {}

  /// When `wake` is due.
  public var deadline: Instant? { isConnected && isWanted ? retryAt : nil }

  /// The next thing to do; nil when there is no more.
  public mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  // MARK: What happens

  /// The bus is there: BlueZ is asked for its adapters.
  public mutating func connected() {
    isConnected = true
    for rule in [
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'",
      "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.ObjectManager'",
      "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
        + "arg0='org.bluez.Adapter1'",
    ] { outputs.append(.call(.match(token(.rule), rule))) }
    ask()
  }

  /// The bus is gone, and all that was known over it.
  public mutating func disconnected() {
    let wanted = isWanted
    outputs = []
    self = BeaconScan(wanted: wanted)
    setAvailable()
    isAvailable = nil
  }

  private init(wanted: Bool) { isWanted = wanted }

  /// Whether somebody listens for beacons.
  public mutating func setWanted(_ wanted: Bool, at now: Instant) {
    guard wanted != isWanted else { return }
    isWanted = wanted
    retryAt = nil
    decide(at: now)
  }

  /// Time has passed.
  public mutating func wake(at now: Instant) {
    guard let due = deadline, now >= due else { return }
    retryAt = nil
    for path in adapters.keys where adapters[path]?.search == .refused { adapters[path]?.search = .off }
    decide(at: now)
  }

  /// A message that came.
  public mutating func receive(_ message: BusMessage, at now: Instant) {
    switch message.kind {
    case .reply(let token): answered(token, message.body, at: now)
    case .refusal(let token, let name, let text): refused(token, name, text, at: now)
    case .signal(let path, let interface, let member): signalled(path, interface, member, message.body, at: now)
    }
  }

  // MARK: Answers

  private mutating func answered(_ token: BusToken, _ body: [BusValue], at now: Instant) {
    switch questions.removeValue(forKey: token.number) {
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
    switch questions.removeValue(forKey: token.number) {
    case .objects:
      adapters = [:]
      log("beacons cannot be heard: BlueZ does not answer (\(text)); install bluez, or start bluetooth.service")
      setAvailable()
    case .start(let path):
      guard adapters[path]?.search == .starting else { return }
      // Another search of this program's is on: it is the one that is wanted.
      if name == "org.bluez.Error.InProgress" {
        adapters[path]?.search = .on
        return
      }
      adapters[path]?.search = .refused
      retryAt = now + Self.retry
      // An adapter that is being switched says so at first.
      if name != "org.bluez.Error.NotReady" {
        log("beacons cannot be heard: \(text) (\(name)); may this user use org.bluez on the system bus?")
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
      forgetDevices()
      if body[2].text == "" { setAvailable() } else { ask() }
    case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
      guard body.count == 2, let path = body[0].text else { return }
      added(path, body[1], isNew: true)
      setAvailable()
      decide(at: now)
    case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
      guard body.count == 2, let path = body[0].text, case .list(let interfaces) = body[1] else { return }
      if interfaces.contains(.text(Self.device)) { forget(path) }
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

  /// An object; what BlueZ remembers of devices is not heard now.
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
    // The search has ended though nobody here ended it, as after the adapter's reset.
    if properties["Discovering"]?.flag == false, adapter.search == .on { adapter.search = .off }
    adapters[path] = adapter
    setAvailable()
    decide(at: now)
  }

  private mutating func changed(_ path: String, _ properties: BusValue) {
    var isHeard = false
    var device = devices[path] ?? Device()
    // 127 stands for an unknown strength.
    if let strength = properties["RSSI"]?.integer, strength > -128, strength < 127 {
      device.strength = Int(strength)
      isHeard = true
    }
    if let data = properties["ManufacturerData"] {
      let entry = data.entries.first { $0.key.integer == Int64(BeaconAdvertisement.company) }
      device.advertisement = entry?.value.bytes.flatMap(BeaconAdvertisement.init)
      isHeard = true
    }
    guard device.advertisement != nil || devices[path] != nil || device.strength != nil else { return }
    keep(device, path)
    guard isHeard, isWanted, let advertisement = device.advertisement else { return }
    outputs.append(.heard(advertisement, strength: device.strength))
  }

  // MARK: Deciding

  private mutating func ask() {
    outputs.append(
      .call(BusCall(token(.objects), Self.bluez, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")))
  }

  private mutating func setAvailable() {
    let isOn = adapters.values.contains { $0.isOn }
    guard isOn != isAvailable else { return }
    isAvailable = isOn
    outputs.append(.available(isOn))
    if !isOn, !adapters.isEmpty { log("beacons cannot be heard: Bluetooth is off (bluetoothctl power on)") }
  }

  private mutating func decide(at now: Instant) {
    guard isConnected else { return }
    if isWanted != isDevicesRule {
      isDevicesRule = isWanted
      outputs.append(.call(.match(token(.rule), Self.ruleForDevices, isWanted: isWanted)))
      if !isWanted { forgetDevices() }
    }
    for path in adapters.keys.sorted() {
      guard var adapter = adapters[path], adapter.isOn else { continue }
      switch (adapter.search, isWanted) {
      case (.off, true):
        adapter.search = .starting
        // Every advertisement is told, not the first of each device alone.
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
      order.append(path)
      if order.count > Self.limit { devices[order.removeFirst()] = nil }
    }
  }

  private mutating func forget(_ path: String) {
    if devices.removeValue(forKey: path) != nil { order.removeAll { $0 == path } }
  }

  private mutating func forgetDevices() {
    devices = [:]
    order = []
  }

  private mutating func token(_ question: Question) -> BusToken {
    nextNumber += 1
    questions[nextNumber] = question
    return BusToken(.beacons, nextNumber)
  }

  /// Each line once.
  private mutating func log(_ text: String) {
    if told.insert(text).inserted { outputs.append(.log(text)) }
  }
}
