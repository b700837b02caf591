import ReceiverStream
import UBX
import WireBytes

/// What a killed reader had received of a batch: the bytes of the line as they came, written to a file before anybody looks
/// at them, because the receiver gives each entry up as it sends it.
///
///     receiver 4A11C0DE\n ┃ B5 62 21 11 64 00 … ┃ B5 62 21 11 … ┃ B5 62 21 11 64
///     whose they are        LOG-BATCH, whole      whole           cut by the end
///
/// A frame has its own length and checksum, so a file that ends anywhere is read as far as it is whole; the rest of its
/// last frame may still come from the line. The file only grows, and is emptied when all of it is delivered.
public struct BatchLog: Sendable, Equatable {
  /// The name of the receiver, as `header(_:)` was given it; nil when that is not whole.
  public var receiver: String?
  /// The LOG-BATCH payloads, oldest first.
  public var payloads: [[UInt8]] = []
  /// The beginning of a frame at the end.
  public var unfinishedFrame: [UInt8] = []

  /// More than the fixes of the largest batch and what comes meanwhile: a reader keeps no more in a file.
  public static var mostBytes: Int { 1 << 20 }

  /// Reads a log; of no bytes, an empty one.
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

  /// The line that a log begins with.
  ///
  /// - Parameter receiver: a name without line breaks, such as the chip's id.
  public static func header(_ receiver: String) -> [UInt8] { Array("receiver \(receiver)\n".utf8) }
}
