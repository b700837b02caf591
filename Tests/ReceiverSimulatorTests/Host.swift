// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import ReceiverStream
import TestSupport
import UBX

/// A host at the far end of a line, in virtual time.
struct Host {
  /// A received UBX message, and the time of its last byte.
  struct Message: Equatable {
    var identity: UInt16
    var payload: [UInt8]
    var at: Instant
  }

  var line: VirtualLine
  var now = Instant.zero
  /// The received messages in order.
  var messages: [Message] = []
  var sentences: [String] = []
  var bytes = 0
  private var pending: [UInt8] = []

  static let start: Int64 = 1_780_000_000

  init(
    _ model: ReceiverModel, _ scenario: Scenario? = nil, seed: UInt64 = 1, hasRate: Bool = true
  ) {
    line = VirtualLine(
      model: model, scenario: scenario ?? .hot, seed: seed, startUTCSeconds: Self.start, hasRate: hasRate)
  }

  /// Advances the time and collects the output.
  mutating func run(seconds: Double) {
    let end = now + Milliseconds(seconds: seconds)
    while let due = line.deadline, due <= end {
      now = max(now, due)
      take()
    }
    now = end
    take()
  }

  /// Advances to 20 ms before a full second, when no epoch is being sent.
  mutating func runToEndOfSecond() {
    let left = 1_980_000_000 - now.nanoseconds % 1_000_000_000
    run(seconds: Double(left) / 1e9)
  }

  private mutating func take() {
    line.advance(to: now)
    let more = line.takeReceived()
    bytes += more.count
    pending += more
    parse()
  }

  /// Removes complete messages from the front; bytes outside of messages are discarded.
  private mutating func parse() {
    var at = 0
    scan: while at < pending.count {
      switch pending[at] {
      case 0xB5:
        switch UBXFrame.scan(pending.raw, from: at) {
        case .frame(let length):
          let frame = Array(pending[at..<at + length])
          messages.append(
            Message(identity: UInt16(frame[2]) << 8 | UInt16(frame[3]), payload: Array(frame[6..<length - 2]), at: now))
          at += length
        case .needs: break scan
        default: at += 1
        }
      case 0x24:
        guard let end = pending[at...].firstIndex(of: 10) else { break scan }
        sentences.append(String(decoding: pending[at..<end], as: UTF8.self))
        at = end + 1
      default: at += 1
      }
    }
    pending.removeFirst(at)
  }

  mutating func send(bytes: [UInt8]) { line.send(bytes, at: now) }

  mutating func send(_ identity: UInt16, _ payload: [UInt8] = []) {
    line.send(Wire.ubx(UInt8(identity >> 8), UInt8(identity & 0xFF), payload), at: now)
  }

  /// Sends a message and waits for its reply; nil after a timeout. The reply to a configuration message is followed
  /// by an acknowledgement, which is awaited too.
  mutating func ask(
    _ identity: UInt16, _ payload: [UInt8] = [], for answer: UInt16? = nil, within seconds: Double = 2
  ) -> [UInt8]? {
    let before = messages.count
    send(identity, payload)
    let found = wait(seconds) { host -> [UInt8]?? in
      let new = host.messages.dropFirst(before)
      guard identity >> 8 == 6 else { return new.first { $0.identity == answer ?? identity }.map { $0.payload } }
      guard new.contains(where: { $0.identity >> 8 == 5 }) else { return nil }
      return .some(new.first { $0.identity == identity }?.payload)
    }
    return found ?? nil
  }

  /// Sends a configuration message; true for ACK-ACK, false for ACK-NAK, nil after a timeout.
  ///
  /// - Parameter rate: the rate that the host sets once the message is sent.
  mutating func configure(
    _ identity: UInt16, _ payload: [UInt8], within seconds: Double = 2, following rate: UInt32? = nil
  ) -> Bool? {
    let before = messages.count
    send(identity, payload)
    if let rate {
      now = Instant(nanoseconds: now.nanoseconds + UInt64(payload.count + 8) * 10_000_000_000 / UInt64(line.hostRate))
      take()
      line.hostRate = rate
    }
    let wanted = [UInt8(identity >> 8), UInt8(identity & 0xFF)]
    return wait(seconds) { host in
      host.messages.dropFirst(before).first { $0.payload == wanted && $0.identity >> 8 == 5 }.map {
        $0.identity == 0x0501
      }
    }
  }

  /// Advances the time until there is a reply.
  private mutating func wait<Answer>(_ seconds: Double, _ answer: (Host) -> Answer?) -> Answer? {
    let end = now + Milliseconds(seconds: seconds)
    while let due = line.deadline, due <= end {
      now = max(now, due)
      take()
      if let found = answer(self) { return found }
    }
    now = end
    return nil
  }

  /// Sends CFG-VALSET with these pairs.
  mutating func set(_ pairs: [(UInt32, UInt64)], layers: UInt8 = 1, following rate: UInt32? = nil) -> Bool? {
    var payload: [UInt8] = [0, layers, 0, 0]
    for (key, value) in pairs { payload += Self.pair(key, value) }
    return configure(0x068A, payload, following: rate)
  }

  /// Returns the values of items in a layer; nil for a NAK.
  mutating func get(_ keys: [UInt32], layer: UInt8 = 0, position: UInt16 = 0) -> [UInt32: UInt64]? {
    var request: [UInt8] = [0, layer, UInt8(position & 0xFF), UInt8(position >> 8)]
    for key in keys { request += Self.number(key, 4) }
    guard let answer = ask(0x068B, request) else { return nil }
    var values: [UInt32: UInt64] = [:]
    answer.raw.extracting(4..<answer.count).eachPair { values[$0] = $1 }
    return values
  }

  static func pair(_ key: UInt32, _ value: UInt64) -> [UInt8] {
    number(key, 4) + number(value, configurationValueSize(key) ?? 0)
  }

  static func number(_ value: some BinaryInteger, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  /// Discards the messages so far.
  mutating func forget() {
    messages = []
    sentences = []
    bytes = 0
  }

  func count(_ identity: UInt16) -> Int { messages.count { $0.identity == identity } }
}

extension RawSpan {
  /// The key and value pairs of a CFG-VALGET.
  fileprivate func eachPair(_ body: (UInt32, UInt64) -> Void) {
    var pairs = ConfigurationPairs(self)
    while let pair = pairs.next() { body(pair.id, pair.bits) }
  }
}

extension Scenario {
  /// An antenna under an open sky, and a receiver that was used a moment ago.
  static var hot: Scenario {
    var scenario = cold
    scenario.beginsHot = true
    return scenario
  }

  /// The same, with a receiver that has only an almanac.
  static var cold: Scenario {
    Scenario(stayingAt: Place(latitudeDegrees: 48.1642, longitudeDegrees: 11.6056, altitudeMetres: 512))
  }
}

extension [UInt8] {
  func unsigned2(_ at: Int) -> Int { Int(self[at]) | Int(self[at + 1]) << 8 }
  func unsigned4(_ at: Int) -> Int { unsigned2(at) | unsigned2(at + 2) << 16 }
  func signed4(_ at: Int) -> Int { Int(Int32(truncatingIfNeeded: unsigned4(at))) }
  /// The characters before the first zero.
  func text(_ range: Range<Int>) -> String { String(decoding: self[range].prefix { $0 != 0 }, as: UTF8.self) }
}
