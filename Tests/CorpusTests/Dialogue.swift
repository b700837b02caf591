// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import TestSupport

/// A recorded dialogue with a real receiver: what both sides sent, with times. `dialogues/README.md` in the corpus
/// describes the format.
struct Dialogue {
  /// A line of the recording.
  struct Line {
    var seconds: Double
    var isSent: Bool
    var bytes: [UInt8]
    /// The host's rate at the start, or after this line, in baud; 0 is USB.
    var rate: UInt32?
    /// The name of a message whose bytes are not in the recording.
    var leftOut: String?
  }

  /// Folder and file, without the extension.
  let name: String
  let lines: [Line]

  init(name: String, lines: [Line]) { (self.name, self.lines) = (name, lines) }

  init(_ name: String) throws {
    struct Record: Decodable {
      var t: Double
      var dir: String
      var hex: String
      var rate: UInt32?
      var left_out: String?
    }
    let text = try Corpus.bytes("dialogues/\(name).jsonl")
    self.name = name
    // `sextant check` writes what it measured behind the dialogue.
    let isMeasured = "{\"check\":".utf8
    lines = try text.split(separator: UInt8(ascii: "\n")).filter { !$0.starts(with: isMeasured) }.map { line in
      let record = try JSONDecoder().decode(Record.self, from: Data(line))
      return Line(
        seconds: record.t, isSent: record.dir == "out", bytes: Self.bytes(record.hex), rate: record.rate,
        leftOut: record.left_out)
    }
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.utf8.map { UInt8($0 > 57 ? $0 - 87 : $0 - 48) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// The events of the recording, in its order.
  var events: [Event] {
    var events: [Event] = []
    var pieces = Pieces()
    for line in lines {
      if line.isSent {
        events += Event.sent(line.bytes, changesRate: line.rate != nil && line.seconds > 0)
      } else {
        events += pieces.take(line.bytes).map { .received($0) }
      }
    }
    return events + pieces.end().map { .received($0) }
  }

  /// The first payload of a message that was received.
  func first(_ identity: UInt16) -> [UInt8]? {
    for case .received(.message(identity, let payload)) in events { return payload }
    return nil
  }

  /// Whether the receiver sent unrequested sentences.
  var hasSentences: Bool {
    events.contains { if case .received(.sentence) = $0 { true } else { false } }
      || lines.contains { $0.leftOut.map { !$0.contains("-") } ?? false }
  }
  /// Whether it sent unrequested navigation messages.
  var hasNavigationMessages: Bool { lines.contains { $0.leftOut?.hasPrefix("NAV-") ?? false } }
}

extension Corpus {
  /// The recorded dialogues: folder and file, without the extension.
  static let dialogues: [String] = {
    let files = FileManager.default
    let folders = (try? files.contentsOfDirectory(atPath: folder + "/dialogues")) ?? []
    return folders.sorted().flatMap { one in
      ((try? files.contentsOfDirectory(atPath: folder + "/dialogues/" + one)) ?? []).sorted()
        .filter { $0.hasSuffix(".jsonl") }.map { one + "/" + $0.dropLast(6) }
    }
  }()
}

/// A part of the received bytes.
enum Piece: Equatable {
  /// A UBX message: class and id, payload.
  case message(UInt16, [UInt8])
  case sentence(String)
  /// Bytes outside of both.
  case garbage([UInt8])
}

/// Splits received bytes into messages; a message may arrive in several parts.
struct Pieces {
  private var pending: [UInt8] = []

  /// Adds bytes, and returns the complete messages.
  mutating func take(_ bytes: [UInt8]) -> [Piece] {
    pending += bytes
    return cut(isEnd: false)
  }

  /// Returns the rest.
  mutating func end() -> [Piece] { cut(isEnd: true) }

  private mutating func cut(isEnd: Bool) -> [Piece] {
    var found: [Piece] = []
    var garbage: [UInt8] = []
    var at = 0
    func flush() {
      if !garbage.isEmpty { found.append(.garbage(garbage)) }
      garbage = []
    }
    while at < pending.count {
      let left = pending.count - at
      if pending[at] == 0xB5, left == 1 || pending[at + 1] == 0x62 {
        let length = left < 6 ? 8 : 8 + Int(pending[at + 4]) + Int(pending[at + 5]) << 8
        if left < length, !isEnd { break }
        let frame = Array(pending[at..<min(at + length, pending.count)])
        if Wire.isFrame(frame) {
          flush()
          found.append(.message(UInt16(frame[2]) << 8 | UInt16(frame[3]), Array(frame[6..<frame.count - 2])))
          at += length
          continue
        }
      } else if pending[at] == UInt8(ascii: "$") {
        // Bytes that are read at a wrong rate contain this one too: a sentence has only printable characters.
        let end = pending[at...].firstIndex { $0 != 13 && !(0x20...0x7E).contains($0) }
        if let end, pending[end] == 10 {
          flush()
          found.append(.sentence(String(decoding: pending[at..<end].filter { $0 != 13 }, as: UTF8.self)))
          at = end + 1
          continue
        }
        if end == nil, !isEnd { break }
      }
      garbage.append(pending[at])
      at += 1
    }
    flush()
    pending.removeFirst(at)
    return found
  }
}

/// An event of a dialogue.
enum Event {
  /// A UBX message to the receiver; `changesRate` if the host sets another rate after it.
  case sent(UInt16, [UInt8], changesRate: Bool)
  case received(Piece)

  /// The messages of a write.
  static func sent(_ bytes: [UInt8], changesRate: Bool) -> [Event] {
    var pieces = Pieces()
    return (pieces.take(bytes) + pieces.end()).compactMap {
      if case .message(let identity, let payload) = $0 {
        .sent(identity, payload, changesRate: changesRate)
      } else {
        nil
      }
    }
  }
}

/// The kind of a reply; the absence of a reply is silence.
enum ReplyKind: String, CaseIterable {
  /// The message of the request's class and id.
  case record
  case acknowledged, refused
  /// A text about it, as a sentence.
  case text
  /// Bytes that are not messages, after a change of the rate: an acknowledgement at another rate than the host's.
  case damaged
}

/// A request of a dialogue and the kinds of its replies.
struct RecordedRequest {
  var identity: UInt16
  var payload: [UInt8]
  var changesRate: Bool
  var kinds: Set<ReplyKind> = []
  /// The messages of the reply, as they were sent.
  var frames: [[UInt8]] = []

  /// Returns the requests of a dialogue with their replies.
  static func list(_ events: [Event]) -> [RecordedRequest] {
    var list: [RecordedRequest] = []
    for event in events {
      switch event {
      case .sent(let identity, let payload, let changesRate):
        list.append(RecordedRequest(identity: identity, payload: payload, changesRate: changesRate))
      case .received(.message(let identity, let payload)) where identity >> 8 == 5 && payload.count == 2:
        let about = UInt16(payload[0]) << 8 | UInt16(payload[1])
        let kind: ReplyKind = identity & 1 == 1 ? .acknowledged : .refused
        list.add(kind, identity, payload) {
          $0.identity == about && $0.kinds.isDisjoint(with: [.acknowledged, .refused])
        }
      case .received(.message(let identity, let payload)):
        list.add(.record, identity, payload) { $0.identity == identity && !$0.kinds.contains(.record) }
      case .received(.sentence(let text)):
        guard text.dropFirst(3).hasPrefix("TXT"), let last = list.lastIndex(where: { $0.identity >> 8 == 6 }) else {
          continue
        }
        list[last].kinds.insert(.text)
      case .received(.garbage):
        if let last = list.indices.last, list[last].changesRate, list[last].kinds.isEmpty {
          list[last].kinds.insert(.damaged)
        }
      }
    }
    return list
  }

  /// The kinds for a host that follows a change of the rate at once: the recorded hosts followed later, and read the
  /// beginning of the acknowledgement, or all of it, at the old rate.
  var kindsInTime: Set<ReplyKind> { changesRate && kinds.contains(.damaged) ? [.acknowledged] : kinds }
}

extension [RecordedRequest] {
  /// Adds a message of a reply to the first request that it fits.
  fileprivate mutating func add(
    _ kind: ReplyKind, _ identity: UInt16, _ payload: [UInt8], to fits: (RecordedRequest) -> Bool
  ) {
    guard let index = firstIndex(where: fits) else { return }
    self[index].kinds.insert(kind)
    self[index].frames.append(Wire.ubx(UInt8(identity >> 8), UInt8(identity & 0xFF), payload))
  }
}
