// SPDX-License-Identifier: Apache-2.0
import UBX

extension Setting {
  /// Whether the setting changes the time between epochs.
  var changesEpochPeriod: Bool {
    switch self {
    case .item(let pair): EpochPeriod.items.contains(pair.id)
    case .message(let identity, _, _): identity == .cfgRATE
    }
  }
}

extension Setting.Change {
  /// Whether a message has a block for each desired constellation: CFG-GNSS has one for each that the receiver has.
  func has(all payload: [UInt8]) -> Bool {
    guard case .constellations(let desired) = self, payload.count >= 4 else { return true }
    let offsets = (0..<Int(payload[3])).map { 4 + 8 * $0 }
    let blocks = offsets.filter { $0 < payload.count }.map { payload[$0] }
    // QZSS is requested together with GPS; receivers without it are fine.
    return desired.allSatisfy { blocks.contains($0) || $0 == DesiredConfiguration.Constellation.qzss.rawValue }
  }

  /// The names of the fields that it changes, for messages with masks.
  var fieldNames: [String] {
    switch self {
    case .fields(let values): values.map(\.field.path)
    case .dynamicModel: ["dynModel"]
    case .answersToAssistance: ["ackAiding"]
    default: []
    }
  }

  /// The field with its point, to follow the name of the message.
  var fieldName: String {
    switch self {
    case .fields(let values): values.first.map { "." + $0.field.text } ?? ""
    case .measurementPeriod: ".measRate"
    case .dynamicModel: ".dynModel"
    case .answersToAssistance: ".ackAiding"
    case .messageRate: ".rate"
    default: ""
    }
  }
}
