// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverSimulator
import TestSupport
import UBX

@testable import Receiver

/// A line with a scripted device: its periodic output once a second, and its replies to each frame.
struct ScriptedLine: HostLine {
  typealias Answers = (_ identity: MessageIdentity, _ payload: [UInt8]) -> [Reply]

  /// A reply and its delay in milliseconds.
  struct Reply {
    var after: UInt64
    var bytes: [UInt8]
    init(_ after: UInt64, _ bytes: [UInt8]) {
      self.after = after
      self.bytes = bytes
    }
  }

  var hostRate: UInt32 = 115_200
  let answers: Answers
  let speech: (_ second: Int) -> [UInt8]
  let echoes: Bool
  /// Whether only the first frame of a write is read.
  let losesBursts: Bool
  /// The bytes of the host as text.
  private(set) var sent = ""
  private var now = Instant.zero
  private var coming: [(at: Instant, bytes: [UInt8])] = []
  private var second = 0

  init(speech: @escaping (Int) -> [UInt8], answers: @escaping Answers, echoes: Bool, losesBursts: Bool) {
    (self.speech, self.answers, self.echoes, self.losesBursts) = (speech, answers, echoes, losesBursts)
  }

  var isPresent: Bool { true }
  var deadline: Instant? { .earlier(coming.map(\.at).min(), nextSpeech) }
  private var nextSpeech: Instant { .zero + Milliseconds(UInt64(second) * 1000 + 100) }

  mutating func advance(to now: Instant) {
    self.now = now
    while now >= nextSpeech {
      coming.append((nextSpeech, speech(second)))
      second += 1
    }
  }

  mutating func takeReceived() -> [UInt8] {
    let due = coming.filter { $0.at <= now }
    coming.removeAll { $0.at <= now }
    return due.flatMap(\.bytes)
  }

  mutating func send(_ bytes: [UInt8], at now: Instant) {
    sent += String(decoding: bytes, as: UTF8.self)
    if echoes { coming.append((now + Milliseconds(1), bytes)) }
    for (identity, payload) in Self.frames(bytes).prefix(losesBursts ? 1 : .max) {
      for answer in answers(identity, payload) { coming.append((now + Milliseconds(answer.after), answer.bytes)) }
    }
  }

  /// The UBX frames of what was sent.
  private static func frames(_ bytes: [UInt8]) -> [(MessageIdentity, [UInt8])] {
    var found: [(MessageIdentity, [UInt8])] = []
    var at = 0
    while at + 8 <= bytes.count {
      guard bytes[at] == 0xB5, bytes[at + 1] == 0x62 else {
        at += 1
        continue
      }
      let length = Int(bytes.u2(at + 4))
      guard at + 8 + length <= bytes.count else { break }
      found.append((MessageIdentity(bytes[at + 2], bytes[at + 3]), Array(bytes[at + 6..<at + 6 + length])))
      at += 8 + length
    }
    return found
  }
}

extension VirtualHost where Machine == SessionLog, Line == ScriptedLine {
  convenience init(
    intent: SessionSettings.Intent = .serve, isKnown: Bool = false, echoes: Bool = false, losesBursts: Bool = false,
    maySwitchUBXOn: Bool = true, speech: @escaping (Int) -> [UInt8],
    answers: @escaping ScriptedLine.Answers = { _, _ in [] }
  ) {
    var settings = SessionSettings(intent: intent, line: .bound)
    settings.isKnownUBlox = isKnown
    settings.maySwitchUBXOn = maySwitchUBXOn
    let line = ScriptedLine(speech: speech, answers: answers, echoes: echoes, losesBursts: losesBursts)
    self.init(SessionLog(), line, settings: settings)
  }
}
