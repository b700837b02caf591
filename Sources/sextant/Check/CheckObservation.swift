// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages
import MonotonicTime
import Receiver
import WireBytes

/// The output of a receiver in a row of epochs: the time between them, and the names of its messages.
struct CheckObservation: Equatable {
  /// The number of bytes.
  var bytes = 0
  /// The times of epochs by the receiver, which a busy computer does not delay, else by the computer; seconds.
  private(set) var epochs: [Double] = []
  /// The messages in whole epochs.
  private(set) var names: Set<String> = []
  /// The messages in each whole epoch.
  private(set) var steadyNames: Set<String> = []
  private var namesOfEpoch: Set<String> = []
  /// For each message, the number of the last epoch that had it, from 1 on.
  private var last: [String: Int] = [:]

  mutating func receive(_ name: String) { namesOfEpoch.insert(name) }

  mutating func endEpoch(at seconds: Double) {
    epochs.append(seconds)
    for name in namesOfEpoch { last[name] = epochs.count }
    // The first epoch began before the observation.
    if epochs.count > 1 {
      steadyNames = epochs.count == 2 ? namesOfEpoch : steadyNames.intersection(namesOfEpoch)
      names.formUnion(namesOfEpoch)
    }
    namesOfEpoch = []
  }

  /// The median time between two epochs, seconds; nil for less than three epochs.
  var periodSeconds: Double? {
    guard epochs.count >= 3 else { return nil }
    let steps = zip(epochs.dropFirst(), epochs).map { $0 - $1 }.sorted()
    return steps[steps.count / 2]
  }

  /// The bytes of a second; with less than three epochs, as if one came each second.
  var bytesPerSecond: Double { Double(bytes) / ((periodSeconds ?? 1) * Double(max(epochs.count, 1))) }

  /// Whether a message came at all.
  func has(_ message: CheckedMessage) -> Bool {
    namesOfEpoch.contains { message.matches($0) } || last.keys.contains { message.matches($0) }
  }

  /// The number of epochs since the last one with a message.
  func epochsWithout(_ message: CheckedMessage) -> Int {
    if namesOfEpoch.contains(where: { message.matches($0) }) { return 0 }
    return epochs.count - (last.filter { message.matches($0.key) }.values.max() ?? 0)
  }
}

/// A message that is switched on or off for a moment.
enum CheckedMessage: Equatable {
  /// A sentence by its formatter, with any talker.
  case sentence(String)
  /// UBX-NAV-DOP, which every u-blox receiver has.
  case navDOP

  var name: String { if case .sentence(let formatter) = self { formatter } else { "NAV-DOP" } }

  func matches(_ name: String) -> Bool {
    if self == .navDOP { return name == self.name }
    return name.utf8.count == 5 && name.first != "P" && name.hasSuffix(self.name)
  }
}

/// The dialogue with the receiver, as JSON lines without positions: the form of the recorded dialogues.
struct PublishedDialogue {
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
  mutating func open(rate: UInt32?, at now: Instant) {
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
  mutating func receive(_ bytes: RawSpan, at now: Instant) -> [String] {
    let parts = filter.receive(bytes)
    add("in", parts, at: now)
    return parts.map(\.name)
  }

  mutating func send(_ bytes: [UInt8], at now: Instant) {
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
  mutating func setRate(_ rate: UInt32, at now: Instant) {
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

  private mutating func add(_ direction: String, _ parts: [DialogueFilter.Part], at now: Instant) {
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

  private mutating func line(
    _ direction: String, _ bytes: [UInt8], at now: Instant, rate: UInt32? = nil, leftOut: (String, Int)? = nil
  ) -> JSON {
    let elapsed = start.map { (now.seconds(since: $0) * 1_000_000).rounded() / 1_000_000 } ?? 0
    // A request is sent after the instant of the loop's round.
    seconds = max(seconds, elapsed)
    return JSON(omittingNil: [
      "t": seconds, "dir": direction, "hex": bytes.hexadecimalDigits, "left_out": leftOut?.0, "bytes": leftOut?.1,
      "rate": rate,
    ])
  }
}
