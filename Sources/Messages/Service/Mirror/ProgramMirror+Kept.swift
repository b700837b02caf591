// SPDX-License-Identifier: Apache-2.0
import Positioning

/// The actions that wait for the return of the service. Each replaces the earlier ones that it makes obsolete, so that
/// their number depends on the program's regions, conditions and managers, and not on its calls.
extension ProgramMirror {
  /// The maximum number of kept actions; beyond it the oldest are dropped.
  static var keptLimit: Int { 256 }

  mutating func keep(_ action: ClientAction) {
    guard action.isKept || !isStateKnown && action.dependsOnService else { return }
    kept.removeAll { action.replaces($0) }
    kept.append(action)
    if kept.count > Self.keptLimit { kept.removeFirst() }
  }
}

extension ClientAction {
  /// Whether the program's state does not imply the action.
  fileprivate var isKept: Bool {
    switch self {
    case .call(_, let call):
      switch call {
      case .startMonitoring, .stopMonitoring, .startVisits, .stopVisits, .requestWhenInUse, .requestAlways: true
      default: false
      }
    case .addCondition, .removeCondition, .takeEvent, .takeWaitingEvent: true
    default: false
    }
  }

  /// Whether the action is a start or stop whose effect depends on permission or hardware.
  fileprivate var dependsOnService: Bool {
    switch self {
    case .call(_, .startSignificantChanges), .call(_, .stopSignificantChanges), .call(_, .startRanging),
      .call(_, .stopRanging):
      true
    default: false
    }
  }

  fileprivate func replaces(_ earlier: ClientAction) -> Bool {
    switch (self, earlier) {
    case (.call(let id, let call), .call(let earlierID, let earlierCall)):
      call.replaces(earlierCall) || id == earlierID && call.replacesInManager(earlierCall)
    case (.addCondition, _), (.removeCondition, _), (.takeEvent, .takeEvent):
      condition != nil && condition == earlier.condition
    default: false
    }
  }

  private var condition: [String]? {
    switch self {
    case .addCondition(_, let identifier, _, let monitor), .removeCondition(let identifier, let monitor):
      [monitor, identifier]
    case .takeEvent(let event, let monitor): [monitor, event.identifier]
    default: nil
    }
  }
}

extension ClientCall {
  fileprivate func replaces(_ earlier: ClientCall) -> Bool {
    switch (self, earlier) {
    case (.startMonitoring(let region, _), .startMonitoring(let other, _)),
      (.startMonitoring(let region, _), .stopMonitoring(let other)),
      (.stopMonitoring(let region), .startMonitoring(let other, _)),
      (.stopMonitoring(let region), .stopMonitoring(let other)):
      region.isSame(as: other)
    case (.startVisits, .startVisits), (.startVisits, .stopVisits), (.stopVisits, .startVisits),
      (.stopVisits, .stopVisits):
      true
    case (.requestWhenInUse, .requestWhenInUse), (.requestAlways, .requestAlways): true
    default: false
    }
  }

  fileprivate func replacesInManager(_ earlier: ClientCall) -> Bool {
    switch (self, earlier) {
    case (.startSignificantChanges, .startSignificantChanges), (.startSignificantChanges, .stopSignificantChanges),
      (.stopSignificantChanges, .startSignificantChanges), (.stopSignificantChanges, .stopSignificantChanges):
      true
    case (.startRanging(let target), .startRanging(let other)), (.startRanging(let target), .stopRanging(let other)),
      (.stopRanging(let target), .startRanging(let other)), (.stopRanging(let target), .stopRanging(let other)):
      target.isSame(as: other)
    default: false
    }
  }
}
