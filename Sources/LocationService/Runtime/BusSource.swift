import FileSystem
import MonotonicTime
import Positioning
import SerialPort
import SystemBus

/// The system's bus, for as long as somebody needs it: suspends from logind, beacons from BlueZ. On the thread of the poller.
final class BusSource {
  enum Event {
    case log(String)
    /// nil: nobody knows any more.
    case canHearBeacons(Bool?)
    case heard(BeaconAdvertisement, strength: Int?)
    case suspending
    case resumed(suspendedSeconds: Double)
  }

  private static let token = Poller.Token(rawValue: 6)
  /// A bus that is wanted and not there is looked for so often.
  private static let retry = Milliseconds(10_000)
  private static let socket = "/run/dbus/system_bus_socket"
  /// logind makes it, and elogind.
  private static let seats = "/run/systemd/seats"

  private final class Connection {
    var bus: SystemBus
    let descriptor: Int32
    var isWriting = false
    init(_ bus: consuming SystemBus, _ descriptor: Int32) {
      self.bus = bus
      self.descriptor = descriptor
    }
  }

  private var demand = SensorDemand()
  private var connection: Connection?
  private var suspend = SuspendWatch()
  private var beacons = BeaconScan()
  private var clock = SuspendClock()
  private var lock: BusFile?
  private var nextTry: Instant?
  private var isComplained = false
  private var events: [Event] = []

  /// Whether there is likely a bus here.
  static var mayHaveBus: Bool { System.variable("DBUS_SYSTEM_BUS_ADDRESS") != nil || FileLookup.exists(socket) }

  private static var mayHaveLogind: Bool {
    mayHaveBus && (System.variable("DBUS_SYSTEM_BUS_ADDRESS") != nil || FileLookup.exists(seats))
  }

  func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  var deadline: Instant? {
    var next = Instant.earlier(nextTry, suspend.deadline)
    next = .earlier(next, beacons.deadline)
    return .earlier(next, connection?.bus.deadlineNanoseconds.map { Instant(nanoseconds: $0) })
  }

  /// What is wanted from now on.
  func set(_ demand: SensorDemand, _ poller: inout Poller, at now: Instant) {
    self.demand = demand
    beacons.setWanted(demand.beacons, at: now)
    if connection == nil, isWanted { connect(&poller, at: now) }
    settle(&poller, at: now)
    if !isWanted { close(&poller) }
  }

  /// The receiver is ready for the suspend.
  func isPrepared(_ poller: inout Poller, at now: Instant) {
    suspend.isPrepared()
    settle(&poller, at: now)
  }

  /// A round: whatever came or is due is done.
  func wake(_ poller: inout Poller, at now: Instant) {
    if let seconds = clock.receive(differenceNanoseconds: SuspendClock.differenceNanoseconds()) {
      events.append(.resumed(suspendedSeconds: seconds))
    }
    if let due = nextTry, now >= due { connect(&poller, at: now) }
    suspend.wake(at: now)
    beacons.wake(at: now)
    settle(&poller, at: now)
  }

  // MARK: The connection

  private var isWanted: Bool { demand.beacons || demand.suspends && Self.mayHaveLogind }

  private func connect(_ poller: inout Poller, at now: Instant) {
    nextTry = nil
    guard isWanted, connection == nil else { return }
    do {
      let bus = try SystemBus()
      guard let descriptor = bus.descriptor else { return retry(nil, at: now) }
      try poller.add(descriptor, token: Self.token)
      connection = Connection(bus, descriptor)
      if demand.suspends, Self.mayHaveLogind { suspend.connected() }
      beacons.connected()
      isComplained = false
    } catch {
      retry("\(error)", at: now)
    }
  }

  /// A board without a bus is none to complain of, unless beacons are wanted.
  private func retry(_ complaint: String?, at now: Instant) {
    guard demand.beacons else { return }
    if let complaint, !isComplained {
      isComplained = true
      events.append(.log("beacons cannot be heard: \(complaint)"))
    }
    events.append(.canHearBeacons(false))
    nextTry = now + Self.retry
  }

  private func close(_ poller: inout Poller) {
    nextTry = nil
    guard let connection else { return }
    poller.remove(connection.descriptor)
    self.connection = nil
    suspend.disconnected()
    beacons.disconnected()
    while suspend.nextOutput() != nil {}
    while beacons.nextOutput() != nil {}
    lock = nil
    events.append(.canHearBeacons(nil))
  }

  // MARK: Messages

  /// Sends what is decided and takes what came, until there is neither.
  private func settle(_ poller: inout Poller, at now: Instant) {
    guard let connection else { return drop() }
    do {
      var goesOn = true
      while goesOn {
        try sendAll(connection)
        goesOn = false
        while let step = try connection.bus.process() {
          guard let message = step else { continue }
          receive(message, at: now)
          goesOn = true
        }
      }
      let isWriting = connection.bus.wantsToWrite
      if isWriting != connection.isWriting {
        connection.isWriting = isWriting
        try poller.change(
          connection.descriptor, token: Self.token, interest: isWriting ? [.readable, .writable] : .readable)
      }
    } catch {
      close(&poller)
      retry("\(error)", at: now)
    }
  }

  /// What is decided while there is no bus is of no use.
  private func drop() {
    while suspend.nextOutput() != nil {}
    while beacons.nextOutput() != nil {}
  }

  private func receive(_ message: BusMessage, at now: Instant) {
    switch message.kind {
    case .reply(let token), .refusal(let token, _, _):
      switch token.owner {
      case .suspend: suspend.receive(message, at: now)
      case .beacons: beacons.receive(message, at: now)
      }
    case .signal:
      suspend.receive(message, at: now)
      beacons.receive(message, at: now)
    }
  }

  private func sendAll(_ connection: Connection) throws(SystemBus.Failure) {
    while let output = suspend.nextOutput() {
      switch output {
      case .call(let call): try connection.bus.send(call)
      case .hold(let file): lock = file
      case .letGo: lock = nil
      case .suspending: events.append(.suspending)
      // For how long, if at all, the clocks tell.
      case .resumed: events.append(.resumed(suspendedSeconds: 0))
      }
    }
    while let output = beacons.nextOutput() {
      switch output {
      case .call(let call): try connection.bus.send(call)
      case .available(let can): events.append(.canHearBeacons(can))
      case .heard(let beacon, let strength): events.append(.heard(beacon, strength: strength))
      case .log(let text): if demand.beacons { events.append(.log(text)) }
      }
    }
  }
}
