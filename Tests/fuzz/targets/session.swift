// SPDX-License-Identifier: Apache-2.0

// A session whose receiver replies with any bytes, in virtual time. The first byte of the input chooses the settings; then come
// pieces: their length, the pause before them, whether they are the payload of a frame with a correct checksum, and
// their bytes. For any input the session sends a bounded number of bytes, its deadlines advance, and it ends within
// five minutes.
import MonotonicTime
import Receiver
import ReceiverStream

func fuzzSession(_ input: [UInt8]) {
  guard input.count > 0, input.count <= 8192 else { return }
  var host = FuzzedHost(input[0])
  var rest = input[1...]
  while rest.count >= 3 {
    let length = Int(rest.removeFirst())
    let pause = UInt64(rest.removeFirst())
    let isFramed = rest.removeFirst() & 1 == 1
    let piece = Array(rest.prefix(length))
    rest = rest.dropFirst(length)
    host.pass(Milliseconds(pause * pause))
    host.receive(isFramed && piece.count >= 2 ? ubx(piece[0], piece[1], Array(piece[2...])) : piece)
  }
  host.finish()
}

private struct FuzzedHost: ~Copyable {
  var session: ReceiverSession
  var now = Instant.zero + Milliseconds(1_000_000)
  let opened: Instant
  var sent = 0

  init(_ choice: UInt8) {
    let intents: [SessionSettings.Intent] = [.readOnly, .serve, .identify]
    var settings = SessionSettings(intent: intents[Int(choice & 3) % 3], line: choice & 4 == 0 ? .serial : .usb)
    settings.isKnownUBlox = choice & 8 != 0
    settings.pollsOrbits = choice & 16 != 0
    if choice & 32 != 0 { settings.recovery = CrashRecoveryRecord(rate: 115_200, foundRate: 9600) }
    opened = now
    session = ReceiverSession(settings, lineRate: choice & 64 == 0 ? nil : 9600, reference: nil, now: now)
    perform()
  }

  /// Performs the actions, without any effect.
  private mutating func perform() {
    while let action = session.nextAction() {
      if case .send(let bytes) = action { sent += bytes.count }
    }
    let seconds = Int((now.nanoseconds - opened.nanoseconds) / 1_000_000_000)
    // A session without commands sends at most a few requests per second.
    guard sent <= 200_000 + seconds * 20_000 else { fatalError("\(sent) bytes are sent in \(seconds) s") }
  }

  mutating func receive(_ bytes: [UInt8]) {
    session.receive(bytes.raw, at: now) { _, _ in }
    perform()
  }

  /// Advances the time, with a call at each deadline.
  mutating func pass(_ length: Milliseconds) {
    let end = now + length
    var rounds = 0
    while let deadline = session.deadline, deadline <= end {
      now = max(now, deadline)
      session.wake(at: now) { _, _ in }
      perform()
      rounds += 1
      guard rounds < 100_000 else { fatalError("the deadline \(deadline) does not pass") }
    }
    now = max(now, end)
  }

  mutating func finish() {
    session.finish(at: now)
    perform()
    for _ in 0..<300 where !session.isEnded { pass(Milliseconds(1000)) }
    guard session.isEnded else { fatalError("the session does not end") }
  }
}
