import Receiver
import UBX

/// A setting as a receiver has it.
public struct SettingValue: Sendable, Equatable {
  /// Such as `CFG-RATE-MEAS` or `CFG-NAV5.dynModel`; an item that the database does not have is named by its key.
  public var name: String
  /// The key, for items.
  public var key: UInt32?
  /// In its unit: a number, several in brackets, or text in quotation marks.
  public var text: String
  /// As the interface description writes it; empty for none.
  public var unit: String
  /// What the firmware has it at when nothing was set; nil where the receiver does not tell.
  public var standard: String?

  /// Whether it is as the firmware has it when nothing was set; nil where the receiver does not tell.
  public var isStandard: Bool? { standard.map { $0 == text } }

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
  static func name(ofKey id: UInt32) -> String {
    let digits = String(id, radix: 16)
    return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// The fields of a record.
  static func fields(_ record: ConfigurationRecord, _ payload: [UInt8]) -> [SettingValue] {
    PayloadFields.list(record.identity, payload).filter { !ApplicationMask.isMask(record.identity, $0.path) }.map {
      SettingValue(
        name: "\(record.name).\($0.path)", text: PayloadFields.text($0, payload), unit: $0.layout.unit.description)
    }
  }
}
