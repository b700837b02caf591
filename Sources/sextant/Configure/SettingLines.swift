// SPDX-License-Identifier: Apache-2.0
import GPSD
import Receiver

/// The output of `configure show` and `get`.
struct SettingLines {
  var device: String
  var receiver: ReceiverDescription
  var values: [SettingValue]

  /// Returns one line for each setting: name, value, unit.
  func lines() -> String {
    let width = min(48, values.map(\.name.utf8.count).max() ?? 0)
    return values.map { value in
      let gap = String(repeating: " ", count: max(1, width + 2 - value.name.utf8.count))
      return value.name + gap + value.text + (value.unit.isEmpty ? "" : " " + value.unit) + "\n"
    }.joined()
  }

  /// Returns one object: the receiver, and the settings with their values as numbers, arrays or strings.
  func json() -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: device)
    line.field("model", textOrNull: receiver.model)
    line.field("firmware", textOrNull: receiver.firmware)
    line.beginArray("settings")
    for value in values {
      line.beginObject()
      line.field("name", text: value.name)
      if let key = value.key { line.field("id", Int64(key)) }
      line.name("value")
      put(value.text, &line)
      if !value.unit.isEmpty { line.field("unit", text: value.unit) }
      line.endObject()
    }
    line.endArray()
    line.endObject()
    line.endLine()
    return line.text
  }

  /// Writes a value as JSON. Bit fields are integers.
  private func put(_ text: String, _ line: inout JSONLine) {
    if text.hasPrefix("\"") { return line.string(text.dropFirst().dropLast().utf8) }
    if text.hasPrefix("[") {
      let parts = text.dropFirst().dropLast().split(separator: ",").map { number($0) }
      return raw("[" + parts.joined(separator: ",") + "]", &line)
    }
    // The values of receivers of other makers are the words of `set`.
    if receiver.family != nil, Double(text) == nil { return line.string(text.utf8) }
    raw(number(text[...]), &line)
  }

  private func number(_ text: Substring) -> String {
    if text.hasPrefix("0x"), let bits = UInt64(text.dropFirst(2), radix: 16) { return String(bits) }
    // JSON has no infinite number and no NaN.
    return Double(text)?.isFinite == true ? String(text) : "null"
  }

  private func raw(_ text: String, _ line: inout JSONLine) { for byte in text.utf8 { line.put(raw: byte) } }
}
