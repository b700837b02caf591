import Hotplug
import ReceiverRuntime
import ReceiverSimulator

/// Where a command's bytes come from.
enum Source: Equatable {
  /// A device, FIFO or file, or what `LineAddress` reads: an I2C bus, a recording to replay.
  case device(String)
  /// The built-in simulator, as a receiver on a pseudo-terminal, by the name of a scenario or the path of one.
  case simulator(String)

  var isSimulator: Bool { if case .simulator = self { true } else { false } }

  /// The choice and what to tell the user of it.
  struct Choice: Equatable {
    var source: Source
    var note: String?
    /// The rate that the configuration binds.
    var baud: UInt32?
    /// The configuration wants not one byte to be sent.
    var isReadOnly = false
  }

  /// Decides: what the user named comes first, then GNSS_DEVICE, then the configuration file, then the first receiver that is
  /// plugged in, then the simulator. What the file says of a receiver holds for one that nobody named.
  ///
  /// - Parameters:
  ///   - named: the device of the command line.
  ///   - environment: the value of GNSS_DEVICE.
  ///   - configuration: the configuration file.
  ///   - ports: what is plugged in, best first.
  ///   - isThere: whether there is such a device now: of several the first one that is there is taken.
  static func choose(
    named: String?, environment: String?, configuration: ReceiverConfiguration = .init(), ports: [ReceiverPort],
    isThere: (String) -> Bool = { _ in true }
  ) throws -> Choice {
    if let named { return try Choice(source: parse(named), note: nil) }
    if let environment, !environment.isEmpty {
      return try unnamed(ReceiverConfiguration.devices(named: environment), [], isThere)
    }
    var choice = try unnamed(configuration.devices, ports, isThere)
    choice.baud = configuration.baud
    choice.isReadOnly = configuration.isReadOnly
    return choice
  }

  private static func unnamed(
    _ devices: [String], _ ports: [ReceiverPort], _ isThere: (String) -> Bool
  ) throws -> Choice {
    if let device = devices.first(where: isThere) ?? devices.first {
      return try Choice(source: parse(device), note: nil)
    }
    if let port = ports.first(where: { $0.likelihood == .receiver }) {
      return Choice(source: .device(port.node), note: "receiver found: \(port.node) (\(port.name ?? "GNSS receiver"))")
    }
    if let port = ports.first(where: { $0.likelihood == .bridge }) {
      return Choice(
        source: .device(port.node),
        note: "no receiver by its name; listening at \(port.node) (\(port.name ?? "USB serial bridge"))")
    }
    return Choice(
      source: .simulator(LineAddress.usualScenario),
      note: "no receiver found; showing the built-in simulator (name a device with --device or GNSS_DEVICE)")
  }

  /// What a command does at its receiver.
  enum Use {
    /// It has a way to send nothing.
    case listening
    /// It is nothing without sending.
    case sending
  }

  /// The source of a command, and a line on standard error where the user did not choose it.
  static func chosen(named: String?, for use: Use) throws -> Choice {
    let fromEnvironment = sextant.environment("GNSS_DEVICE")
    let isNamed = named != nil || fromEnvironment?.isEmpty == false
    let configuration = isNamed ? .init() : try installedConfiguration()
    let isChosen = isNamed || !configuration.devices.isEmpty
    let choice = try choose(
      named: named, environment: fromEnvironment, configuration: configuration,
      ports: isChosen ? [] : ReceiverPorts.enumerate(list: try installedList()),
      isThere: isThere)
    if choice.isReadOnly, use == .sending {
      throw CommandFailure(
        .configuration, "the configuration file says read-only; name the receiver with --device to send to it")
    }
    if use == .sending, case .device(let name) = choice.source, case .replay = try LineAddress(name) {
      throw CommandFailure(.unavailable, "\(name): a file takes no orders; name a receiver's device")
    }
    if let note = choice.note { printNotice(note) }
    return choice
  }

  /// The configuration files, with a mistake in them as the command's failure.
  static func installedConfiguration() throws -> ReceiverConfiguration {
    do throws(ReceiverConfigurationError) {
      return try ReceiverConfiguration.installed(sextant.environment)
    } catch {
      throw CommandFailure(.configuration, error.description)
    }
  }

  /// Whether a device of the configuration can be opened now, as far as its name tells.
  private static func isThere(_ name: String) -> Bool {
    if case .port(let path)? = try? LineAddress(name) { exists(path) } else { true }
  }

  private static func parse(_ name: String) throws -> Source {
    guard case .simulator(let scenario) = try LineAddress(name) else { return .device(name) }
    _ = try Scenario.read(scenario)
    return .simulator(scenario)
  }
}
