// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Receiver
import WireBytes

/// The dialogue with the receiver, as JSON lines without positions: the form of the recorded dialogues.
final class PublishedDialogue {
  private var start: Instant?
  /// The time of the last line, seconds.
  private var seconds = 0.0
  private var filter = DialogueFilter()
  private var rate: UInt32?
  /// Whether requests are counted.
  var countsRequests = false {
    didSet { if countsRequests { runs.append(([], 0)) } }
  }
  /// The counted requests, and how often each was sent in a row.
  private var runs: [(bytes: [UInt8], count: Int)] = []
  private(set) var lines: [JSON] = []

  /// The line was opened at a rate, in baud; nil without one.
  func open(rate: UInt32?, at now: Instant) {
    if lines.isEmpty {
      start = now
      // 0 is a line without a rate.
      lines.append(line("in", [], at: now, rate: rate ?? 0))
    } else if let rate, rate != self.rate {
      lines.append(line("out", [], at: now, rate: rate))
    }
    self.rate = rate
  }

  /// Returns the names of the messages that the bytes complete.
  func receive(_ bytes: RawSpan, at now: Instant) -> [String] {
    let parts = filter.receive(bytes)
    add("in", parts, at: now)
    return parts.map(\.name)
  }

  func send(_ bytes: [UInt8], at now: Instant) {
    guard !bytes.isEmpty else { return }
    // Single bytes wake a receiver.
    if countsRequests, bytes.count > 4 {
      if runs.last?.bytes == bytes { runs[runs.count - 1].count += 1 } else { runs.append((bytes, 1)) }
    }
    add("out", DialogueFilter.parts(ofWrite: bytes), at: now)
  }

  /// The number of counted requests that change something, and of those that were sent again. A session reads a setting before and
  /// after a change, so that queries are sent on several occasions, and a change on one.
  var changes: (requests: Int, repeated: Int) {
    var counts: [[UInt8]: [Int]] = [:]
    for run in runs where !run.bytes.isEmpty { counts[run.bytes, default: []].append(run.count) }
    let changes = counts.values.filter { $0.count == 1 }
    return (changes.count, changes.count { $0[0] > 1 })
  }

  /// The line has another rate from now on, in baud.
  func setRate(_ rate: UInt32, at now: Instant) {
    self.rate = rate
    // A frame that the change of the rate cuts cannot be completed at the new rate.
    defer { add("in", filter.finish(), at: now) }
    // The recorded dialogues have the rate of the last request.
    guard lines.last?["dir"]?.string == "out", lines.last?["rate"] == nil, case .object(var members)? = lines.last
    else { return lines.append(line("out", [], at: now, rate: rate)) }
    members.append(JSON.Member("rate", .integer(Int64(rate))))
    lines[lines.count - 1] = .object(members)
  }

  /// The file, with the last line.
  func text(_ end: JSON) -> String {
    (lines + [end]).compactMap { try? $0.text() }.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
  }

  private func add(_ direction: String, _ parts: [DialogueFilter.Part], at now: Instant) {
    var kept: [UInt8] = []
    func flush() {
      if !kept.isEmpty { lines.append(line(direction, kept, at: now)) }
      kept = []
    }
    for part in parts {
      switch part {
      case .kept(_, let bytes): kept += bytes
      case .leftOut(let name, let count):
        flush()
        lines.append(line(direction, [], at: now, leftOut: (name, count)))
      }
    }
    flush()
  }

  private func line(
    _ direction: String, _ bytes: [UInt8], at now: Instant, rate: UInt32? = nil, leftOut: (String, Int)? = nil
  ) -> JSON {
    let elapsed = start.map { (now.seconds(since: $0) * 1_000_000).rounded() / 1_000_000 } ?? 0
    // A request is sent after the instant of the loop's round.
    seconds = max(seconds, elapsed)
    var members = [
      JSON.Member("t", .double(seconds)), JSON.Member("dir", .string(direction)),
      JSON.Member("hex", .string(bytes.hexadecimalDigits)),
    ]
    if let leftOut {
      members.append(JSON.Member("left_out", .string(leftOut.0)))
      members.append(JSON.Member("bytes", .integer(Int64(leftOut.1))))
    }
    if let rate { members.append(JSON.Member("rate", .integer(Int64(rate)))) }
    return .object(members)
  }
}
