// SPDX-License-Identifier: Apache-2.0
import UBX

/// How a receiver stores fixes in its own memory (interface descriptions, "data batching").
public struct BatchConfiguration: Sendable, Hashable {
  /// The number of epochs to store.
  public var epochs: Int
  /// Whether heights above sea level and all accuracies are stored; then fewer epochs fit.
  public var isExtended: Bool
  /// Whether the logger of another maker's receiver erases its earlier records, including a user's.
  public var erasesEarlier = false

  public init(epochs: Int, isExtended: Bool, erasesEarlier: Bool = false) {
    self.epochs = epochs
    self.isExtended = isExtended
    self.erasesEarlier = erasesEarlier
  }

  /// No fixes are stored.
  public static let off = BatchConfiguration(epochs: 0, isExtended: false)

  var isOn: Bool { epochs > 0 }

  /// The sizes to try after a refusal, largest first: the documented ones (integration manuals of M8 SPG 3.51 and M10
  /// SPG 5.10), then smaller ones.
  static let sizes = [600, 443, 309, 300, 261, 221, 156, 132, 100, 50, 20, 10]

  /// Limits the size to the documented one; for M9 the documents give "five minutes", as for M8 at 1 Hz.
  func clamped(for receiver: ReceiverDescription) -> BatchConfiguration {
    if receiver.family != nil { return self }
    let isLarge =
      receiver.generation == .m10 && (receiver.protocolVersion ?? ProtocolVersion(0, 0)) >= ProtocolVersion(34, 10)
    let most = isLarge ? (isExtended ? 309 : 600) : (isExtended ? 156 : 300)
    return BatchConfiguration(epochs: min(epochs, most), isExtended: isExtended)
  }

  /// The next smaller configuration; nil for the smallest.
  var smaller: BatchConfiguration? {
    Self.sizes.first { $0 < epochs }.map { BatchConfiguration(epochs: $0, isExtended: isExtended) }
  }

  /// Returns CFG-BATCH with this configuration; nil if `found` is another message. The notification pin is unchanged, and
  /// its threshold is kept within the size.
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

  /// The items of CFG-BATCH, the switch last.
  var items: [ConfigurationPair] {
    guard isOn else { return [ConfigurationPair(id: 0x1026_0013, bits: 0)] }
    return [
      ConfigurationPair(id: 0x1026_001A, bits: isExtended ? 1 : 0), ConfigurationPair(id: 0x1026_001B, bits: 0),
      ConfigurationPair(id: 0x3026_0015, bits: UInt64(clamping: epochs)), ConfigurationPair(id: 0x1026_0013, bits: 1),
    ]
  }
}

extension Setting {
  /// Whether the setting belongs to batching.
  var isOfBatch: Bool {
    switch self {
    case .message(let identity, _, _): identity == .cfgBATCH
    case .item(let pair): pair.id >> 16 & 0xFFF == 0x026
    }
  }
}

extension DesiredConfiguration {
  /// Returns a configuration that stores fixes in the receiver and switches all periodic messages off.
  public static func batching(_ batch: BatchConfiguration, for receiver: ReceiverDescription) -> DesiredConfiguration {
    var desired = navigation(for: receiver)
    for index in desired.messages.indices { desired.messages[index].rate = 0 }
    desired.batch = batch.clamped(for: receiver)
    desired.isSilent = true
    return desired
  }

  /// A configuration without a change, for a receiver that sends nothing by itself.
  public static var silent: DesiredConfiguration {
    var desired = DesiredConfiguration()
    desired.isSilent = true
    return desired
  }
}
