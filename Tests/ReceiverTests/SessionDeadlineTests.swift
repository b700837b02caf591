// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

@Suite("Deadlines of a session")
struct SessionDeadlineTests {
  /// Found by fuzzing: pieces of a line, each with its length, a pause whose square is milliseconds, and a byte for the fuzz target.
  private static let pieces = """
    f9ff1f0024474e524d432c3030303030302e30302c562c2c2c2c2c2c2c3031313232352c2c2c4e2c562a31430d0a24474e562c312c2c2c2c\
    2c2c2c2c2c2c2c2c2c39392e39392c39392e39392c39392e39392c312a33330d0a24474e4753412c412c312c2c2c2c2c2c2c2c2c2c2c2c2c\
    39392e39392c392c452c342e393931010000000000001231313232352c2c2c412c562a33390d0a24474e5654472c34352e38332c542c2c4d\
    2c342e3939312c4e2c392e3234332c4b2c412a31300d0a24474e4747412c3030303030322e54472c2c542c2c4d2c2c4e2c2c4b2c4e2a3332\
    0d0a24474e4747412c3030303030302e30302c2c2c2c2c302c30302c39392e39392c2cac2c2c2c2a37380d0a24474e4753412c412c312c2c\
    2c2c2c2c2c2c2c2c2c2c2c39392e39392c39392e39392c39392e39392c312a33330d0a24474e4753412c412c312c2c2cffffffffffffff2d\
    2c2c2c2c2c2c2c2c2c2c39392e39392c392c452c342e393931010000000000001231313232352c2c2c412c5601ff1f0024474e524d432c30\
    30303030302e30302c562c2c2c2c2c2c2c3031313232352c2c2c4e2c562a31430d0a24474e5654472c2c542c2c4d2c2c4e2c2c4b2c4e2a33\
    320d0a24474effffffffffffffffffffffffffffffffffffff4747412c3030303030302e30302c2c2c2c2c302c30302c39392e39392c2c2c\
    2c2c2c2a37380d0a24474e4753412c412c312c2c2c2c2c2c2c2c2c2c2c2c2c39392e39392c39392e39392c39392e39392c312a33330d0a24\
    474e4753412c412c312c2c2c2c2c2c2c2c2c2c2c2c2c39392e39392c39392e39392c39392e39392c322a33300d0a24474e4753412c412c31\
    2c2c2c2c2c2c392c2c2c2c2c2c39392e39392c39392e39392c39392e39392c332a33310d0a24474e4753485401030a58044520434f524520\
    312e303020283030303030302900000000000000003030313930303030000050524f545645523d32372e3331000000000000000000000000\
    00000000000401010501062e31312c302e36312c302e39322c312a30350d0a244803010a2a33390d0a24474e5654472c34352e38332c542c\
    2c4d2c342e3939312c3f000000000000004b2c412a31300d0a24474e47470445412c3030303030322e30302c343830392e383536332c314e\
    2c30313133362e585420434f5233333932392c452c312c31322c302e36312c3531322e372c4d2c34352e362c4d2c2c2a34390d0a24474e47\
    53412c412c332c31382c4520312e30302028303030323230
    """

  @Test("A retry that is due while the rate is searched does not wake the session without end")
  func retryDuringSearch() {
    let digits = Self.pieces.compactMap { $0.hexDigitValue.map(UInt8.init) }
    let input = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    var settings = SessionSettings(intent: .serve, line: .serial)
    settings.isKnownUBlox = true
    settings.pollsOrbits = true
    settings.recovery = CrashRecoveryRecord(rate: 115_200, foundRate: 9600)
    var now = Instant.zero + Milliseconds(1_000_000)
    var session = ReceiverSession(settings, lineRate: 9600, reference: nil, now: now)
    while session.nextAction() != nil {}
    var rest = input[1...]
    while rest.count >= 3 {
      let (length, pause, kind) = (Int(rest.removeFirst()), UInt64(rest.removeFirst()), rest.removeFirst())
      let end = now + Milliseconds(pause * pause)
      var repeated = 0
      while let deadline = session.deadline, deadline <= end, repeated < 100 {
        repeated = deadline <= now ? repeated + 1 : 0
        now = max(now, deadline)
        session.wake(at: now) { _, _ in }
        while session.nextAction() != nil {}
      }
      #expect(repeated < 100, "the deadline does not pass at \(now)")
      now = max(now, end)
      var piece = Array(rest.prefix(length))
      rest = rest.dropFirst(length)
      if kind & 1 == 1, piece.count >= 2 { piece = Wire.ubx(piece[0], piece[1], Array(piece[2...])) }
      session.receive(piece.raw, at: now) { _, _ in }
      while session.nextAction() != nil {}
    }
  }
}
