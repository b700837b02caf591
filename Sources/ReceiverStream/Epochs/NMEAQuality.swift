// SPDX-License-Identifier: Apache-2.0
import NMEA

// The quality of a fix by the indicators of its sentences.
extension EpochAssembler {
  static func quality(ofGGA quality: Int32) -> Fix.Quality {
    switch quality {
    case 1: .autonomous
    case 2: .differential
    case 3: .preciseService
    case 4: .rtkFixed
    case 5: .rtkFloat
    case 6: .estimated
    case 7: .manual
    case 8: .simulated
    // NovAtel: corrected by SBAS.
    case 9: .differential
    default: .unknown
    }
  }

  static func quality(ofMode mode: UInt8?) -> Fix.Quality {
    switch mode {
    case UInt8(ascii: "A"): .autonomous
    case UInt8(ascii: "D"): .differential
    case UInt8(ascii: "P"): .preciseService
    case UInt8(ascii: "R"): .rtkFixed
    case UInt8(ascii: "F"): .rtkFloat
    case UInt8(ascii: "E"): .estimated
    case UInt8(ascii: "M"): .manual
    case UInt8(ascii: "S"): .simulated
    default: .unknown
    }
  }

  /// The best mode of GNS; `unknown` if no system has a mode, nil if the field is absent.
  static func quality(ofModes modes: ShortText?) -> Fix.Quality? {
    guard let modes else { return nil }
    var best: Fix.Quality?
    for index in 0..<Int(modes.count) {
      let quality = quality(ofMode: modes.characters[index])
      if quality != .unknown || modes.characters[index] == UInt8(ascii: "N") {
        best = Fix.Quality(rawValue: max(quality.rawValue, best?.rawValue ?? 0))
      }
    }
    return best
  }
}
