// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The generations of u-blox receivers that differ for a driver.
public enum Generation: String, Sendable, CaseIterable {
  case m6 = "M6", m7 = "M7", m8 = "M8", m9 = "M9", m10 = "M10", f9 = "F9", f10 = "F10", x20 = "X20"
  /// Receivers of corrections, without a position: NEO-D9S (L-band) and NEO-D9C (QZSS L6).
  case d9 = "D9"

  /// Returns the generation by MON-VER: by the module name if there is one, then by the protocol version, then by the
  /// hardware version, which M9 and F9, and M10 and F10, share.
  static func of(module: String?, version: ProtocolVersion?, firmware: String?, hardware: String) -> Generation? {
    if let module = module?.uppercased() {
      let names: [(String, Generation)] = [
        ("X20", .x20), ("F10", .f10), ("M10", .m10), ("F9", .f9), ("M9", .m9), ("M8", .m8), ("D9", .d9),
      ]
      for (name, generation) in names where module.includes(name) { return generation }
    }
    if let firmware, ["PMP ", "QZS "].contains(where: firmware.hasPrefix) { return .d9 }
    switch version?.major {
    case 12?, 13?: return .m6
    case 14?: return .m7
    case (15...23)?: return .m8
    case (24...31)?: return .f9
    case 32?: return .m9
    case (33...35)?: return hardware.hasPrefix("0019") ? (isStandard(firmware) ? .m9 : .f9) : .m10
    case (40...49)?: return .f10
    case (50...)?: return .x20
    default: break
    }
    switch hardware.prefix(8).uppercased() {
    case "00040005", "00040007": return .m6
    case "00070000": return .m7
    case "00080000": return .m8
    case "00190000": return isStandard(firmware) ? .m9 : .f9
    case "000A0000": return .m10
    case "000B0000": return .x20
    default: return nil
    }
  }

  /// Standard precision firmware runs on M9, other firmware on F9.
  private static func isStandard(_ firmware: String?) -> Bool { firmware?.hasPrefix("SPG") ?? false }
}
