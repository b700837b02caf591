// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream

/// The arrival of a receiver's epochs, for TOFF: gpsd_json(5) defines it by the first data of the reporting cycle.
final class EpochArrivals {
  private var receipts = EpochReceipts()

  func receive(_ bytes: RawSpan, secondsPerByte: Double) {
    _ = receipts.receive(bytes, at: SystemClock.raw, secondsPerByte: secondsPerByte, utc: nil)
  }

  /// The computer's time at which the first byte of the epoch of a fix arrived; nil if its messages have another time.
  ///
  /// - Parameter now: the computer's present time.
  func firstByte(of fix: borrowing Fix, at now: UTCTime) -> UTCTime? {
    guard let time = fix.time, let first = receipts.firstByte(of: time, leapSeconds: fix.leapSeconds) else {
      return nil
    }
    let age = SystemClock.raw.nanoseconds &- first.nanoseconds
    return UTCTime(nanosecondsSince1970: now.nanosecondsSince1970 &- Int64(clamping: age))
  }
}
