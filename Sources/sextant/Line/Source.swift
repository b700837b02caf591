import Hotplug
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
  }

  /// Decides: what the user named comes first, then GNSS_DEVICE, then the first receiver that is plugged in, then the
  /// simulator.
  ///
  /// - Parameters:
  ///   - named: the device of the command line.
  ///   - environment: the value of GNSS_DEVICE.
  ///   - ports: what is plugged in, best first.
  static func choose(named: String?, environment: String?, ports: [ReceiverPort]) throws -> Choice {
    if let named { return try Choice(source: parse(named), note: nil) }
    if let environment, !environment.isEmpty { return try Choice(source: parse(environment), note: nil) }
    if let port = ports.first(where: { $0.likelihood == .receiver }) {
      return Choice(source: .device(port.node), note: "receiver found: \(port.node) (\(port.name ?? "GNSS receiver"))")
    }
    if let port = ports.first(where: { $0.likelihood == .bridge }) {
      return Choice(
        source: .device(port.node),
        note: "no receiver by its name; listening at \(port.node) (\(port.name ?? "USB serial bridge"))")
    }
    return Choice(
      source: .simulator("walk"),
      note: "no receiver found; showing the built-in simulator (name a device with --device or GNSS_DEVICE)")
  }

  /// The source of a command, and a line on standard error where the user did not choose it.
  static func chosen(named: String?) throws -> Source {
    let fromEnvironment = sextant.environment("GNSS_DEVICE")
    let isChosen = named != nil || fromEnvironment?.isEmpty == false
    let choice = try choose(
      named: named, environment: fromEnvironment,
      ports: isChosen ? [] : ReceiverPorts.enumerate(list: try installedList()))
    if let note = choice.note { say(note) }
    return choice.source
  }

  private static func parse(_ name: String) throws -> Source {
    guard name.hasPrefix("sim:") else { return .device(name) }
    let scenario = name == "sim:" ? "walk" : String(name.dropFirst(4))
    _ = try Scenario.read(scenario)
    return .simulator(scenario)
  }
}
