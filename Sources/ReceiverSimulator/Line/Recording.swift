// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

extension VirtualLine {
  /// The output of a receiver on USB, for each second: sentences, NAV-PVT, NAV-DOP, NAV-SAT and NAV-EOE. The receiver
  /// walks in the park and has a fix after two or three seconds.
  ///
  /// - Parameters:
  ///   - startUTCSeconds: The time of the first epoch, seconds since 1970.
  ///   - seconds: The length.
  ///   - seed: The seed of all random values.
  public static func recording(startUTCSeconds: Int64, seconds: Int, seed: UInt64 = 1) -> [[UInt8]] {
    var line = VirtualLine(model: .m9, seed: seed, startUTCSeconds: startUTCSeconds - 1, hasRate: false)
    // The text of the start precedes the first epoch.
    line.advance(to: .zero + Milliseconds(999))
    _ = line.takeReceived()
    for id in [0x07, 0x04, 0x35, 0x61] as [UInt8] { line.receiver.setRate(of: MessageIdentity(0x01, id), every: 1) }
    return (0..<UInt64(seconds)).map { second in
      line.advance(to: .zero + Milliseconds(1999 + 1000 * second))
      return line.takeReceived()
    }
  }
}

extension VirtualReceiver {
  /// Sets the interval of a message on the host's port in epochs, with the effect of CFG-MSG or CFG-MSGOUT; 0 for
  /// off.
  public mutating func setRate(of identity: MessageIdentity, every epochs: UInt8) {
    var rates = [UInt8](repeating: 0, count: 5)
    rates[port] = epochs
    setRates(identity, rates)
  }
}
