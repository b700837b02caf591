// SPDX-License-Identifier: Apache-2.0
import Messages
import WireBytes

/// The subscription of a client with `?WATCH`; gpsd_json(5), section "WATCH".
package struct WatchPolicy: Equatable, Sendable {
  /// The forms of a receiver's own bytes.
  package enum Raw: Int, Sendable {
    case off
    /// Sentences unchanged, other frames as a line of hexadecimal digits.
    case hexadecimal
    /// The bytes as they were read.
    case verbatim
  }

  package var isEnabled = false
  package var json = false
  package var nmea = false
  package var raw = Raw.off
  /// AIS and subframes in scaled units. No report here has both forms.
  package var scaled = false
  package var timing = false
  package var split24 = false
  /// Whether TOFF is sent.
  package var pps = false
  /// The path of the receiver whose reports are wanted; nil for all.
  package var device: String?
  /// The address of a remote daemon, which is only echoed.
  package var remote: String?
  /// The sufficient accuracy, metres; nil for the best.
  package var accuracyMetres: Double?
  /// The sufficient time between two locations, seconds; nil for every epoch.
  package var intervalSeconds: Double?

  package init() {}

  /// Whether a form of reports is chosen, which the client reads as they arrive.
  package var hasReports: Bool { json || nmea || raw != .off || pps }

  /// Whether it gets reports by POLL alone.
  var onlyPolls: Bool { !hasReports && intervalSeconds == nil }

  /// Whether the reports of a receiver are wanted, in the forms that are chosen.
  package func covers(_ path: String) -> Bool { isEnabled && (device == nil || device == path) }

  /// Applies the attributes that a request contains; the others are unchanged. A request without `enable` enables.
  package mutating func apply(_ change: WatchChange) {
    isEnabled = change.enable ?? true
    if let value = change.json { json = value }
    if let value = change.nmea { nmea = value }
    if let value = change.raw { raw = value }
    if let value = change.scaled { scaled = value }
    if let value = change.timing { timing = value }
    if let value = change.split24 { split24 = value }
    if let value = change.pps { pps = value }
    if let value = change.device { device = value.isEmpty ? nil : value }
    if let value = change.remote { remote = value }
    if let demand = change.demand {
      (accuracyMetres, intervalSeconds) = (demand.accuracyMetres, demand.intervalSeconds)
    }
  }
}
