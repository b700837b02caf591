// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

extension FieldLayout {
  /// Whether the field has keys with their values: the data of CFG-VALSET and CFG-VALGET.
  func hasConfigurationPairs(_ layout: MessageLayout) -> Bool {
    count == 0 && type == .u1 && (layout.identity == CfgVALSET.identity || layout.identity == CfgVALGET.identity)
  }
}

extension JSONLine {
  /// Writes configuration items as an array of `{"key":"CFG-RATE-MEAS","id":807469057,"value":0.1}`, values in the unit
  /// of the item. An item that is not in the database has no key, and its value is the unsigned number. Returns false
  /// if bytes remain that are not a pair.
  mutating func configuration(_ bytes: RawSpan, _ key: StaticString) -> Bool {
    beginArray(key)
    var pairs = ConfigurationPairs(bytes)
    while let pair = pairs.next() {
      beginObject()
      let item = pair.item
      if let item { field("key", text: item.name.description) }
      field("id", Int64(pair.id))
      name("value")
      if let item { value(pair.bits, item.type, item.scale) } else { value(pair.bits, .u8, .one) }
      endObject()
    }
    endArray()
    return pairs.isComplete
  }
}
