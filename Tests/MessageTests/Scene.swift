// SPDX-License-Identifier: Apache-2.0
import GPSD
import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

// `Span.bytes` and `mutableBytes` are unsafe for types with bytes that no value fills. `UInt8` has no such bytes, so
// every `unsafe` in these tests is safe.
extension Array where Element == UInt8 {
  /// The elements as bytes.
  var raw: RawSpan {
    @_lifetime(borrow self) get { unsafe span.bytes }
  }
}

/// A sentence with its checksum and line end.
func sentence(_ content: String) -> [UInt8] {
  let sum = content.utf8.reduce(0 as UInt8) { $0 ^ $1 }
  let digits = Array("0123456789ABCDEF".utf8)
  return Array("$\(content)*".utf8) + [digits[Int(sum >> 4)], digits[Int(sum & 15)], 13, 10]
}

/// A UBX frame around a payload.
func ubx(_ messageClass: UInt8, _ id: UInt8, _ payload: [UInt8]) -> [UInt8] {
  var frame = [UInt8](repeating: 0, count: payload.count + 8)
  var span = frame.mutableSpan
  var output = unsafe span.mutableBytes
  _ = UBX.encodeFrame(MessageIdentity(messageClass, id), payload: payload.raw, into: &output)
  return frame
}

/// An RTCM 3 frame of fields, each given with its number of bits.
func rtcm3(_ fields: (value: Int64, bits: Int)...) -> [UInt8] { rtcm3(fields) }

/// The same for a list.
func rtcm3(_ fields: [(value: Int64, bits: Int)]) -> [UInt8] {
  var bits: [UInt8] = []
  for field in fields {
    for place in (0..<field.bits).reversed() { bits.append(UInt8(truncatingIfNeeded: field.value >> Int64(place) & 1)) }
  }
  while bits.count % 8 != 0 { bits.append(0) }
  let payload = stride(from: 0, to: bits.count, by: 8).map { start in
    bits[start..<start + 8].reduce(0 as UInt8) { $0 << 1 | $1 }
  }
  var frame = [UInt8](repeating: 0, count: payload.count + 6)
  var span = frame.mutableSpan
  var output = unsafe span.mutableBytes
  _ = RTCM3.encodeFrame(payload: payload.raw, into: &output)
  return frame
}

/// The JSON lines of a stream.
func lines(_ stream: [UInt8]) -> [String] {
  var line = JSONLine()
  var frames = FrameStream()
  frames.receive(stream.raw) { line.message($0) }
  frames.finish { line.message($0) }
  return line.text.split(separator: "\n").map(String.init)
}

/// The `fields` object of the only frame of a stream, without its braces.
func fields(_ stream: [UInt8]) -> String? {
  let all = lines(stream)
  guard all.count == 1 else { return nil }
  let key = Array("\"fields\":{".utf8)
  let bytes = Array(all[0].utf8)
  guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: key) }) else { return nil }
  return String(decoding: bytes[(start + key.count)...].dropLast(2), as: UTF8.self)
}

/// Writes a sentence, and returns its characters without the checksum and the line end.
func written<Content: SentenceContent>(_ content: Content, _ talker: Talker, texts: [UInt8] = []) -> String {
  var memory = [UInt8](repeating: 0, count: longestSentence)
  var span = memory.mutableSpan
  var output = unsafe span.mutableBytes
  let count = content.encode(talker: talker, texts: texts.raw, into: &output)
  return String(decoding: memory[0..<count - 5], as: UTF8.self)
}

/// The content of a sentence; nil for another kind of sentence.
func read<Content: SentenceContent>(_ bytes: [UInt8], _: Content.Type) -> Content? {
  var rejected = 0
  guard let sentence = Sentence(bytes.raw) else { return nil }
  return sentence.content(Content.self, rejected: &rejected)
}
