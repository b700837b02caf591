// SPDX-License-Identifier: Apache-2.0

/// 1007 and 1033: antenna and receiver of the reference station (RTCM 10403.3, tables 3.5-8 and 3.5-82). A view: the
/// texts are ASCII bytes of the frame.
public struct StationEquipment: ~Escapable {
  /// Reference station, DF003.
  public let stationID: Int
  /// The IGS name of the antenna, DF030.
  public let antenna: RawSpan
  /// Antenna setup, DF031; 0 for the standard model of the phase centre.
  public let antennaSetup: Int
  /// DF033; empty in 1007.
  public let antennaSerial: RawSpan
  /// DF228; empty in 1007.
  public let receiver: RawSpan
  /// DF230; empty in 1007.
  public let firmware: RawSpan
  /// DF232; empty in 1007.
  public let receiverSerial: RawSpan

  /// The content of a message; nil for messages other than 1007 and 1033, and when the message is too short.
  @_lifetime(copy frame)
  public init?(_ frame: RTCM3Frame) {
    guard let number = frame.messageNumber, number == 1007 || number == 1033 else { return nil }
    let payload = frame.payload
    var bits = BitReader(payload)
    _ = bits.unsigned(12)
    stationID = bits.int(12)
    guard let antenna = bits.characters(bits.int(8)) else { return nil }
    self.antenna = antenna
    antennaSetup = bits.int(8)
    if bits.isExhausted { return nil }
    var rest = InlineArray<4, Range<Int>>(repeating: 0..<0)
    if number == 1033 {
      for index in 0..<4 {
        let count = bits.int(8)
        let start = bits.position / 8
        guard bits.characters(count) != nil else { return nil }
        rest[index] = start..<start + count
      }
    }
    antennaSerial = payload.extracting(rest[0])
    receiver = payload.extracting(rest[1])
    firmware = payload.extracting(rest[2])
    receiverSerial = payload.extracting(rest[3])
  }
}
