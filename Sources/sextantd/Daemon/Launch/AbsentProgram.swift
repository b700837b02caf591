// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import Positioning

/// A program that does not run, from the host's point of view.
final class AbsentProgram: ProgramReceiver, @unchecked Sendable {
  // Sendable: only the service's thread uses it.
  private weak var launcher: Launcher?
  private let key: Launcher.Key

  init(_ launcher: Launcher, _ key: Launcher.Key) {
    self.launcher = launcher
    self.key = key
  }

  func perform(_ action: ProgramAction) {
    if case .output(let output) = action { launcher?.receive(output, of: key) }
  }
}

/// A message that changes the services that continue without the program.
enum RegistrationChange: Equatable {
  case significantStart(Int)
  case significantStop(Int)
  case other

  var isSignificantStop: Bool { if case .significantStop = self { true } else { false } }
}

extension ClientAction {
  /// Whether a manager has no delegate from then on: events in transit to the delegate may not have been delivered.
  var losesDelegate: Bool {
    switch self {
    case .removeManager, .call(_, .setDelegate(nil)): true
    default: false
    }
  }

  /// Nil for a message that registers nothing.
  var registration: RegistrationChange? {
    switch self {
    case .call(let manager, .startSignificantChanges): .significantStart(manager)
    case .call(let manager, .stopSignificantChanges): .significantStop(manager)
    case .resumeManager(let manager, let resumption) where resumption.services.wantsSignificant:
      .significantStart(manager)
    case .call(_, .startMonitoring), .call(_, .stopMonitoring), .call(_, .startVisits), .call(_, .stopVisits),
      .addCondition, .removeCondition:
      .other
    default: nil
    }
  }
}
