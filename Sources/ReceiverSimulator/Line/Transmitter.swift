// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// The sending side of a UART: messages wait in a buffer and leave at the line's rate. A message that does not fit is
/// dropped as a whole, as receivers do (interface descriptions, MON-TXBUF).
struct Transmitter: Sendable {
  /// A message in the buffer.
  struct Piece: Sendable {
    var bytes: [UInt8]
    /// The time of its first bit.
    var start: Instant
    var byteNanoseconds: UInt64
    /// Its rate in baud; 0 on USB.
    var rate: UInt32
    /// The number of bytes that were taken off the line.
    var taken = 0

    var end: Instant { Instant(nanoseconds: start.nanoseconds + UInt64(bytes.count) * byteNanoseconds) }

    /// The number of bytes that are completely sent.
    func sent(by now: Instant) -> Int {
      guard now > start else { return 0 }
      return min(bytes.count, Int((now.nanoseconds - start.nanoseconds) / byteNanoseconds))
    }
  }

  /// The rate in baud of the messages that are added from now on.
  var rate: UInt32
  /// Whether the port is USB, which has no rate.
  let isUSB: Bool
  private let capacity: Int
  private(set) var pieces: [Piece] = []
  /// The time at which the buffer is empty.
  private(set) var freeAt = Instant.zero
  private(set) var droppedMessages = 0
  private(set) var sentBytes: UInt64 = 0

  init(rate: UInt32, isUSB: Bool, capacity: Int) {
    self.rate = rate
    self.isUSB = isUSB
    self.capacity = capacity
  }

  /// The duration of a byte: a start bit, eight data bits and a stop bit. Full-speed USB is as fast as its packets
  /// allow.
  static func byteNanoseconds(rate: UInt32, isUSB: Bool) -> UInt64 {
    isUSB || rate == 0 ? 1000 : 10_000_000_000 / UInt64(rate)
  }

  /// The number of bytes that are not sent yet.
  func pending(at now: Instant) -> Int { pieces.reduce(0) { $0 + $1.bytes.count - $1.sent(by: now) } }

  /// Adds a message, or drops it if there is no room.
  mutating func send(_ bytes: [UInt8], at now: Instant) {
    guard !bytes.isEmpty else { return }
    guard pending(at: now) + bytes.count <= capacity else { return droppedMessages += 1 }
    let start = max(now, freeAt)
    let piece = Piece(
      bytes: bytes, start: start, byteNanoseconds: Self.byteNanoseconds(rate: rate, isUSB: isUSB),
      rate: isUSB ? 0 : rate)
    freeAt = piece.end
    pieces.append(piece)
    sentBytes += UInt64(bytes.count)
  }

  /// Stops sending now, possibly in the middle of a byte. The rest is lost.
  mutating func cut(at now: Instant) {
    pieces = pieces.compactMap { piece in
      var piece = piece
      piece.bytes.removeLast(piece.bytes.count - piece.sent(by: now))
      return piece.bytes.count > piece.taken ? piece : nil
    }
    freeAt = now
  }

  /// Cuts the line: bytes that were sent and not taken are lost too.
  mutating func discard(at now: Instant) {
    pieces = []
    freeAt = now
  }

  /// Takes the bytes that were sent by now. `body` receives each message's part and its rate.
  mutating func take(by now: Instant, _ body: ([UInt8], UInt32) -> Void) {
    var finished = 0
    for index in pieces.indices {
      let sent = pieces[index].sent(by: now)
      let from = pieces[index].taken
      if sent > from { body(Array(pieces[index].bytes[from..<sent]), pieces[index].rate) }
      pieces[index].taken = sent
      if sent < pieces[index].bytes.count { break }
      finished += 1
    }
    if finished > 0 { pieces.removeFirst(finished) }
  }

  /// The time at which the current message is complete.
  var deadline: Instant? { pieces.first?.end }
}
