// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import Receiver
import ReceiverRuntime

/// The settings of a program's location service, from its environment and the configuration file.
package struct ServiceSettings: Sendable, Equatable {
  /// The source of positions.
  package enum Source: Sendable, Equatable {
    /// A device, FIFO or file, or an address that `LineAddress` reads.
    case device(String)
    /// The built-in simulator with a scenario, given by name or path.
    case simulator(String)
    /// The first receiver that is plugged in, now or later.
    case firstFound

    /// Reads a device's name.
    init(_ name: String) {
      self =
        if case .simulator(let scenario)? = try? LineAddress(name) { .simulator(scenario) } else { .device(name) }
    }

    /// The origin of its fixes: fixes of the simulator and of a replayed recording are simulated.
    var origin: Location.Source {
      let isSimulated =
        switch self {
        case .simulator: true
        case .device(let name): if case .replay? = try? LineAddress(name) { true } else { false }
        case .firstFound: false
        }
      return Location.Source(isSimulatedBySoftware: isSimulated, isProducedByAccessory: !isSimulated)
    }
  }

  /// GNSS_DEVICE, else the configuration file's first device.
  package var source = Source.firstFound
  /// The other devices of GNSS_DEVICE, or of the configuration file, which are on standby: the best fix is delivered
  /// (SU-19).
  package var others: [Source] = []
  /// The rate from the configuration file; nil to search for the rate.
  package var baud: UInt32?
  /// SEXTANT_STATE_DIR, else the system's folder for state; nil if there is neither, and then nothing is stored.
  package var stateFolder: String?
  /// The folder in memory that has the newest location of every fix; nil if there is none.
  package var runFolder: String?
  /// SEXTANT_APP_STATE; nil to derive it from the terminal.
  package var application: ApplicationState?
  /// SEXTANT_AUTHORIZATION; nil for the stored permission.
  package var authorization: AuthorizationStatus?
  /// SEXTANT_DEFAULT_AUTHORIZATION: the permission before the first decision; nil for not determined.
  package var defaultAuthorization: AuthorizationStatus?
  /// SEXTANT_PAUSE_SECONDS.
  package var pauseSeconds: Double?
  /// SEXTANT_PAUSE_PROBE_SECONDS: the time until the first position check of a paused client.
  package var pauseProbeSeconds: Double?
  /// SEXTANT_READ_ONLY: no byte is sent to the receiver.
  package var isReadOnly = false
  /// SEXTANT_SYSFS: the folder that has the computer's own sensors, for tests without a compass; else /sys.
  package var sensorRoot = "/sys"
  /// SEXTANT_SUPPLY: the switch in the receiver's supply.
  package var supply: SupplySwitchAddress?
  /// The assignments with which `sextant authorize` changes the permissions that these settings read; empty if there
  /// are none.
  package private(set) var grantEnvironment = ""
  /// The sources of corrections for the daemon's first receiver, with their passwords, the preferred one first.
  package var corrections: [CorrectionSource] = []
  /// Whether corrections are sent even if no program needs the best accuracy.
  package var hasCorrectionsAlways = false
  /// The file with the keys of SPARTN: SEXTANT_SPARTN_KEYS_FILE, the configuration's, or the credential `spartn-keys` of the unit; nil
  /// without one.
  package var spartnKeys: String?
  /// The source of the assistance that the daemon sends to its first receiver at a start.
  package var assistance = AssistanceSource.own
  /// The account and data of AssistNow; nil if it is not used.
  package var assistNow: AssistNow?
  /// SEXTANT_CORRECTIONS_STALL_SECONDS: the time after which a source without corrections has stalled, for tests.
  package var correctionStallSeconds: Double?
  /// Whether the settings belong to the daemon, which has no terminal and serves other programs.
  package var isDaemon = false
  /// Settings that cannot be read and count as not set, a line for each.
  package private(set) var problems: [String] = []
  /// Whether a configuration file in use has a mistake.
  package private(set) var isMisconfigured = false

  /// - Parameters:
  ///   - isRoot: whether the program runs as root.
  ///   - configuration: the configuration file, whose receiver is used if the environment names none.
  ///   - variable: returns a variable of the environment.
  package init(
    isRoot: Bool, configuration: SextantConfiguration = .init(), variable: (String) -> String?
  ) {
    func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    let names = value("GNSS_DEVICE")
    let devices = names.map { SextantConfiguration.devices(named: $0) } ?? configuration.devices
    if let device = devices.first { source = Source(device) }
    others = devices.dropFirst().map { Source($0) }
    (corrections, hasCorrectionsAlways) = (configuration.corrections, configuration.hasCorrectionsAlways)
    let credential = value("CREDENTIALS_DIRECTORY").map { "\($0)/spartn-keys" }
    spartnKeys =
      value("SEXTANT_SPARTN_KEYS_FILE") ?? configuration.spartnKeys
      ?? credential.flatMap { FileLookup.exists($0) ? $0 : nil }
    assistance = configuration.assistance ?? .own
    assistNow = configuration.assistNow
    if names == nil { (baud, isReadOnly) = (configuration.baud, configuration.isReadOnly) }
    if let root = value("SEXTANT_SYSFS") { sensorRoot = root }
    stateFolder = StateFolder.path(isRoot: isRoot, variable)
    if let folder = value("SEXTANT_STATE_DIR") {
      grantEnvironment = "SEXTANT_STATE_DIR=\(GrantCommand.quoted(folder))"
    } else if value("SEXTANT_SERVICE") == "none" || names != nil {
      // Otherwise the command changes the permissions of the location service, if that runs.
      grantEnvironment = "SEXTANT_SERVICE=none"
    }
    application = choice(value, "SEXTANT_APP_STATE", Terminal.stateNames)
    runFolder = RuntimeFolder.path(isRoot: isRoot, stateFolder: stateFolder, variable)
    let statuses: [(String, AuthorizationStatus)] = [
      ("always", .authorizedAlways), ("whenInUse", .authorizedWhenInUse), ("denied", .denied),
      ("restricted", .restricted), ("notDetermined", .notDetermined),
    ]
    authorization = choice(value, "SEXTANT_AUTHORIZATION", statuses)
    defaultAuthorization = choice(value, "SEXTANT_DEFAULT_AUTHORIZATION", statuses)
    isReadOnly = choice(value, "SEXTANT_READ_ONLY", [("1", true), ("0", false)]) ?? isReadOnly
    let isSupplyNamed = value("SEXTANT_SUPPLY") != nil
    if let text = value("SEXTANT_SUPPLY") ?? (names == nil ? configuration.supply : nil) {
      do throws(SupplySwitchError) { supply = try SupplySwitchAddress(text) } catch {
        problems.append("\(isSupplyNamed ? "SEXTANT_SUPPLY" : "supply of the configuration file") is \(error)")
      }
    }
    pauseSeconds = seconds(value, "SEXTANT_PAUSE_SECONDS")
    pauseProbeSeconds = seconds(value, "SEXTANT_PAUSE_PROBE_SECONDS")
    correctionStallSeconds = seconds(value, "SEXTANT_CORRECTIONS_STALL_SECONDS")
  }

  private mutating func seconds(_ value: (String) -> String?, _ name: String) -> Double? {
    guard let text = value(name) else { return nil }
    if let seconds = Double(text), seconds > 0, seconds.isFinite { return seconds }
    problems.append("\(name) is \(text): give a number of seconds above 0")
    return nil
  }

  /// Uses these devices, the first of which has the power policy, instead of the configured devices.
  package mutating func use(_ devices: [String]) {
    guard let first = devices.first else { return }
    source = Source(first)
    others = devices.dropFirst().map { Source($0) }
  }

  /// Uses these sources of corrections instead of the configured sources, unless there are none, and reads the
  /// passwords.
  ///
  /// - Parameter variable: returns a variable of the environment.
  package mutating func useCorrections(_ sources: [CorrectionSource], _ variable: (String) -> String?) {
    if sources.contains(where: \.namesPassword) { problems.append(CasterPassword.notice) }
    if !sources.isEmpty { corrections = sources }
    do throws(FileError) {
      for index in corrections.indices {
        corrections[index] = try CasterPassword.complete(corrections[index], variable)
      }
    } catch {
      problems.append("\(error.path): the password of the caster cannot be read (\(error.reason))")
    }
  }

  /// Reads the account of `assistnow = on`, and the server for tests.
  ///
  /// - Parameter variable: returns a variable of the environment.
  package mutating func completeAssistNow(_ variable: (String) -> String?) {
    guard var source = assistNow else { return }
    defer { assistNow = source.account == nil ? nil : source }
    do throws(FileError) {
      if source.account == nil {
        source.account = try CasterPassword.ofAssistNow(variable).flatMap { AssistNow.Account($0) }
      }
      if source.account == nil {
        problems.append(
          "`assistnow = on` has no account; set SEXTANT_ASSISTNOW_FILE, or the credential `assistnow`, to a chip code or a token"
        )
      }
    } catch {
      problems.append("\(error.path): the account of AssistNow cannot be read (\(error.reason))")
    }
    if let server = variable("SEXTANT_ASSISTNOW_SERVER"), !server.isEmpty { source.server = server }
  }

  /// Returns the settings of the daemon.
  package static func ofDaemon(_ variable: (String) -> String?) -> ServiceSettings {
    var settings = ofThisProcess(variable)
    settings.isDaemon = true
    return settings
  }

  /// Returns the settings of this process.
  package static func ofThisProcess() -> ServiceSettings { ofThisProcess(System.variable) }

  /// A configuration file with a mistake is reported in `problems` and not used.
  private static func ofThisProcess(_ variable: (String) -> String?) -> ServiceSettings {
    do throws(SextantConfigurationError) {
      let configuration = try SextantConfiguration.installed(variable)
      return ServiceSettings(isRoot: System.isRoot, configuration: configuration, variable: variable)
    } catch {
      var settings = ServiceSettings(isRoot: System.isRoot, variable: variable)
      if variable("GNSS_DEVICE")?.isEmpty != false {
        settings.problems.append(error.description)
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
    problems.append("\(name) is \(text): give one of \(choices.map(\.0).joined(separator: ", "))")
    return nil
  }
}
