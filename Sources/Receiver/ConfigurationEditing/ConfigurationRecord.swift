// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// A CFG message that a receiver stores. Some messages exist once for each selector: `CFG-NAV5`, `CFG-PRT[1]`,
/// `CFG-MSG[NAV-PVT]`.
package struct ConfigurationRecord: Sendable, Hashable {
  var identity: MessageIdentity
  /// The payload of the poll request.
  var selector: [UInt8]

  init(_ identity: MessageIdentity, _ selector: [UInt8] = []) {
    self.identity = identity
    self.selector = selector
  }

  /// The kind of selector that a CFG message has.
  private enum Selector { case none, number, message }

  private static func selector(_ identity: MessageIdentity) -> Selector {
    switch identity {
    case .cfgMSG: .message
    case .cfgPRT, .cfgINF, .cfgTP5: .number
    default: .none
    }
  }

  /// The CFG messages with settings, in the order of their ids. Excluded are messages that act (RST, CFG, PWR, NVS),
  /// the configuration items, and messages that are written once or are secret (OTP, FIXSEED, DYNSEED).
  static let declared: [(name: String, identity: MessageIdentity)] = {
    let excluded: Set<UInt8> = [0x04, 0x09, 0x22, 0x41, 0x57, 0x84, 0x85, 0x8A, 0x8B, 0x8C]
    var all: [(String, MessageIdentity)] = []
    for layout in MessageLayout.all where layout.identity.messageClass == 0x06 {
      guard !excluded.contains(layout.identity.messageID), all.last?.1 != layout.identity else { continue }
      all.append((layout.name.description, layout.identity))
    }
    return all
  }()

  /// All records that a receiver may have. A receiver refuses the poll of a record that it lacks.
  static let all: [ConfigurationRecord] = declared.flatMap { _, identity in
    switch identity {
    case .cfgMSG:
      MessageNames.all.map { ConfigurationRecord(identity, [$0.identity.messageClass, $0.identity.messageID]) }
    case .cfgPRT: (0...4 as ClosedRange<UInt8>).map { ConfigurationRecord(identity, [$0]) }
    case .cfgINF, .cfgTP5: (0...1 as ClosedRange<UInt8>).map { ConfigurationRecord(identity, [$0]) }
    default: [ConfigurationRecord(identity)]
    }
  }

  /// The name of the record, such as `CFG-PRT[1]`.
  var name: String {
    let message =
      Self.declared.first { $0.identity == identity }?.name ?? "CFG-0x" + identity.messageID.hexadecimalDigits
    switch Self.selector(identity) {
    case .message where selector.count == 2:
      return message + "[" + MessageNames.name(MessageIdentity(selector[0], selector[1])) + "]"
    case .number where selector.count == 1: return message + "[\(selector[0])]"
    default: return message
    }
  }

  /// Reads the name of a record in upper or lower case; nil if there is no such message or a required selector is
  /// missing.
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
    let key = parts[1].dropLast()
    switch Self.selector(identity) {
    case .none: return nil
    case .number:
      guard let number = UInt8(key) else { return nil }
      selector = [number]
    case .message:
      guard let message = MessageNames.message(key) else { return nil }
      selector = [message.messageClass, message.messageID]
    }
  }
}
