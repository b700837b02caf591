// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocationService
import Positioning

// For `sextant track`, whose exit code depends on the problem; Apple's API has no such function.
extension CLLocationManager {
  /// Calls a function on the main queue with the reason why the receiver cannot be opened, and with nil once it is
  /// open.
  package static func observeReceiverProblem(_ listener: @escaping @MainActor @Sendable (ReceiverProblem?) -> Void) {
    Service.shared.observeProblem { problem in DispatchQueue.main.async { listener(problem) } }
  }
}
