// SPDX-License-Identifier: Apache-2.0

/// 1230: the offset between the GLONASS code and phase observations of a station (RTCM 10403.3, table 3.5-103).
public struct GLONASSBiases: Equatable, Sendable {
  /// Reference station, DF003.
  public var stationID: Int
  /// Whether code and phase observations are aligned, DF421.
  public var isAligned: Bool
  /// The signals with a bias, a bit for each, DF422: L1 C/A in the highest of four, then L1 P, L2 C/A, L2 P.
  public var signals: Int
  /// The biases of the signals in the mask, in 0.02 m, DF423 to DF426; 0 for signals that are not in it.
  public var biases: InlineArray<4, Int>

  /// The content of a message; nil when it is not 1230 or too short.
  public init?(_ frame: borrowing RTCM3Frame) {
    guard frame.messageNumber == 1230 else { return nil }
    var bits = BitReader(frame.payload)
    _ = bits.unsigned(12)
    stationID = bits.int(12)
    isAligned = bits.flag()
    _ = bits.unsigned(3)
    signals = bits.int(4)
    biases = InlineArray(repeating: 0)
    for index in 0..<4 where signals >> (3 - index) & 1 != 0 { biases[index] = Int(bits.signed(16)) }
    if bits.isExhausted { return nil }
  }

  /// Whether the message has the bias of signal `index` (0 L1 C/A, 1 L1 P, 2 L2 C/A, 3 L2 P).
  public func has(_ index: Int) -> Bool { signals >> (3 - index) & 1 != 0 }

  public static func == (a: GLONASSBiases, b: GLONASSBiases) -> Bool {
    for index in 0..<4 where a.biases[index] != b.biases[index] { return false }
    return a.stationID == b.stationID && a.isAligned == b.isAligned && a.signals == b.signals
  }
}
