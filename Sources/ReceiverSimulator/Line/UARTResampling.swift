// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The result of a UART that reads bytes at another rate than their own.
public enum UARTResampling {
  /// Whether a receiver at rate `b` reads a sender at rate `a`: within 2.5 % (data sheets, UART tolerance).
  public static func agree(_ a: UInt32, _ b: UInt32) -> Bool {
    let (low, high) = (UInt64(min(a, b)), UInt64(max(a, b)))
    return low > 0 && high * 1000 <= low * 1025
  }

  /// How a UART goes on after a byte without a stop bit.
  public enum AfterMissingStopBit: Sendable {
    /// The low level in place of the stop bit is the next start bit, for one that is faster than the sender: so a recorded
    /// adapter reads. The recordings of a slower one, one or two bytes until the host follows a change of the rate, do not
    /// show it; it waits.
    case startsNextByte
    /// It waits for a high level.
    case waits
  }

  /// Returns the bytes that are read, and the number of bytes without a stop bit.
  ///
  /// Sender and receiver count bits by their own clocks. The receiver waits for a falling edge and samples the middle
  /// of each of the ten bits that follow. Bytes without a stop bit are read too.
  public static func receive(
    _ bytes: [UInt8], sentAt sender: UInt32, readAt receiver: UInt32,
    afterMissingStopBit next: AfterMissingStopBit = .startsNextByte
  ) -> (bytes: [UInt8], errors: Int) {
    guard sender > 0, receiver > 0 else { return ([], 0) }
    // The sender's bits in one bit of the receiver.
    let step = Double(sender) / Double(receiver)
    let total = Double(bytes.count * 10)
    let level = { (at: Double) -> Bool in
      // The idle line is high.
      guard at >= 0, at < total else { return true }
      let bit = Int(clamping: at)
      switch bit % 10 {
      case 0: return false
      case 9: return true
      case let place: return bytes[bit / 10] >> UInt8(place - 1) & 1 == 1
      }
    }
    var read: [UInt8] = []
    var errors = 0
    var at = 0.0
    while at < total {
      // The next falling edge. Edges are at whole bits of the sender.
      if level(at) {
        at = at.rounded(.down) + 1
        continue
      }
      if level(at + step / 2) {
        at += step
        continue
      }
      var byte: UInt8 = 0
      for place in 0..<8 where level(at + step * (1.5 + Double(place))) { byte |= 1 << UInt8(place) }
      read.append(byte)
      let hasStopBit = level(at + step * 9.5)
      if !hasStopBit { errors += 1 }
      let startsNextByte = !hasStopBit && next == .startsNextByte && step < 1
      at += step * (startsNextByte ? 9 : 9.5)
      if !startsNextByte { while at < total, !level(at) { at = at.rounded(.down) + 1 } }
    }
    return (read, errors)
  }
}
