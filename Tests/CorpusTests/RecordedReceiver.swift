// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import TestSupport

/// A receiver that replies as a recorded one did: to the requests of its recording with the recorded messages after the
/// recorded times, to other configuration messages with ACK-NAK, and not at all to other polls. It sends a UBX message
/// or a sentence every second.
struct RecordedReceiver: HostLine {
  var hostRate: UInt32
  private let requests: [RecordedRequest]
  private let delays: [Milliseconds]
  private let epoch: [UInt8]
  /// The values of items that the recording shows.
  private var items: [UInt32: [UInt8]] = [:]
  /// The received requests that have a reply in the recording.
  private(set) var answered: [UInt16] = []
  private var now = Instant.zero
  private var second: UInt64 = 0
  private var coming: [(at: Instant, bytes: [UInt8])] = []

  init(_ dialogue: Dialogue) {
    hostRate = dialogue.lines.first?.rate.flatMap { $0 == 0 ? nil : $0 } ?? 38_400
    requests = RecordedRequest.list(dialogue.events)
    delays = Self.delays(dialogue)
    epoch =
      dialogue.hasSentences
      ? Wire.nmea("GNGLL,,,,,,V,N") : Wire.ubx(0x01, 0x07, [UInt8](repeating: 0, count: 92))
    for case .received(.message(0x068B, let payload)) in dialogue.events {
      Self.eachItem(payload) { items[$0] = $1 }
    }
  }

  var isPresent: Bool { true }
  var deadline: Instant? { .earlier(coming.map(\.at).min(), nextEpoch) }
  private var nextEpoch: Instant { .zero + Milliseconds(second * 1000 + 100) }

  mutating func advance(to now: Instant) {
    self.now = now
    while now >= nextEpoch {
      coming.append((nextEpoch, epoch))
      second += 1
    }
  }

  mutating func takeReceived() -> [UInt8] {
    let due = coming.filter { $0.at <= now }
    coming.removeAll { $0.at <= now }
    return due.flatMap(\.bytes)
  }

  mutating func send(_ bytes: [UInt8], at now: Instant) {
    for case .sent(let identity, let payload, _) in Event.sent(bytes, changesRate: false) {
      let (frames, delay) = reply(identity, payload)
      coming += frames.map { (now + delay, $0) }
    }
  }

  private mutating func reply(_ identity: UInt16, _ payload: [UInt8]) -> ([[UInt8]], Milliseconds) {
    let isPoll = payload.count <= 1
    let index =
      requests.firstIndex { $0.identity == identity && $0.payload == payload }
      ?? requests.firstIndex { $0.identity == identity && ($0.payload.count <= 1) == isPoll }
    guard let index, !requests[index].changesRate else {
      return (identity >> 8 == 6 ? [acknowledgement(identity, false)] : [], Milliseconds(1))
    }
    answered.append(identity)
    let isOfItems = identity == 0x068B && payload != requests[index].payload
    return (isOfItems ? values(payload) : requests[index].frames, delays[index])
  }

  /// The reply to CFG-VALGET: the values that the recording shows, or a refusal.
  private func values(_ payload: [UInt8]) -> [[UInt8]] {
    var answer = [1] + Array(payload[1..<4])
    for at in stride(from: 4, to: payload.count - 3, by: 4) {
      let key =
        UInt32(payload[at]) | UInt32(payload[at + 1]) << 8 | UInt32(payload[at + 2]) << 16
        | UInt32(payload[at + 3]) << 24
      guard let value = items[key] else { return [acknowledgement(0x068B, false)] }
      answer += payload[at..<at + 4] + value
    }
    return [Wire.ubx(0x06, 0x8B, answer), acknowledgement(0x068B, true)]
  }

  private func acknowledgement(_ identity: UInt16, _ isAccepted: Bool) -> [UInt8] {
    Wire.ubx(0x05, isAccepted ? 1 : 0, [UInt8(identity >> 8), UInt8(identity & 0xFF)])
  }

  private static func eachItem(_ payload: [UInt8], _ body: (UInt32, [UInt8]) -> Void) {
    var at = 4
    while at + 4 < payload.count {
      let key = (0..<4).reduce(UInt32(0)) { $0 | UInt32(payload[at + $1]) << UInt32(8 * $1) }
      let size = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8][Int(key >> 28)] ?? 1
      guard at + 4 + size <= payload.count else { return }
      body(key, Array(payload[at + 4..<at + 4 + size]))
      at += 4 + size
    }
  }

  /// The time from each request to the first line after it that ends a reply.
  private static func delays(_ dialogue: Dialogue) -> [Milliseconds] {
    var delays: [Milliseconds] = []
    for (index, line) in dialogue.lines.enumerated() where line.isSent {
      let next = dialogue.lines[(index + 1)...].first {
        !$0.isSent && $0.bytes.first == 0xB5 && $0.seconds > line.seconds
      }
      let delay = Milliseconds(seconds: max(0.001, (next?.seconds ?? line.seconds) - line.seconds))
      delays += Event.sent(line.bytes, changesRate: false).map { _ in delay }
    }
    return delays
  }
}
