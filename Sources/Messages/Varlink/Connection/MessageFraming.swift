// SPDX-License-Identifier: Apache-2.0

/// Splits a stream of bytes into messages, each of which ends with a NUL (varlink.org, "Method Call"). Bytes are kept
/// until their message is requested. Each byte is searched once and moved a bounded number of times.
package struct MessageSplitter: Sendable {
  /// A message that is longer than allowed.
  package struct TooLong: Error, Equatable {}

  /// The size of the largest message without its NUL.
  package let maximumBytes: Int
  private var buffer: [UInt8] = []
  /// The start of the first message in the buffer.
  private var start = 0
  /// The bytes before this offset have been searched for a NUL.
  private var searched = 0

  package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// The number of pending bytes.
  package var count: Int { buffer.count - start }

  package mutating func append(_ bytes: Span<UInt8>) {
    if start > 0, start >= buffer.count / 2 {
      buffer.removeFirst(start)
      searched -= start
      start = 0
    }
    buffer.append(copying: bytes)
  }

  /// Calls `body` with the next whole message, without its NUL, and removes it. Returns nil if none is complete.
  package mutating func next<Value>(_ body: (Span<UInt8>) -> Value) throws(TooLong) -> Value? {
    guard let end = try nextEnd() else { return nil }
    let value = body(buffer.span.extracting(start..<end))
    remove(end)
    return value
  }

  /// The same for a `body` that may return nil to refuse the message: then it remains the next one.
  mutating func next<Value>(ifAny body: (Span<UInt8>) -> Value?) throws(TooLong) -> Value? {
    guard let end = try nextEnd(), let value = body(buffer.span.extracting(start..<end)) else { return nil }
    remove(end)
    return value
  }

  /// Whether `next` has a whole message, or throws.
  var hasNext: Bool {
    mutating get { do { return try nextEnd() != nil } catch { return true } }
  }

  /// The position of the NUL after the next message.
  private mutating func nextEnd() throws(TooLong) -> Int? {
    while searched < buffer.count, buffer[searched] != 0 { searched += 1 }
    guard searched - start <= maximumBytes else { throw TooLong() }
    return searched < buffer.count ? searched : nil
  }

  private mutating func remove(_ end: Int) {
    searched = end + 1
    start = searched
    // Keeps the memory of an idle connection small.
    if start == buffer.count { self = MessageSplitter(maximumBytes: maximumBytes, reusing: buffer) }
  }

  private init(maximumBytes: Int, reusing buffer: consuming [UInt8]) {
    self.maximumBytes = maximumBytes
    if buffer.capacity <= 4096 {
      buffer.removeAll(keepingCapacity: true)
      self.buffer = buffer
    }
  }
}

/// Bytes to be written.
struct OutgoingMessages: Sendable {
  private(set) var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }
  var waiting: Span<UInt8> {
    @_lifetime(borrow self) get { bytes.span.extracting(start...) }
  }

  /// Appends a message and its terminating NUL. After an error, nothing is appended.
  mutating func append<Failure>(_ write: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
    let end = bytes.count
    do {
      try write(&bytes)
    } catch {
      bytes.removeLast(bytes.count - end)
      throw error
    }
    bytes.append(0)
  }

  /// Removes the last bytes, so that `count` bytes are left.
  mutating func truncate(to count: Int) { bytes.removeLast(self.count - count) }

  mutating func remove(_ count: Int) {
    start += count
    precondition(start <= bytes.count, "more bytes written than there were")
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
      start = 0
    } else if start >= bytes.count / 2 {
      bytes.removeFirst(start)
      start = 0
    }
  }
}

extension [UInt8] {
  mutating func append(copying source: Span<UInt8>) {
    for index in source.indices { append(source[index]) }
  }
}
