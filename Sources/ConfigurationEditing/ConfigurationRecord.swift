import Receiver
import UBX

/// A CFG message as a receiver keeps it; one of several where a selector says which: `CFG-NAV5`, `CFG-PRT[1]`,
/// `CFG-MSG[NAV-PVT]`.
public struct ConfigurationRecord: Sendable, Hashable {
  var identity: MessageIdentity
  /// What the question for it carries.
  var selector: [UInt8]

  init(_ identity: MessageIdentity, _ selector: [UInt8] = []) {
    self.identity = identity
    self.selector = selector
  }

  /// How the answers of a CFG message are told apart.
  private enum Selector { case none, number, message }

  private static func selector(_ identity: MessageIdentity) -> Selector {
    switch identity {
    case .cfgMSG: .message
    case .cfgPRT, .cfgINF, .cfgTP5: .number
    default: .none
    }
  }

  /// The CFG messages that hold settings, by the order of their ids. Left out are those that act (RST, CFG, PWR, NVS), the
  /// items, and what is written once or secret (OTP, FIXSEED, DYNSEED).
  static let declared: [(name: String, identity: MessageIdentity)] = {
    let left: Set<UInt8> = [0x04, 0x09, 0x22, 0x41, 0x57, 0x84, 0x85, 0x8A, 0x8B, 0x8C]
    var all: [(String, MessageIdentity)] = []
    for layout in MessageLayout.all where layout.identity.messageClass == 0x06 {
      guard !left.contains(layout.identity.messageID), all.last?.1 != layout.identity else { continue }
      all.append((layout.name.description, layout.identity))
    }
    return all
  }()

  /// All records that a receiver may have. Each that it has not is refused and costs nothing more.
  static let all: [ConfigurationRecord] = declared.flatMap { _, identity in
    switch identity {
    case .cfgMSG:
      MessageNames.all.map { ConfigurationRecord(identity, [$0.identity.messageClass, $0.identity.messageID]) }
    case .cfgPRT: (0...4 as ClosedRange<UInt8>).map { ConfigurationRecord(identity, [$0]) }
    case .cfgINF, .cfgTP5: (0...1 as ClosedRange<UInt8>).map { ConfigurationRecord(identity, [$0]) }
    default: [ConfigurationRecord(identity)]
    }
  }

  /// The record's name.
  var name: String {
    let message = Self.declared.first { $0.identity == identity }?.name ?? "CFG-0x" + hexadecimal(identity.messageID)
    switch Self.selector(identity) {
    case .message where selector.count == 2:
      return message + "[" + MessageNames.name(MessageIdentity(selector[0], selector[1])) + "]"
    case .number where selector.count == 1: return message + "[\(selector[0])]"
    default: return message
    }
  }

  /// Reads a record's name, whatever its case; nil when there is no such message, or it needs to be said which one.
  init?(named text: some StringProtocol) {
    let parts = text.split(separator: "[", maxSplits: 1)
    guard let first = parts.first, let message = Self.declared.first(where: { $0.name == first.uppercased() }) else {
      return nil
    }
    identity = message.identity
    guard parts.count == 2 else {
      guard ![.cfgMSG, .cfgINF].contains(identity) else { return nil }
      selector = []
      return
    }
    guard parts[1].last == "]" else { return nil }
    let which = parts[1].dropLast()
    switch Self.selector(identity) {
    case .none: return nil
    case .number:
      guard let number = UInt8(which) else { return nil }
      selector = [number]
    case .message:
      guard let message = MessageNames.message(which) else { return nil }
      selector = [message.messageClass, message.messageID]
    }
  }
}
