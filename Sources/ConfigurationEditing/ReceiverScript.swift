import Receiver

/// A conversation with a receiver as a value: it says what to say next, is told how that ended, and is over when it has
/// nothing more to say. Whoever holds the line carries it out.
public protocol ReceiverScript: Sendable {
  /// What to say next; nil when it is over. Asking again without an outcome in between gives the same.
  mutating func next() -> Command?
  /// How the last command ended.
  mutating func receive(_ outcome: Outcome)
  /// Whether a question that the receiver passes over, while it answers others, is taken for one that it refuses.
  var takesSilenceForRefusal: Bool { get }
  /// How much is done, and of how much as far as that is known by now.
  var progress: (done: Int, of: Int) { get }
}

extension ReceiverScript {
  public var takesSilenceForRefusal: Bool { false }
}
