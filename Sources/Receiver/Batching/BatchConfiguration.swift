import UBX

/// How a receiver keeps its fixes in its own memory (interface descriptions, "data batching").
public struct BatchConfiguration: Sendable, Hashable {
  /// Epochs to hold.
  public var epochs: Int
  /// With heights above sea level and all accuracies; then fewer fit.
  public var isExtended: Bool

  public init(epochs: Int, isExtended: Bool) {
    self.epochs = epochs
    self.isExtended = isExtended
  }

  /// Fixes are not kept any longer.
  public static let off = BatchConfiguration(epochs: 0, isExtended: false)

  var isOn: Bool { epochs > 0 }

  /// Sizes to try when more is refused, largest first: what firmware is documented to hold (integration manuals of M8
  /// SPG 3.51 and M10 SPG 5.10), then ever less.
  static let sizes = [600, 443, 309, 300, 261, 221, 156, 132, 100, 50, 20, 10]

  /// At most what the documents give the receiver's firmware; M9's say "five minutes", the M8's figure at 1 Hz.
  func clamped(for receiver: ReceiverDescription) -> BatchConfiguration {
    let isLarge =
      receiver.generation == .m10 && (receiver.protocolVersion ?? ProtocolVersion(0, 0)) >= ProtocolVersion(34, 10)
    let most = isLarge ? (isExtended ? 309 : 600) : (isExtended ? 156 : 300)
    return BatchConfiguration(epochs: min(epochs, most), isExtended: isExtended)
  }

  /// The next smaller one; nil when there is none.
  var smaller: BatchConfiguration? {
    Self.sizes.first { $0 < epochs }.map { BatchConfiguration(epochs: $0, isExtended: isExtended) }
  }

  /// CFG-BATCH with these; the notification pin stays as it is, its threshold has to be within the size. Nil when `found`
  /// is no such message.
  func applied(to found: [UInt8]) -> [UInt8]? {
    guard found.count >= 8 else { return nil }
    var payload = found
    guard isOn else {
      payload[1] &= ~1
      return payload
    }
    payload[1] = payload[1] & ~0b1101 | 1 | (isExtended ? 1 << 2 : 0)
    payload.set(u2: UInt16(clamping: epochs), at: 2)
    payload.set(u2: min(payload.u2(4), UInt16(clamping: epochs)), at: 4)
    return payload
  }

  /// As items (CFG-BATCH), the switch the last.
  var items: [ConfigurationPair] {
    guard isOn else { return [ConfigurationPair(id: 0x1026_0013, bits: 0)] }
    return [
      ConfigurationPair(id: 0x1026_001A, bits: isExtended ? 1 : 0), ConfigurationPair(id: 0x1026_001B, bits: 0),
      ConfigurationPair(id: 0x3026_0015, bits: UInt64(clamping: epochs)), ConfigurationPair(id: 0x1026_0013, bits: 1),
    ]
  }
}

extension Setting {
  /// Whether it is about batching.
  var isOfBatch: Bool {
    switch self {
    case .message(let identity, _, _): identity == .cfgBATCH
    case .item(let pair): pair.id >> 16 & 0xFFF == 0x026
    }
  }
}

extension DesiredConfiguration {
  /// Fixes are kept in the receiver, and nothing is said by itself.
  public static func batching(_ batch: BatchConfiguration, for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = navigation(for: receiver)
    for index in desired.messages.indices { desired.messages[index].rate = 0 }
    desired.batch = batch.clamped(for: receiver)
    desired.isSilent = true
    return desired
  }

  /// Nothing is changed, and nothing is expected to come by itself.
  public static var silent: DesiredConfiguration {
    var desired = DesiredConfiguration()
    desired.isSilent = true
    return desired
  }
}
