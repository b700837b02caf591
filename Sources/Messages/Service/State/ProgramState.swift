// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The part of the engine's state that a program reads, so that reading never waits.
package struct ProgramState: Equatable, Codable, Sendable {
  /// The state of a manager.
  package struct Manager: Hashable, Codable, Sendable {
    package var services = StartedServices()
    /// The last location that a running service has delivered.
    package var delivered: Location?
    package var heading: Heading?
    /// Whether `requestLocation` is pending.
    package var isRequestPending = false
    /// Nil if there is no deferral.
    package var deferral: Deferral?

    package init() {}
  }

  /// A deferral of a manager.
  package struct Deferral: Hashable, Codable, Sendable {
    /// The remaining path; nil if endless. It changes without a message.
    package var remainingMetres: Double?

    package init(remainingMetres: Double) {
      self.remainingMetres = remainingMetres.isFinite ? remainingMetres : nil
    }
  }

  /// The state of a monitor.
  package struct Monitor: Hashable, Codable, Sendable {
    /// The conditions, in the order in which they were added, with their last handled events.
    package var records: [Positioning.Monitor.Record] = []
    /// The events that the program may receive.
    package var waiting: [Positioning.Monitor.Event] = []

    package init() {}
  }

  /// The number of the program's last message that is included.
  package var includes = 0
  package var status = AuthorizationStatus.notDetermined
  package var accuracy = AccuracyAuthorization.full
  package var servicesAreEnabled = true
  /// The open prompt.
  package var prompt: Authorization.Prompt?
  package var hostCapabilities = HostCapabilities(
    hasSatelliteReceiver: false, hasSignificantChanges: false, hasCompass: false, hasBluetooth: false)
  package var maximumRegionRadiusMetres = -1.0
  package var regions: [Region] = []
  package var visitsAreRunning = false
  /// The newest location at the program's accuracy; nil if there is no permission. It changes without a message.
  package var newest: Location?
  package var managers: [Int: Manager] = [:]
  package var monitors: [String: Monitor] = [:]
  /// The obstacles of the sessions.
  package var sessions: Diagnostic = []
  package var problem: ReceiverProblem?

  package init() {}

  var conditions: StartedServices.Conditions {
    StartedServices.Conditions(status: status, accuracy: accuracy, hostCapabilities: hostCapabilities)
  }

  func monitors(_ region: Region) -> Bool { regions.contains { $0.isSame(as: region) } }

  /// The manager's `location` (rules LC); nil without permission (LC-6).
  package func location(of manager: Int) -> Location? {
    guard status.isAuthorized else { return nil }
    return managers[manager]?.delivered ?? newest
  }
}
