import UBX

/// How full a receiver's batch is (interface descriptions, MON-BATCH).
public struct BatchStatus: Sendable, Equatable {
  /// Epochs that wait.
  public var fillLevel: Int
  /// Epochs that were overwritten since batching was set up; starts anew with the receiver.
  public var drops: Int
  /// The number that the next LOG-BATCH will have.
  public var nextNumber: UInt16

  /// The question.
  public static var poll: Command { .poll(.monBATCH) }

  /// Reads the answer's payload; nil when it is no such message.
  public init?(_ payload: [UInt8]) {
    guard payload.count >= 12, payload[0] == 0 else { return nil }
    fillLevel = Int(payload.u2(4))
    drops = Int(payload.u2(6))
    nextNumber = payload.u2(10)
  }
}
