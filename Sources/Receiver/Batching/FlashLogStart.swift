// SPDX-License-Identifier: Apache-2.0

/// Begins a log in the receiver's flash:
///
///     poll ── no entries, or erasing is allowed ──▶ (erase) ─▶ create ─▶ record ─▶ poll ── records ──▶ begun
///      └── entries ──▶ holds                                                        └── does not ─▶ stop ─▶ refused
public struct FlashLogStart: Sendable {
  public enum Result: Sendable, Equatable {
    case begun(FlashLogStatus)
    /// There is a log with this many entries, which may not be erased.
    case holds(Int)
    /// The receiver refused a command, or did not reply.
    case refused
  }

  private enum Step { case polling, erasing, creating, recording, checking, stopping, over }

  private var step = Step.polling
  private let erases: Bool
  private let usesItems: Bool
  public private(set) var result: Result?

  /// - Parameters:
  ///   - receiver: a receiver with the capability `flashLog`.
  ///   - erases: whether an existing log may be erased.
  public init(for receiver: ReceiverDescription, erases: Bool) {
    self.erases = erases
    usesItems = receiver.can(.valset)
  }

  /// Returns the next command; nil once there is a result.
  public func next() -> Command? {
    switch step {
    case .polling, .checking: FlashLogStatus.poll
    case .erasing: .erasesLog
    case .creating: .createsLog
    case .recording: .records(true, usesItems: usesItems)
    case .stopping: .records(false, usesItems: usesItems)
    case .over: nil
    }
  }

  public mutating func receive(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.polling, .answered(let payload)):
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
  /// Returns a configuration without periodic messages, for a receiver that writes its positions to flash.
  public static func logging(for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = navigation(for: receiver)
    for index in desired.messages.indices { desired.messages[index].rate = 0 }
    desired.isSilent = true
    return desired
  }
}
