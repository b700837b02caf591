import MonotonicTime

/// When a port is tried again that could not be opened, or that goes away again and again.
struct RetryPolicy {
  /// A node that appears before udev gave it its group is ready within this.
  static let first = Milliseconds(50)
  /// So that a receiver is served within two seconds of becoming ready, and a waiting process sleeps.
  static let longest = Milliseconds(1500)
  /// A path that udev knows nothing of (a simulator's pseudo-terminal) is looked at so often.
  static let unannounced = Milliseconds(500)
  /// A hang-up comes before udev's message: for so long the node may still be the old one.
  static let afterHangUp = Milliseconds(100)
  /// A port that was open for less than this is flapping.
  static let flap = Milliseconds(1000)
  /// Longest wait before a flapping port is opened again.
  static let longestAfterFlap = Milliseconds(5000)

  /// The time after the `failures`th failure in a row; `failures` counts from 1.
  static func delay(afterFailures failures: Int) -> Milliseconds {
    min(first * (1 << UInt64(min(failures - 1, 10))), longest)
  }

  /// The time after a hang-up of a port that was cut short `flaps` times in a row.
  static func delay(afterFlaps flaps: Int) -> Milliseconds {
    min(afterHangUp * (1 << UInt64(min(flaps, 10))), longestAfterFlap)
  }
}
