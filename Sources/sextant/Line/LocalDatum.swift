// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import NMEA
import ReceiverStream

/// The datum of a receiver's positions, if it is not WGS 84. The positions are not converted.
struct LocalDatum {
  /// The code of the first DTM with another datum, such as `P90`; nil before one arrives.
  private var code: String?

  /// Takes a frame.
  mutating func receive(_ frame: borrowing Frame) {
    guard code == nil, let sentence = frame.nmea, !sentence.isProprietary, sentence.formatter == DTM.formatter else {
      return
    }
    var rejected = 0
    let content = sentence.decode(DTM.self, rejected: &rejected)
    guard let datum = content.datum, datum.count > 0, datum != ShortText("W84") else { return }
    code = String(decoding: (0..<Int(datum.count)).map { datum.characters[$0] }, as: UTF8.self)
  }

  /// A line for the user; nil if the positions are in WGS 84.
  var notice: String? {
    code.map {
      "the positions are in the datum \(PrintedText.escaped($0)) (DTM), not WGS 84, and are used as they are; "
        + "set the receiver to WGS 84"
    }
  }
}
