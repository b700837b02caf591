// SPDX-License-Identifier: Apache-2.0

/// One thing to do on a receiver of another maker.
public enum ReceiverTask: Sendable, Hashable {
  case read(ReceiverValue.Kind)
  /// Reads a value. Where the output alone shows it, this is observed long enough for sentences of every tenth fix.
  case observe(ReceiverValue.Kind)
  case set(ReceiverValue)
  case act(ReceiverAction)

  public enum Result: Sendable, Hashable {
    /// The value that was read, or observed from what the receiver sends.
    case value(ReceiverValue)
    /// The receiver had the value, or has it now, or has done it.
    case wasThere, written
    /// The receiver refused it.
    case refused
    /// The family or this receiver does not have it; nothing was sent.
    case unsupported
    /// No reply, and what the receiver sends does not show it either.
    case silent
    /// The receiver accepted it, and what it sends or reports differs.
    case notVerified
    /// It was not done, because another task of the request failed, or the session ended before.
    case withdrawn
    /// The session ended after the first command was sent: it may be done.
    case interrupted

    public var isDone: Bool {
      switch self {
      case .value, .wasThere, .written: true
      case .refused, .unsupported, .silent, .notVerified, .withdrawn, .interrupted: false
      }
    }
  }
}
