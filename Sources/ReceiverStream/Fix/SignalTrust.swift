// SPDX-License-Identifier: Apache-2.0

/// The trust in the signals of a receiver. A higher value is worse.
public enum SignalTrust: UInt8, CaseIterable, Comparable, Sendable {
  /// Neither the receiver nor the host has a statement.
  case unknown
  /// The receiver's detectors work and have found nothing.
  case ok
  /// A detector warns, or the fixes contradict something else.
  case suspect
  /// The receiver reports a critical state of its input: the fixes may become inaccurate or cease.
  case jammed
  /// The receiver reports signals that no satellite has sent: the fixes may be wrong.
  case spoofed

  public static func < (a: SignalTrust, b: SignalTrust) -> Bool { a.rawValue < b.rawValue }

  /// The name in `sextant status --json`.
  public var name: StaticString {
    switch self {
    case .unknown: "unknown"
    case .ok: "ok"
    case .suspect: "suspect"
    case .jammed: "jammed"
    case .spoofed: "spoofed"
    }
  }
}
