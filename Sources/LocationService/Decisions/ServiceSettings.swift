import Positioning
import ReceiverShell
import SupplySwitch

/// What the environment of a program says about its location service.
public struct ServiceSettings: Sendable, Equatable {
  /// Where positions come from.
  public enum Source: Sendable, Equatable {
    /// A device, FIFO or file, or what `LineAddress` reads.
    case device(String)
    /// The built-in simulator, by the name of a scenario or the path of one.
    case simulator(String)
    /// The first receiver that is plugged in, now or later.
    case firstFound
  }

  /// GNSS_DEVICE.
  public var source = Source.firstFound
  /// SEXTANT_STATE_DIR, else what the system has for it; nil where there is no such place, and nothing is kept.
  public var stateFolder: String?
  /// SEXTANT_APP_STATE; nil: it is found out.
  public var application: ApplicationState?
  /// SEXTANT_AUTHORIZATION; nil: what is stored counts.
  public var authorization: AuthorizationStatus?
  /// SEXTANT_PAUSE_SECONDS.
  public var pauseSeconds: Double?
  /// SEXTANT_PAUSE_PROBE_SECONDS: the first look at a paused client comes after this time.
  public var pauseProbeSeconds: Double?
  /// SEXTANT_READ_ONLY: not one byte is sent to the receiver.
  public var isReadOnly = false
  /// SEXTANT_SUPPLY: the switch in the receiver's supply.
  public var supply: SupplySwitchAddress?
  /// What could not be understood, a line for each; it counts as not set.
  public private(set) var complaints: [String] = []

  /// - Parameters:
  ///   - isRoot: whether the program is the system's.
  ///   - variable: a variable of the environment.
  public init(isRoot: Bool, variable: (String) -> String?) {
    func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    if let device = value("GNSS_DEVICE") {
      if device.hasPrefix("sim:") {
        source = .simulator(device == "sim:" ? "walk" : String(device.dropFirst(4)))
      } else {
        source = .device(device)
      }
    }
    stateFolder = StateFolder.path(isRoot: isRoot, variable)
    application = choice(
      value, "SEXTANT_APP_STATE", [("foreground", .foreground), ("background", .background)])
    authorization = choice(
      value, "SEXTANT_AUTHORIZATION",
      [
        ("always", .authorizedAlways), ("whenInUse", .authorizedWhenInUse), ("denied", .denied),
        ("restricted", .restricted), ("notDetermined", .notDetermined),
      ])
    isReadOnly = choice(value, "SEXTANT_READ_ONLY", [("1", true), ("0", false)]) ?? false
    if let text = value("SEXTANT_SUPPLY") {
      do throws(SupplySwitchError) { supply = try SupplySwitchAddress(text) } catch {
        complaints.append("SEXTANT_SUPPLY is \(error)")
      }
    }
    pauseSeconds = seconds(value, "SEXTANT_PAUSE_SECONDS")
    pauseProbeSeconds = seconds(value, "SEXTANT_PAUSE_PROBE_SECONDS")
  }

  private mutating func seconds(_ value: (String) -> String?, _ name: String) -> Double? {
    guard let text = value(name) else { return nil }
    if let seconds = Double(text), seconds > 0, seconds.isFinite { return seconds }
    complaints.append("\(name) is \(text): give a number of seconds above 0")
    return nil
  }

  private mutating func choice<Value>(
    _ value: (String) -> String?, _ name: String, _ choices: [(String, Value)]
  ) -> Value? {
    guard let text = value(name) else { return nil }
    if let found = choices.first(where: { $0.0 == text }) { return found.1 }
    complaints.append("\(name) is \(text): give one of \(choices.map(\.0).joined(separator: ", "))")
    return nil
  }
}
