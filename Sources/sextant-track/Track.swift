// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CoreLocation
import Foundation
import LinuxIO
import ReceiverRuntime
import SerialPort

/// `sextant track`: a client of module CoreLocation that prints each call of its delegate. `sextant` starts it, so that no
/// other command carries Foundation.
@main
struct Track: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sextant track",
    abstract: "Follow the location as a program with Core Location does.",
    discussion: """
      Every call of the delegate is a line. Without --device, GNSS_DEVICE is used, else the first receiver that is \
      plugged in. With --significant, --heading or --region the other location updates start only if \
      --accuracy or --distance-filter is given, so that the receiver can sleep. The command is authorized by being typed, \
      unless SEXTANT_AUTHORIZATION or `sextant authorize` says otherwise; with the location service this holds for root and \
      for members of group gnss. Press ^C to end.
      """)

  @Option(
    name: .shortAndLong,
    help: "A tty, pseudo-terminal or FIFO, i2c:BUS[@ADDRESS], replay:FILE[@SPEED] or sim:SCENARIO.")
  var device: String?

  @Flag(help: "Use the built-in simulator if there is no receiver.")
  var demo = false

  @Option(
    help: ArgumentHelp(
      "The desired accuracy: best, bestForNavigation or metres (default: best).", valueName: "accuracy"))
  var accuracy: DesiredAccuracy?

  @Option(help: "Deliver a location after each movement of this many metres.")
  var distanceFilter: Double?

  @Option(help: "Your activity: other, automotiveNavigation, fitness, otherNavigation or airborne.")
  var activity = Activity.other

  @Flag(help: "Do not pause when nothing moves.")
  var noPause = false

  @Option(help: "Defer updates until this many metres were travelled.")
  var deferDistance: Double?

  @Option(help: "Defer updates for this many seconds.")
  var deferTimeout: Double?

  @Flag(help: "Defer updates again after each delivery.")
  var deferRepeat = false

  @Flag(help: "Request one location, and end.")
  var once = false

  @Flag(help: "Deliver significant changes only.")
  var significant = false

  @Flag(help: "Deliver visits: the places of stays, with arrival and departure.")
  var visits = false

  @Flag(help: "Deliver headings.")
  var heading = false

  @Option(help: ArgumentHelp("Monitor a circle; may be given more than once.", valueName: "id,lat,lon,radius"))
  var region: [Circle] = []

  @Option(help: ArgumentHelp("Range beacons; may be given more than once.", valueName: "uuid[,major[,minor]]"))
  var beacon: [Beacon] = []

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Flag(help: "Print JSON objects, one a line.")
  var json = false

  @Flag(help: "Send no byte to the receiver.")
  var readOnly = false

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds < 1e9) { throw ValidationError("--seconds is a time above 0.") }
    if let distanceFilter, !distanceFilter.isFinite {
      throw ValidationError("--distance-filter is a length in metres; without it each location is delivered.")
    }
    if let deferDistance, !(deferDistance > 0) { throw ValidationError("--defer-distance is a length above 0.") }
    if let deferTimeout, !(deferTimeout > 0) { throw ValidationError("--defer-timeout is a time above 0.") }
    if deferRepeat, deferDistance == nil, deferTimeout == nil {
      throw ValidationError("--defer-repeat needs --defer-distance or --defer-timeout.")
    }
    if once, significant { throw ValidationError("--once and --significant exclude each other.") }
  }

  /// Whether location updates are requested: together with another service only if an option concerns them.
  var startsUpdates: Bool {
    let hasOtherService = significant || heading || !region.isEmpty
    return !once && (!hasOtherService || accuracy != nil || distanceFilter != nil)
  }

  /// Sets the receiver of `--device` or `--demo` in the environment.
  private func nameReceiver() throws {
    if let device {
      guard device.contains(":") || FileManager.default.fileExists(atPath: device) else {
        printNotice("\(device): no such device; `sextant devices` lists what there is")
        throw ExitCode(SystemExitCode.noInput.rawValue)
      }
      if case .replay(let file, _)? = try? LineAddress(device), let reason = try? RecordingFault.reason(ofFile: file) {
        printNotice("\(file): \(reason)")
        throw ExitCode(SystemExitCode.badData.rawValue)
      }
      setVariable("GNSS_DEVICE", device)
    } else if demo, !hasReceiver {
      printNotice("no receiver found; --demo uses the built-in simulator (its positions are not real)")
      setVariable("GNSS_DEVICE", "sim:\(LineAddress.usualScenario)")
    }
  }

  /// Whether a receiver is named or found. A mistake in a configuration file is reported by the service.
  private var hasReceiver: Bool {
    let environment = ProcessInfo.processInfo.environment
    if environment["GNSS_DEVICE"]?.isEmpty == false { return true }
    guard let configuration = try? SextantConfiguration.installed({ environment[$0] }), configuration.devices.isEmpty
    else { return true }
    return ReceiverPorts.enumerate(list: (try? DeviceList.installed()) ?? DeviceList())
      .contains(where: \.likelihood.isPlausible)
  }

  /// The descriptors and threads that Core Location, Foundation and a simulated receiver need in addition to the open
  /// descriptors and the main thread.
  private static let leastDescriptors = 40
  private static let leastThreads = 6

  static func main() {
    if let shortage = ProcessStart.prepare(descriptors: leastDescriptors, threads: leastThreads) {
      printNotice(shortage.description)
      Foundation.exit(SystemExitCode.systemResource.rawValue)
    }
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      if let text = UsageMistake.text(message(for: error), full: fullMessage(for: error)) {
        printNotice(text)
        Foundation.exit(SystemExitCode.usage.rawValue)
      }
      exit(withError: error)
    }
  }

  func run() throws {
    try nameReceiver()
    if readOnly { setVariable("SEXTANT_READ_ONLY", "1") }
    setVariable("SEXTANT_DEFAULT_AUTHORIZATION", "always", replacing: false)
    let purpose = "to print where this computer is"
    setVariable("NSLocationWhenInUseUsageDescription", purpose, replacing: false)
    setVariable("NSLocationAlwaysAndWhenInUseUsageDescription", purpose, replacing: false)
    EndSignals.block()
    let tracker = Tracker(self)
    guard EndSignals.start(tracker.signalArrived) else {
      printNotice("no thread can be started; raise the limit of processes (ulimit -u)")
      throw ExitCode(SystemExitCode.systemResource.rawValue)
    }
    tracker.start()
    if let reason = ProcessInfo.processInfo.environment["SEXTANT_LAUNCHED_BY"] {
      printNotice("started by the location service: \(reason)")
    }
    withExtendedLifetime(tracker) { RunLoop.main.run() }
  }
}

/// `best`, `bestForNavigation` or metres.
struct DesiredAccuracy: ExpressibleByArgument {
  var metres: CLLocationAccuracy

  init(metres: CLLocationAccuracy) { self.metres = metres }

  init?(argument: String) {
    switch argument {
    case "best": metres = kCLLocationAccuracyBest
    case "bestForNavigation": metres = kCLLocationAccuracyBestForNavigation
    default:
      guard let number = Double(argument), number > 0 else { return nil }
      metres = number
    }
  }

}

/// The activities, keyed by their names in Core Location.
enum Activity: String, ExpressibleByArgument, CaseIterable {
  case other, automotiveNavigation, fitness, otherNavigation, airborne

  var type: CLActivityType {
    switch self {
    case .other: .other
    case .automotiveNavigation: .automotiveNavigation
    case .fitness: .fitness
    case .otherNavigation: .otherNavigation
    case .airborne: .airborne
    }
  }
}

/// `UUID`, `UUID,MAJOR` or `UUID,MAJOR,MINOR`.
struct Beacon: ExpressibleByArgument {
  var constraint: CLBeaconIdentityConstraint

  init?(argument: String) {
    let fields = argument.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = fields.dropFirst().map { UInt16($0) }
    guard let uuid = fields.first.flatMap({ UUID(uuidString: String($0)) }), !numbers.contains(nil) else { return nil }
    switch numbers.compactMap(\.self) {
    case []: constraint = CLBeaconIdentityConstraint(uuid: uuid)
    case let major where major.count == 1: constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major[0])
    case let both where both.count == 2:
      constraint = CLBeaconIdentityConstraint(uuid: uuid, major: both[0], minor: both[1])
    default: return nil
    }
  }
}

/// `ID,LAT,LON,RADIUS`; the identifier may have commas.
struct Circle: ExpressibleByArgument {
  var identifier: String
  var centre: CLLocationCoordinate2D
  var radius: Double

  init?(argument: String) {
    let fields = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard fields.count >= 4 else { return nil }
    let numbers = fields.suffix(3).compactMap { Double($0) }
    guard numbers.count == 3, numbers[2] > 0 else { return nil }
    centre = CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1])
    guard CLLocationCoordinate2DIsValid(centre) else { return nil }
    identifier = fields.dropLast(3).joined(separator: ",")
    radius = numbers[2]
    if identifier.isEmpty { return nil }
  }
}
