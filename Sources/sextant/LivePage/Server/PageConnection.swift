// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// One connection of the page server: a request, and its reply or the stream of events.
struct PageConnection: Sendable {
  enum State: Sendable {
    /// The request is incomplete.
    case reading(HTTPRequestReader, until: Instant)
    /// The request waits for a reply from the receiver's side.
    case answering
    /// The rest of the output is written, and then the connection is closed.
    case closing(until: Instant)
    /// Events are sent until the page closes the connection.
    case events(EventQueue, opened: [String], nextHeartbeat: Instant)
    case closed
  }

  /// The time for a request, and for the reader of a reply, milliseconds.
  static let requestTimeout = Milliseconds(10_000)
  static let heartbeatInterval = Milliseconds(15_000)

  var state: State
  /// Whether the other side is a program of the server's user, or of root.
  var isOwnUser = true
  /// Bytes to write, from `written` on.
  private(set) var output: [UInt8] = []
  private(set) var written = 0
  /// Whether the other side has read nothing since the last heartbeat was due.
  var isStuck = false

  init(at now: Instant) { state = .reading(HTTPRequestReader(), until: now + Self.requestTimeout) }

  var hasOutput: Bool { written < output.count }

  mutating func put(_ bytes: [UInt8]) {
    if hasOutput { output += bytes } else { (output, written) = (bytes, 0) }
  }

  /// Counts bytes as written. The next events follow when all bytes are written.
  mutating func didWrite(_ count: Int) {
    written = min(output.count, written + count)
    isStuck = false
    guard !hasOutput else { return }
    (output, written) = ([], 0)
    switch state {
    case .closing: state = .closed
    case .events(var queue, let opened, let beat):
      let text = queue.take()
      state = .events(queue, opened: opened, nextHeartbeat: beat)
      if !text.isEmpty { put(text) }
    case .reading, .answering, .closed: break
    }
  }

  /// Adds an event for a page that shows events.
  mutating func add(_ event: LiveEvent) {
    guard case .events(var queue, let opened, let beat) = state else { return }
    if let name = event.name, !opened.contains(name) { return }
    if hasOutput {
      queue.add(event)
      state = .events(queue, opened: opened, nextHeartbeat: beat)
    } else {
      put(event.text)
    }
  }

  /// Ends the connection after this reply.
  mutating func reply(_ bytes: [UInt8], at now: Instant) {
    state = .closing(until: now + Self.requestTimeout)
    put(bytes)
  }

  var deadline: Instant? {
    switch state {
    case .reading(_, let until), .closing(let until): until
    case .events(_, _, let beat): beat
    case .answering, .closed: nil
    }
  }
}
