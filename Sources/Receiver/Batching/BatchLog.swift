// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX
import WireBytes

/// The bytes of a batch that a killed reader received: they are written to a file before they are decoded, because the
/// receiver discards each entry as it sends it.
///
///     receiver 4A11C0DE\n ┃ B5 62 21 11 64 00 … ┃ B5 62 21 11 … ┃ B5 62 21 11 64
///     the receiver          LOG-BATCH, whole      whole           cut by the end
///
/// A frame has its length and a checksum, so the whole frames of a cut file can be read; the rest of the last frame may
/// still arrive on the line. The file only grows, and is emptied once all of it is delivered.
public struct BatchLog: Sendable, Equatable {
  /// The name of the receiver in the header; nil if the header is incomplete.
  public var receiver: String?
  /// The LOG-BATCH payloads, oldest first.
  public var payloads: [[UInt8]] = []
  /// The frame that was cut by the end of the file.
  public var unfinishedFrame: [UInt8] = []

  /// The largest size of the file: more than the fixes of the largest batch, and the messages between them.
  public static var mostBytes: Int { 1 << 20 }

  /// Reads a log; no bytes are an empty log.
  public init(_ bytes: [UInt8]) {
    var rest = bytes[...]
    let prefix = Array("receiver ".utf8)
    if bytes.starts(with: prefix), let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      receiver = String(decoding: bytes[prefix.count..<end], as: UTF8.self)
      rest = bytes[(end + 1)...]
    }
    var stream = FrameStream()
    let all = Array(rest)
    var found: [[UInt8]] = []
    let span = all.span
    unsafe stream.receive(span.bytes) { frame in
      guard let ubx = frame.ubx, ubx.identity == .logBATCH else { return }
      found.append([UInt8](copying: ubx.payload))
    }
    payloads = found
    unfinishedFrame = Array(all[Int(stream.offset)...])
  }

  /// Returns the first line of a log.
  ///
  /// - Parameter receiver: a name without line breaks, such as the chip's id.
  public static func header(_ receiver: String) -> [UInt8] { Array("receiver \(receiver)\n".utf8) }
}
