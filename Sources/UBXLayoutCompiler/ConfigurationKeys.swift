// SPDX-License-Identifier: Apache-2.0

/// An item of the configuration database, from a line of a `.keys` file.
struct ConfigurationKey {
  var name: String
  var id: UInt32
  var type: String
  var scale: String
  var unit: String
}

/// Parses the file of configuration items. The format is described in docs/reference/ubx-layouts.md.
///
///     CFG-TMODE-LAT 0x40030009 I4 1e-7 deg
///
/// The id determines the size of a value, and the type must have the same size.
func parseKeys(_ path: String) -> [ConfigurationKey] {
  var keys: [ConfigurationKey] = []
  var seen: Set<UInt32> = []
  var names: Set<String> = []
  var line = 0
  func stop(_ reason: String) -> Never { fail("\(path):\(line): error: \(reason)", 65) }
  for row in readFile(path).split(separator: "\n", omittingEmptySubsequences: false) {
    line += 1
    let words = row.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map(String.init)
    guard let name = words.first, !name.hasPrefix("#") else { continue }
    guard words.count >= 3, words.count <= 5, name.hasPrefix("CFG-"), words[1].hasPrefix("0x"),
      let id = UInt32(words[1].dropFirst(2), radix: 16)
    else { stop("expected: CFG-GROUP-ITEM 0xID TYPE [SCALE] [UNIT]") }
    guard let type = WireType(rawValue: words[2] == "L" ? "L1" : words[2]), type != .ch else {
      stop("unknown type \(words[2])")
    }
    guard type.size == valueSize(id) else { stop("\(name): the id says \(valueSize(id)) bytes, unlike \(words[2])") }
    guard seen.insert(id).inserted, names.insert(name).inserted else { stop("\(name) stands twice") }
    var scale = ""
    var unit = ""
    switch words.count {
    case 5: (scale, unit) = (words[3], words[4])
    case 4: if scaleLiteral(words[3]) != nil { scale = words[3] } else { unit = words[3] }
    default: break
    }
    guard scale.isEmpty || scaleLiteral(scale) != nil else { stop("cannot read the scale \(scale)") }
    keys.append(ConfigurationKey(name: name, id: id, type: "\(type)", scale: scale, unit: unit))
  }
  return keys.sorted { $0.id < $1.id }
}

/// The size of an item's value in bytes, from bits 28 to 30 of its id (interface descriptions, "configuration item").
private func valueSize(_ id: UInt32) -> Int { [0, 1, 1, 2, 4, 8, 0, 0][Int(id >> 28 & 7)] }
