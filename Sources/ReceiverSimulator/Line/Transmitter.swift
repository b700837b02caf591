import MonotonicTime

/// A UART's sending side: messages wait in a buffer and leave at the line's rate. A message that does not fit is dropped
/// whole, as receivers do (interface descriptions, MON-TXBUF).
struct Transmitter: Sendable {
  /// A message on its way.
  struct Piece: Sendable {
    var bytes: [UInt8]
    /// When its first bit leaves.
    var start: Instant
    var byteNanoseconds: UInt64
    /// The rate it is sent at; 0 where none matters.
    var rate: UInt32
    /// Bytes that were taken off the line.
    var taken = 0

    var end: Instant { Instant(nanoseconds: start.nanoseconds + UInt64(bytes.count) * byteNanoseconds) }

    /// Bytes that are wholly sent by now.
    func sent(by now: Instant) -> Int {
      guard now > start else { return 0 }
      return min(bytes.count, Int((now.nanoseconds - start.nanoseconds) / byteNanoseconds))
    }
  }

  /// Baud; what is put in from now on leaves at it.
  var rate: UInt32
  /// Whether it is USB, where no rate matters.
  let isUSB: Bool
  private let capacity: Int
  private(set) var pieces: [Piece] = []
  /// When all that waits is sent.
  private(set) var freeAt = Instant.zero
  private(set) var droppedMessages = 0
  private(set) var sentBytes: UInt64 = 0

  init(rate: UInt32, isUSB: Bool, capacity: Int) {
    self.rate = rate
    self.isUSB = isUSB
    self.capacity = capacity
  }

  /// A start bit, eight data bits and a stop bit; full-speed USB as fast as its packets allow.
  static func byteNanoseconds(rate: UInt32, isUSB: Bool) -> UInt64 {
    isUSB || rate == 0 ? 1000 : 10_000_000_000 / UInt64(rate)
  }

  /// Bytes that wait or are being sent.
  func pending(at now: Instant) -> Int { pieces.reduce(0) { $0 + $1.bytes.count - $1.sent(by: now) } }

  /// Puts a message in; it is dropped when there is no room.
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

  /// Sending ends now, in the middle of a byte: what was not sent never is.
  mutating func cut(at now: Instant) {
    pieces = pieces.compactMap { piece in
      var piece = piece
      piece.bytes.removeLast(piece.bytes.count - piece.sent(by: now))
      return piece.bytes.count > piece.taken ? piece : nil
    }
    freeAt = now
  }

  /// The line is cut: what was sent and not taken is lost too.
  mutating func forget(at now: Instant) {
    pieces = []
    freeAt = now
  }

  /// Takes the bytes that were sent by now; `body` gets each message's part and the rate it was sent at.
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

  /// When the message that is being sent will be there.
  var deadline: Instant? { pieces.first?.end }
}
