// SPDX-License-Identifier: Apache-2.0

// SPARTN frames: the encoder must reproduce a found frame, byte for byte, from the values that were read.
import RTCM3

func fuzzSPARTN(_ input: [UInt8]) {
  for bytes in [input, repaired(input)] {
    printMessages(bytes)
    guard case .frame(let length) = SPARTNFrame.scan(bytes.raw) else { continue }
    guard let frame = SPARTNFrame(bytes.raw.extracting(..<length)) else { fatalError("no frame of \(length) bytes") }
    let again = framed(frame.header, copy(frame.payload), copy(frame.authentication))
    guard again == Array(bytes[..<length]) else { fatalError("\(bytes[..<length]) became \(again)") }
  }
}

/// The input with correct checks, which a fuzzer does not find on its own.
private func repaired(_ input: [UInt8]) -> [UInt8] {
  guard input.count >= SPARTNFrame.shortest else { return [] }
  var bytes = input
  bytes[0] = SPARTNFrame.preamble
  for check in 0..<16 as Range<UInt8> {
    bytes[3] = bytes[3] & 0xF0 | check
    guard case .needs = SPARTNFrame.scan(bytes.raw.extracting(..<4)) else { continue }
    break
  }
  let sum = [MessageCheck.crc8, .crc16, .crc24, .crc32][Int(bytes[3] >> 4 & 3)]
  let length: Int
  switch SPARTNFrame.scan(bytes.raw) {
  case .needs(let needed) where needed <= SPARTNFrame.longest && needed > bytes.count:
    bytes += [UInt8](repeating: 0, count: needed - bytes.count)
    length = needed
  default: return bytes
  }
  let value = sum.value(of: bytes.raw, from: 1, count: length - 1 - sum.size)
  for index in 0..<sum.size {
    bytes[length - 1 - index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index))
  }
  return bytes
}
