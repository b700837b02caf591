// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import SerialPort

/// An open line and the session on it.
struct ReceiverLink: ~Copyable {
  let line: any ReceiverLine
  var session: ReceiverSession
  var scheduler = ReadScheduler()
  /// Whether received bytes stay in the kernel, but for the time of a command. A hang-up is still reported.
  private(set) var isPaused = false
  /// Whether the session rests, and another program has the line.
  private(set) var isLent = false
  /// Bytes of the session, or of the other program, that the kernel has not taken yet.
  private var unsent: [UInt8] = []
  private var interest = Poller.Interest.readable
  private let token: Poller.Token

  /// - Parameter token: the token of the line in the poller, which already watches it.
  init(_ line: any ReceiverLine, _ session: consuming ReceiverSession, token: Poller.Token) {
    self.line = line
    self.session = session
    self.token = token
  }

  /// Whether the line is not read, and nothing is due.
  var isResting: Bool { isPaused && !isLent && !session.isCarryingOut }

  /// The time at which the session, the read scheduler or a polled line is due; nil while the line rests.
  var deadline: Instant? {
    isLent
      ? line.deadline
      : isResting ? nil : .earlier(.earlier(session.deadline, scheduler.idleUntil), line.deadline)
  }

  /// Stops or continues to read the line.
  mutating func setPaused(_ isPaused: Bool, _ poller: inout Poller, at now: Instant) {
    self.isPaused = isPaused
    scheduleRead(&poller, at: now)
  }

  /// Reads the line for a command. The bytes that have waited are old, and the time without others was no silence of the receiver.
  mutating func resume(at now: Instant) {
    line.discardInput()
    session.resume(at: now)
    scheduler.reset()
  }

  /// Lends the line, or takes it back. Bytes that were not sent are discarded.
  mutating func setLent(_ isLent: Bool) {
    self.isLent = isLent
    unsent = []
  }

  mutating func queue(_ bytes: [UInt8]) { unsent += bytes }

  var unsentCount: Int { unsent.count }
  mutating func discardUnsent() { unsent = [] }

  /// Writes as many queued bytes as the line takes now.
  mutating func write(at now: Instant) throws(SerialPortError) {
    while !unsent.isEmpty {
      let bytes = unsent
      let count = try unsafe line.write(bytes.span.bytes, at: now)
      if count == 0 { return }
      unsent.removeFirst(count)
    }
  }

  /// Decides when the line is read next, and sets the interest of the poller.
  mutating func scheduleRead(_ poller: inout Poller, at now: Instant) {
    let rests = isResting
    if !isLent, !rests { scheduler.attend(to: session.expectation, before: session.deadline, at: now) }
    var wanted: Poller.Interest = isLent || !rests && scheduler.idleUntil == nil ? .readable : []
    if !unsent.isEmpty { wanted.insert(.writable) }
    if wanted != interest { change(wanted, &poller) }
  }

  private mutating func change(_ wanted: Poller.Interest, _ poller: inout Poller) {
    interest = wanted
    if let descriptor = line.fileDescriptor { try? poller.change(descriptor, token: token, interest: wanted) }
  }
}
