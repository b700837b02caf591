// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverSimulator
import SerialPort

/// Where a command's bytes come from.
enum Source: Equatable {
  /// A device, FIFO or file, or what `LineAddress` reads: an I2C bus, a recording to replay.
  case device(String)
  /// The built-in simulator, as a receiver on a pseudo-terminal, by the name of a scenario or the path of one.
  case simulator(String)

  /// Whether its positions come from the simulator or a recording.
  var isSimulated: Bool {
    switch self {
    case .simulator: true
    case .device(let name):
      switch try? LineAddress(name) {
      case .replay?, .simulator?: true
      case .port?, .i2c?, .network?, nil: false
      }
    }
  }

  /// The node of standard input, which `--device -` names.
  static let standardInput = "/dev/stdin"
  var isStandardInput: Bool { self == .device(Self.standardInput) }

  /// The name of the source in messages.
  var name: String {
    if isStandardInput { return "standard input" }
    return if case .device(let path) = self { path } else { "built-in simulator" }
  }

  /// The checks to suggest when no byte or no reply arrives.
  var adviceOnSilence: String { Self.adviceOnSilence(of: name) }

  static func adviceOnSilence(of name: String) -> String {
    (try? LineAddress(name))?.networkSource?.adviceOnSilence
      ?? "check power, wiring (RX to TX) and the name of the device"
  }

  /// The choice and the notice to the user.
  struct Choice: Equatable {
    var source: Source
    var note: String?
    /// The rate that the configuration binds.
    var baud: UInt32?
    /// The configuration forbids sending any byte.
    var isReadOnly = false
    /// The receiver is one of the location service.
    var service: ServiceReceiver?
  }

  /// Decides: what the user named comes first, then GNSS_DEVICE, then the configuration file, then the first receiver that is
  /// plugged in, then the simulator. The file's settings of a receiver apply only if the command line and GNSS_DEVICE
  /// name none.
  ///
  /// - Parameters:
  ///   - named: the device of the command line.
  ///   - environment: the value of GNSS_DEVICE.
  ///   - configuration: the configuration file.
  ///   - ports: the ports of the machine, best first.
  ///   - isDemo: whether the simulator is used if there is no receiver.
  ///   - isThere: whether a device is present now; the first one that is present is used.
  /// - Returns: nil without a receiver.
  static func choose(
    named: String?, environment: String?, configuration: SextantConfiguration = .init(), ports: [ReceiverPort],
    isDemo: Bool = false, isThere: (String) -> Bool = { _ in true }
  ) throws -> Choice? {
    if let named { return try Choice(source: parse(named), note: nil) }
    if let environment, !environment.isEmpty {
      return try device(of: SextantConfiguration.devices(named: environment), isThere)
    }
    var choice = try device(of: configuration.devices, isThere) ?? found(in: ports)
    if choice == nil, isDemo {
      choice = Choice(
        source: .simulator(LineAddress.usualScenario),
        note: "no receiver found; --demo uses the built-in simulator (its positions are not real)")
    }
    choice?.baud = configuration.baud
    choice?.isReadOnly = configuration.isReadOnly
    return choice
  }

  private static func device(of devices: [String], _ isThere: (String) -> Bool) throws -> Choice? {
    guard let device = devices.first(where: isThere) ?? devices.first else { return nil }
    return try Choice(source: parse(device), note: nil)
  }

  private static func found(in ports: [ReceiverPort]) -> Choice? {
    if let port = ports.first(where: { $0.likelihood == .receiver }) {
      return Choice(source: .device(port.node), note: "receiver found: \(port.node) (\(port.name ?? "GNSS receiver"))")
    }
    if let port = ports.first(where: { $0.likelihood == .bridge }) {
      return Choice(
        source: .device(port.node),
        note: "no receiver by its name; listening at \(port.node) (\(port.name ?? "USB serial bridge"))")
    }
    return nil
  }

  /// The use that a command makes of its receiver.
  enum Use {
    /// Can run without sending.
    case listening
    /// Must send.
    case sending
  }

  /// Returns the source of a command, and prints a line on standard error if the user did not name it.
  ///
  /// - Parameters:
  ///   - isDemo: whether the simulator is used if there is no receiver.
  ///   - wait: called without a receiver, with a function that chooses among ports. Returns the receiver that came.
  static func chosen(
    named: String?, isDemo: Bool, for use: Use,
    orWait wait: (_ choose: ([ReceiverPort]) throws -> Choice?) throws -> Choice = { _ in throw noReceiver }
  ) throws -> Choice {
    let fromEnvironment = sextant.environment("GNSS_DEVICE")
    let isNamed = named != nil || fromEnvironment?.isEmpty == false
    let configuration = isNamed ? .init() : try installedConfiguration()
    func choose(_ ports: [ReceiverPort], isDemo: Bool) throws -> Choice? {
      try Self.choose(
        named: named, environment: fromEnvironment, configuration: configuration, ports: ports, isDemo: isDemo,
        isThere: isThere)
    }
    let isChosen = isNamed || !configuration.devices.isEmpty
    let ports = isChosen ? [] : ReceiverPorts.enumerate(list: try installedList())
    var choice = try choose(ports, isDemo: isDemo) ?? wait { try choose($0, isDemo: false) }
    if use == .sending { try refuseReadOnly() }
    if try isReadOnly { choice.isReadOnly = true }
    if choice.isReadOnly, use == .sending {
      throw CommandFailure(
        .configuration, "the configuration file says read-only; name the receiver with --device to send to it")
    }
    if choice.source.isStandardInput {
      guard use == .listening else {
        throw CommandFailure(
          .usage, "standard input accepts no commands; name the device of a receiver with --device")
      }
      if isInputATerminal() {
        throw CommandFailure(
          .usage, "standard input is a terminal; pipe the bytes of a receiver into it, or name the device")
      }
    }
    if case .device(let name) = choice.source {
      let address = try LineAddress(name)
      if use == .sending, let reason = address.refusalToSend {
        throw CommandFailure(.unavailable, "\(name): \(reason)")
      }
      if let notice = address.networkSource?.notice, !choice.isReadOnly {
        choice.isReadOnly = true
        choice.note = "\(name): \(notice)"
      }
    }
    if case .device(let name) = choice.source, ReceiverConnection.isAnnounced(name), ModemPort(at: name) != nil {
      if use == .sending { throw CommandFailure(.unavailable, "\(name): the NMEA port of a modem accepts no commands") }
      choice.isReadOnly = true
      choice.note =
        choice.note ?? "\(name): the receiver of a modem; it sends only while a program or the location service uses it"
    }
    if case .device(let name) = choice.source, case .replay(let file, _) = try LineAddress(name) {
      try checkRecording(file)
    }
    if let note = choice.note { printNotice(note) }
    return choice
  }

  /// Whether the environment forbids to send.
  ///
  /// - Throws: a failure for a value that is not understood: it was meant to forbid something.
  private static var isReadOnly: Bool {
    get throws {
      switch sextant.environment("SEXTANT_READ_ONLY") {
      case "1": return true
      case nil, "", "0": return false
      case let value?:
        throw CommandFailure(.usage, "SEXTANT_READ_ONLY is \(value): give 1 or 0, or unset the variable")
      }
    }
  }

  /// Refuses a command that sends, if the environment forbids it.
  static func refuseReadOnly() throws {
    guard try isReadOnly else { return }
    throw CommandFailure(.usage, "SEXTANT_READ_ONLY is set, and the command sends to the receiver; unset the variable")
  }

  /// Refuses a file to replay that is not a recording of a receiver.
  private static func checkRecording(_ path: String) throws {
    do {
      if let reason = try RecordingFault.reason(ofFile: path) {
        throw CommandFailure(.badData, "\(path): \(reason)")
      }
    } catch let error as FileError {
      throw CommandFailure(reading: error)
    } catch let error as RecordingError {
      throw CommandFailure(.badData, "\(path): \(error)")
    }
  }

  /// The failure of a command that does not wait for a receiver.
  static var noReceiver: CommandFailure {
    CommandFailure(
      .unavailable,
      "no receiver found; plug one in, name it with --device or GNSS_DEVICE, or try --demo or --device sim:walk")
  }

  /// The configuration files, with a mistake in them as the command's failure.
  static func installedConfiguration() throws -> SextantConfiguration {
    do throws(SextantConfigurationError) {
      return try SextantConfiguration.installed(sextant.environment)
    } catch {
      throw CommandFailure(.configuration, error.description)
    }
  }

  /// Whether a device of the configuration can be opened now, as far as its name shows.
  private static func isThere(_ name: String) -> Bool {
    if case .port(let path)? = try? LineAddress(name) { exists(path) } else { true }
  }

  private static func parse(_ name: String) throws -> Source {
    if name == "-" { return .device(standardInput) }
    guard case .simulator(let scenario) = try LineAddress(name) else { return .device(name) }
    _ = try Scenario.read(scenario)
    return .simulator(scenario)
  }
}

/// The present ports by device events, for a command that waits for a receiver.
struct PresentPorts {
  private var ports: [String: ReceiverPort] = [:]

  /// Takes the next events. Returns the present ports, best first, if one was added or has changed.
  mutating func receive(_ events: [DeviceEvent]) -> [ReceiverPort]? {
    for event in events { ports[event.port.node] = event.change == .removed ? nil : event.port }
    return events.contains { $0.change != .removed } ? ReceiverPorts.sortedByLikelihood(Array(ports.values)) : nil
  }
}

/// The wait of a command for the first receiver that is plugged in.
struct ReceiverWait {
  var choice: Source.Choice
  /// The rest of the time limit; nil for no limit.
  var secondsLeft: Double?

  /// Waits until a receiver is plugged in.
  ///
  /// - Parameters:
  ///   - seconds: the time limit; nil for no limit.
  ///   - choose: chooses among the ports of the machine; nil without a receiver.
  /// - Throws: ``CommandFailure`` with exit code 69 after the time limit or a signal.
  static func run(seconds: Double?, _ choose: ([ReceiverPort]) throws -> Source.Choice?) throws -> ReceiverWait {
    printNotice("no receiver found; waiting for one (plug it in, name it with --device or GNSS_DEVICE, or try --demo)")
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    let list = try installedList()
    var monitor = DeviceMonitor(list: list)
    if let descriptor = monitor.fileDescriptor { try poller.add(descriptor, token: Poller.Token(rawValue: 1)) }
    let end = seconds.map { SystemClock.monotonic + Milliseconds(seconds: $0) }
    var ports = PresentPorts()
    while true {
      let now = SystemClock.monotonic
      if let present = ports.receive(monitor.drain(at: now)), let choice = try choose(present) {
        var wait = ReceiverWait(choice: choice, secondsLeft: nil)
        if let end { wait.secondsLeft = max(0.001, end.seconds(since: now)) }
        return wait
      }
      if let end, now >= end { throw failure("no receiver was plugged in") }
      let events = try poller.wait(deadline: Instant.earlier(monitor.deadline, end)?.nanoseconds)
      for event in events {
        if case .signal = event { throw failure("interrupted before one was plugged in") }
      }
    }
  }

  private static func failure(_ reason: String) -> CommandFailure {
    CommandFailure(.unavailable, "no receiver found: \(reason)")
  }
}
