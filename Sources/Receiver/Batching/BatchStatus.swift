// SPDX-License-Identifier: Apache-2.0
import UBX

/// The fill level of a receiver's batch (interface descriptions, MON-BATCH).
public struct BatchStatus: Sendable, Equatable {
  /// The number of stored epochs.
  public var fillLevel: Int
  /// The number of epochs overwritten since batching was set up, or since the start of the receiver.
  public var drops: Int
  /// The number of the next LOG-BATCH.
  public var nextNumber: UInt16

  public static var poll: Command { .poll(.monBATCH) }

  /// Reads the payload of the reply; nil if it is no such message.
  public init?(_ payload: [UInt8]) {
    guard payload.count >= 12, payload[0] == 0 else { return nil }
    fillLevel = Int(payload.u2(4))
    drops = Int(payload.u2(6))
    nextNumber = payload.u2(10)
  }
}
