// SPDX-License-Identifier: Apache-2.0

/// The limit of the texts of a program, which the location service keeps for each program.
///
/// Both services refuse a call with a longer identifier, so that a program behaves in the same way with each of them.
package enum TextLimit {
  /// The largest length, in bytes of UTF-8.
  package static let bytes = 2048

  package static func isExceeded(by text: String) -> Bool { text.utf8.count > bytes }

  /// Returns a text within the limit. It is for keys of property lists, of which no valid one is longer.
  package static func shortened(_ text: String) -> String {
    isExceeded(by: text) ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(256))) : text
  }

  /// Whether a condition of a monitor is refused.
  package static func refuses(condition identifier: String, of monitor: String) -> Bool {
    isExceeded(by: identifier) || isExceeded(by: monitor)
  }
}

extension ClientCall {
  /// Whether the identifier of its region is too long: the call has no effect apart from `refusal`.
  package var isTooLong: Bool {
    switch self {
    case .startMonitoring(let region, _), .stopMonitoring(let region), .requestState(let region),
      .startRanging(.region(let region)), .stopRanging(.region(let region)):
      TextLimit.isExceeded(by: region.identifier)
    default: false
    }
  }

  /// The event that refuses a call which is too long; nil for a call without one.
  ///
  /// - Parameter isDenied: whether regions are refused for lack of permission.
  package func refusal(isDenied: Bool) -> DelegateEvent? {
    switch self {
    case .startMonitoring(let region, _):
      .monitoringDidFail(region, isDenied ? .regionMonitoringDenied : .regionMonitoringFailure)
    case .requestState(let region): .didDetermineState(.unknown, region)
    case .startRanging(let target): .rangingDidFail(target, .rangingFailure)
    default: nil
    }
  }
}
