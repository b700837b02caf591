// SPDX-License-Identifier: Apache-2.0
import UBX

@testable import Receiver

/// The polls of identification: all that may be sent to a receiver whose family is unknown.
enum IdentificationProbes {
  /// A poll may be repeated in one write.
  private static func writes(of family: ReceiverFamily) -> Set<[UInt8]> {
    Set((family.language?.probes ?? []).flatMap { [$0.bytes, $0.bytes + $0.bytes] })
  }

  static let mediaTek = writes(of: .mediaTek)
  private static let families = ReceiverFamily.allCases.reduce(into: Set()) { $0.formUnion(writes(of: $1)) }
  private static let uBlox: [MessageIdentity] = [.monVER, .secUNIQID, .monCOMMS]

  /// A line end can precede a line of text.
  static func contains(_ bytes: [UInt8]) -> Bool {
    families.contains(Array(bytes.drop { $0 == 13 || $0 == 10 })) || arePollsOfUBlox(bytes)
  }

  /// Whether the bytes are frames without a payload.
  private static func arePollsOfUBlox(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty, bytes.count.isMultiple(of: 8) else { return false }
    return stride(from: 0, to: bytes.count, by: 8).allSatisfy { start in
      uBlox.contains { Command.poll($0).bytes == Array(bytes[start..<start + 8]) }
    }
  }
}
