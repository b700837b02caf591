/// Begins a log in the receiver's flash:
///
///     ask ── none, or an empty one, or erasing is allowed ──▶ (erase) ─▶ create ─▶ record ─▶ ask ── records ──▶ begun
///      └── positions are there ──▶ refused                              └── does not ─▶ record no more ─▶ refused
public struct FlashLogStart: Sendable {
  public enum Result: Sendable, Equatable {
    case begun(FlashLogStatus)
    /// A log is there, with so many entries: they are somebody's.
    case holds(Int)
    /// The receiver refuses this, or does not answer.
    case refused
  }

  private enum Step { case asking, erasing, creating, recording, checking, stopping, over }

  private var step = Step.asking
  private let erases: Bool
  private let usesItems: Bool
  public private(set) var result: Result?

  /// - Parameters:
  ///   - receiver: one that can `flashLog`.
  ///   - erases: whether what is in the log may be erased.
  public init(for receiver: ReceiverDescription, erases: Bool) {
    self.erases = erases
    usesItems = receiver.can(.valset)
  }

  /// What to say next; its outcome is received. Nil when there is a result.
  public func next() -> Command? {
    switch step {
    case .asking, .checking: FlashLogStatus.poll
    case .erasing: .erasesLog
    case .creating: .createsLog
    case .recording: .records(true, usesItems: usesItems)
    case .stopping: .records(false, usesItems: usesItems)
    case .over: nil
    }
  }

  public mutating func receive(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.asking, .answered(let payload)):
      guard let status = FlashLogStatus(payload) else { return end(.refused) }
      if status.entries > 0, !erases { return end(.holds(status.entries)) }
      step = status.isCreated || status.entries > 0 ? .erasing : .creating
    case (.erasing, .acknowledged): step = .creating
    case (.creating, .acknowledged): step = .recording
    case (.recording, .acknowledged): step = .checking
    case (.checking, .answered(let payload)):
      guard let status = FlashLogStatus(payload), status.isRecording else { return step = .stopping }
      end(.begun(status))
    case (.checking, _): step = .stopping
    default: end(.refused)
    }
  }

  private mutating func end(_ result: Result) {
    step = .over
    self.result = result
  }
}

extension DesiredConfiguration {
  /// Nothing is said by itself, while the receiver writes its positions to flash.
  public static func logging(for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = navigation(for: receiver)
    for index in desired.messages.indices { desired.messages[index].rate = 0 }
    desired.isSilent = true
    return desired
  }
}
