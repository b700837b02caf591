// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService
import Messages
import Positioning

/// The service of this process, which starts at the first use.
enum Service {
  static let shared: any LocationService = {
    let (list, problem) = PropertyList.ofProgram()
    let identifier = list["CFBundleIdentifier"] as? String ?? ProcessInfo.processInfo.processName
    let environment = ProcessInfo.processInfo.environment
    let app = AppDescription(identifier: identifier, keys: keys(list, environment))
    let service: any LocationService =
      switch ServiceChoice({ environment[$0] }, isServed: { RemoteLocationService.isServed(at: $0) }) {
      case .inProcess: InProcessLocationService(app: app)
      case .daemon(let path): RemoteLocationService(path: path, app: app)
      }
    if let problem { service.log(problem) }
    // The receiver is restored at an orderly exit.
    ProcessEnd.observe { Service.shared.finish() }
    return service
  }()

  /// The keys of the program's property list. An environment variable of the same name replaces a missing key.
  static func keys(_ plist: [String: Any], _ environment: [String: String]) -> UsageKeys {
    func text(_ key: String) -> String? { plist[key] as? String ?? environment[key] }
    func flag(_ key: String) -> Bool {
      plist[key] as? Bool ?? ["1", "true", "yes"].contains(environment[key]?.lowercased())
    }
    var keys = UsageKeys()
    keys.whenInUse = text("NSLocationWhenInUseUsageDescription")
    keys.alwaysAndWhenInUse = text("NSLocationAlwaysAndWhenInUseUsageDescription")
    keys.always = text("NSLocationAlwaysUsageDescription")
    keys.usage = text("NSLocationUsageDescription")
    keys.temporaryPurposes = plist["NSLocationTemporaryUsageDescriptionDictionary"] as? [String: String] ?? [:]
    keys.startsReduced = flag("NSLocationDefaultAccuracyReduced")
    // Apple's documents have both names.
    keys.requiresExplicitSession =
      flag("NSLocationRequireExplicitServiceSession") || flag("CLRequireExplicitServiceSession")
    let modes = plist["UIBackgroundModes"] as? [String] ?? environment["UIBackgroundModes"].map { [$0] } ?? []
    keys.hasLocationMode = modes.contains { $0.split(whereSeparator: { " ,".contains($0) }).contains("location") }
    return keys
  }
}

// For `sextant track`, whose exit code depends on the problem; Apple's API has no such function.
extension CLLocationManager {
  /// Calls a function on the main queue with the reason why the receiver cannot be opened, and with nil once it is
  /// open.
  package static func observeReceiverProblem(_ listener: @escaping @MainActor @Sendable (ReceiverProblem?) -> Void) {
    Service.shared.observeProblem { problem in DispatchQueue.main.async { listener(problem) } }
  }
}
