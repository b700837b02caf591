// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// SkyTraq's binary frames (AN0003).
struct SkyTraq: FamilyLanguage {
  var probes: [Command] {
    [Command(.skyTraq, 0x02, [0x01], FamilyAnswer(.binary(.skyTraq, 0x80), .skyTraq(0x02)), attempts: 2)]
  }

  /// The software version: its type, then kernel, customer's and revision, three numbers each in four bytes.
  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered(let reply) = outcome, reply.count >= 13 else { return nil }
    let numbers = [2, 3, 4].map { "\(reply[$0])" }.joined(separator: ".")
    let revision = [10, 11, 12].map { reply[$0] < 10 ? "0\(reply[$0])" : "\(reply[$0])" }.joined()
    return ReceiverDescription(
      family: .skyTraq, model: nil, firmware: "\(numbers) \(revision)", hardware: "", capabilities: [])
  }
}
