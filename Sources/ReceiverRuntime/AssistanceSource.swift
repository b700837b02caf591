// SPDX-License-Identifier: Apache-2.0

/// The line `assistance` of the configuration file: what the location service gives a receiver at its start.
package enum AssistanceSource: String, Sendable, CaseIterable {
  /// The time, the last position, and the orbits that the same receiver had.
  case own
  /// Also ephemerides of a correction stream, and of RINEX navigation files.
  case broadcast

  /// The forms, for error messages.
  package static let forms = "`assistance = own` or `assistance = broadcast`"
}
