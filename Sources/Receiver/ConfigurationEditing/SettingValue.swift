// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// The value of a setting in a receiver.
package struct SettingValue: Sendable, Equatable {
  /// Such as `CFG-RATE-MEAS` or `CFG-NAV5.dynModel`; the key for an item that the database lacks.
  package var name: String
  /// The key of an item; nil for a field.
  package var key: UInt32?
  /// The value in its unit: a number, an array in brackets, or text in quotation marks.
  package var text: String
  /// The unit as in the interface description; may be empty.
  package var unit: String
  /// The default of the firmware; nil if the receiver does not report it.
  package var standard: String?

  /// Whether the value is the default of the firmware; nil if the receiver does not report the default.
  package var isStandard: Bool? { standard.map { $0 == text } }

  init(_ pair: ConfigurationPair, standard: UInt64? = nil) {
    let item = pair.item
    let type = item?.type ?? ConfigurationItem.plainType(pair.id)
    let scale = item?.scale ?? .one
    name = item?.name.description ?? Self.name(ofKey: pair.id)
    key = pair.id
    text = WireText.text(pair.bits, type, scale)
    unit = item?.unit.description ?? ""
    self.standard = standard.map { WireText.text($0, type, scale) }
  }

  init(name: String, text: String, unit: String) {
    self.name = name
    self.text = text
    self.unit = unit
  }

  /// `0x30210001`.
  static func name(ofKey id: UInt32) -> String { "0x\(id.hexadecimalDigits)" }

  /// The fields of a record.
  static func fields(_ record: ConfigurationRecord, _ payload: [UInt8]) -> [SettingValue] {
    PayloadFields.list(record.identity, payload).filter { !ApplicationMask.isMask(record.identity, $0.path) }.map {
      SettingValue(
        name: "\(record.name).\($0.path)", text: PayloadFields.text($0, payload), unit: $0.layout.unit.description)
    }
  }
}
