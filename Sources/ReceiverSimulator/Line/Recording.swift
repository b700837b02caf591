import MonotonicTime
import UBX

extension VirtualLine {
  /// What a receiver on USB sends in so many seconds, the bytes of each second apart: sentences, NAV-PVT, NAV-DOP,
  /// NAV-SAT and NAV-EOE. It walks in the park, and finds its place after two seconds or three.
  ///
  /// - Parameters:
  ///   - startUTCSeconds: The time of the first epoch, seconds since 1970.
  ///   - seconds: how long it lasts.
  ///   - seed: determines what is random.
  public static func recording(startUTCSeconds: Int64, seconds: Int, seed: UInt64 = 1) -> [[UInt8]] {
    var line = VirtualLine(model: .m9, seed: seed, startUTCSeconds: startUTCSeconds - 1, hasRate: false)
    // Before the first epoch there is the text of the start.
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
  /// Sends a message every so many epochs on the host's port, as if CFG-MSG or CFG-MSGOUT had said so; 0 for never.
  public mutating func setRate(of identity: MessageIdentity, every epochs: UInt8) {
    var rates = [UInt8](repeating: 0, count: 5)
    rates[port] = epochs
    setRates(identity, rates)
  }
}
