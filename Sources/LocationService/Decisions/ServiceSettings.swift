import Positioning
import ReceiverRuntime
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

    /// By a device's name.
    init(_ name: String) {
      self =
        if case .simulator(let scenario)? = try? LineAddress(name) { .simulator(scenario) } else { .device(name) }
    }
  }

  /// GNSS_DEVICE, else the configuration file's first device.
  public var source = Source.firstFound
  /// The other devices of GNSS_DEVICE, or of the configuration file: they stand by, and the best fix is told (SU-19).
  public var others: [Source] = []
  /// The rate that the configuration file binds; nil: it is found.
  public var baud: UInt32?
  /// SEXTANT_STATE_DIR, else what the system has for it; nil where there is no such place, and nothing is kept.
  public var stateFolder: String?
  /// Where the newest location is kept at every fix, in memory; nil where there is no such place.
  var runFolder: String?
  /// SEXTANT_APP_STATE; nil: it is found out.
  public var application: ApplicationState?
  /// SEXTANT_AUTHORIZATION; nil: what is stored counts.
  public var authorization: AuthorizationStatus?
  /// SEXTANT_DEFAULT_AUTHORIZATION: what holds until somebody has decided; nil: not determined.
  public var defaultAuthorization: AuthorizationStatus?
  /// SEXTANT_PAUSE_SECONDS.
  public var pauseSeconds: Double?
  /// SEXTANT_PAUSE_PROBE_SECONDS: the first look at a paused client comes after this time.
  public var pauseProbeSeconds: Double?
  /// SEXTANT_READ_ONLY: not one byte is sent to the receiver.
  public var isReadOnly = false
  /// SEXTANT_SYSFS: where the computer's own sensors are looked for, else /sys; for tests of a compass that is none.
  public var sensorRoot = "/sys"
  /// SEXTANT_SUPPLY: the switch in the receiver's supply.
  public var supply: SupplySwitchAddress?
  /// What could not be understood, a line for each; it counts as not set.
  public private(set) var complaints: [String] = []
  /// Whether a configuration file that counts has a mistake.
  public private(set) var isMisconfigured = false

  /// - Parameters:
  ///   - isRoot: whether the program is the system's.
  ///   - configuration: the configuration file; it is about a receiver that the environment does not name.
  ///   - variable: a variable of the environment.
  public init(
    isRoot: Bool, configuration: ReceiverConfiguration = .init(), variable: (String) -> String?
  ) {
    func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    if let names = value("GNSS_DEVICE") {
      let devices = ReceiverConfiguration.devices(named: names)
      if let device = devices.first { source = Source(device) }
      others = devices.dropFirst().map { Source($0) }
    } else {
      if let device = configuration.devices.first { source = Source(device) }
      others = configuration.devices.dropFirst().map { Source($0) }
      baud = configuration.baud
      isReadOnly = configuration.isReadOnly
    }
    if let root = value("SEXTANT_SYSFS") { sensorRoot = root }
    stateFolder = StateFolder.path(isRoot: isRoot, variable)
    application = choice(
      value, "SEXTANT_APP_STATE", [("foreground", .foreground), ("background", .background)])
    runFolder = RunFolder.path(isRoot: isRoot, stateFolder: stateFolder, variable)
    let statuses: [(String, AuthorizationStatus)] = [
      ("always", .authorizedAlways), ("whenInUse", .authorizedWhenInUse), ("denied", .denied),
      ("restricted", .restricted), ("notDetermined", .notDetermined),
    ]
    authorization = choice(value, "SEXTANT_AUTHORIZATION", statuses)
    defaultAuthorization = choice(value, "SEXTANT_DEFAULT_AUTHORIZATION", statuses)
    isReadOnly = choice(value, "SEXTANT_READ_ONLY", [("1", true), ("0", false)]) ?? isReadOnly
    let isSupplyNamed = value("SEXTANT_SUPPLY") != nil
    if let text = value("SEXTANT_SUPPLY") ?? (value("GNSS_DEVICE") == nil ? configuration.supply : nil) {
      do throws(SupplySwitchError) { supply = try SupplySwitchAddress(text) } catch {
        complaints.append("\(isSupplyNamed ? "SEXTANT_SUPPLY" : "supply of the configuration file") is \(error)")
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

  /// What the environment and the configuration files of this process say; a file with a mistake is told of, and not used.
  static func ofThisProcess() -> ServiceSettings {
    do throws(ReceiverConfigurationError) {
      let configuration = try ReceiverConfiguration.installed(System.variable)
      return ServiceSettings(isRoot: System.isRoot, configuration: configuration, variable: System.variable)
    } catch {
      var settings = ServiceSettings(isRoot: System.isRoot, variable: System.variable)
      if System.variable("GNSS_DEVICE")?.isEmpty != false {
        settings.complaints.append(error.description)
        settings.isMisconfigured = true
      }
      return settings
    }
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
