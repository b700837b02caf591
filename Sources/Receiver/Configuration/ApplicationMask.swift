// SPDX-License-Identifier: Apache-2.0
import UBX

/// What makes a receiver apply the fields of a CFG message that has masks (interface descriptions, CFG-NAV5 mask, CFG-NAVX5
/// mask1 and mask2).
package enum ApplicationMask {
  /// CFG-NAV5 mask: the bit of each field's group.
  private static let nav5: [(fields: [String], bit: UInt16)] = [
    (["dynmodel"], 0), (["minelev"], 1), (["fixmode", "fixedalt", "fixedaltvar"], 2), (["drlimit"], 3),
    (["pdop", "pacc"], 4), (["tdop", "tacc"], 5), (["staticholdthresh", "staticholdmaxdist"], 6), (["dgnsstimeout"], 7),
    (["cnothreshnumsvs", "cnothresh"], 8), (["utcstandard"], 10),
  ]
  /// CFG-NAVX5 mask1.
  private static let navx5: [(fields: [String], bit: UInt16)] = [
    (["minsvs", "maxsvs"], 2), (["mincno"], 3), (["inifix3d"], 6), (["wknrollover"], 9), (["ackaiding"], 10),
    (["useppp"], 13), (["aopcfg", "aoporbmaxerr"], 14),
  ]
  /// CFG-NAVX5 mask2.
  private static let navx5Second: [(fields: [String], bit: UInt16)] = [(["useadr"], 6), (["sigattencompmode"], 7)]

  /// Sets the masks so that these fields, and no others, are applied.
  package static func set(_ identity: MessageIdentity, for fields: [String], in payload: inout [UInt8]) {
    switch identity {
    case .cfgNAV5 where payload.count >= 2: payload.set(u2: mask(nav5, fields), at: 0)
    case .cfgNAVX5 where payload.count >= 8:
      payload.set(u2: mask(navx5, fields), at: 2)
      payload.set(u4: UInt32(mask(navx5Second, fields)), at: 4)
    default: break
    }
  }

  /// Whether a field is a mask, which is no setting.
  package static func isMask(_ identity: MessageIdentity, _ path: String) -> Bool {
    identity == .cfgNAV5 && path == "mask" || identity == .cfgNAVX5 && (path == "mask1" || path == "mask2")
  }

  private static func mask(_ table: [(fields: [String], bit: UInt16)], _ fields: [String]) -> UInt16 {
    let fields = fields.map { $0.lowercased() }
    return table.reduce(0) { mask, row in row.fields.contains { fields.contains($0) } ? mask | 1 << row.bit : mask }
  }
}
