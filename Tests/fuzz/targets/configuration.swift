// SPDX-License-Identifier: Apache-2.0

// Lists of configuration items: iterated, their values converted to units and back, rewritten, printed.
import UBX

func fuzzConfiguration(_ list: [UInt8]) {
  guard list.count <= 4096 else { return }
  printMessages(ubx(0x06, 0x8A, [0, 1, 0, 0] + list))
  printMessages(ubx(0x06, 0x8B, [1, 0, 0, 0] + list))

  var pairs = ConfigurationPairs(list.raw)
  var kept: [ConfigurationPair] = []
  while let pair = pairs.next(), kept.count < ConfigurationWriter.mostItems {
    if let item = pair.item {
      let value = pair.value(of: item)
      // A logical value can only be set to 0 or 1, and a `Double` does not hold every integer of eight bytes.
      let isExact = item.type != .l && item.type.size < 8
      guard !isExact || ConfigurationPair(item, value) != nil else { fatalError("\(item.name) refuses \(value)") }
    }
    kept.append(pair)
  }
  let frame = written(room: 1024) { output in
    var writer = ConfigurationWriter(.valset(layers: 1), output._mutatingExtracting(...))
    for pair in kept where !writer.append(pair) { fatalError("no room for \(pair)") }
    return writer.finish()
  }
  guard let read = UBXFrame(frame.raw) else { fatalError("no frame: \(frame)") }
  var again = ConfigurationPairs(read.payload.extracting(4...))
  for pair in kept where again.next() != pair { fatalError("\(pair) is lost") }
}
