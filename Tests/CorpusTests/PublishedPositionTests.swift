// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Receiver
import TestSupport
import Testing

/// The dialogues that `sextant check` publishes have no position of any recording.
@Suite("Published dialogues of the corpus", .tags(.corpus), .enabled(if: Corpus.isWanted, "needs the recorded logs"))
struct PublishedPositionTests {
  /// All recordings, by their path.
  static let recordings: [String] = ["gpsd", "ubx", "field"].flatMap { folder in
    let names = (try? FileManager.default.contentsOfDirectory(atPath: Corpus.folder + "/" + folder)) ?? []
    return names.sorted().filter { [".log", ".ubx", ".nmea", ".timed"].contains(where: $0.hasSuffix) }
      .map { folder + "/" + $0 }
  }

  /// The latitudes and longitudes in the bytes, found without the decoders: fields before N, S, E or W, and the numbers
  /// in the
  /// positions of UBX messages.
  private struct Places {
    var fields: Set<[UInt8]> = []
    var numbers: Set<[UInt8]> = []

    /// The first byte of longitude and latitude in NAV-POSECEF's, POSLLH's, PVT's and HPPOSLLH's payload, and their
    /// count.
    private static let messages: [UInt8: (at: Int, count: Int)] = [
      0x01: (4, 3), 0x02: (4, 2), 0x07: (24, 2), 0x14: (8, 2),
    ]

    init(_ bytes: [UInt8]) {
      for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
        let words = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        for (word, next) in zip(words, words.dropFirst()) where next.count == 1 && "NSEW".utf8.contains(next.first ?? 0)
        {
          // Also a place on a meridian has more digits.
          if word.count >= 7, word.contains(UInt8(ascii: ".")), word.contains(where: { 0x31...0x39 ~= $0 }) {
            fields.insert(Array(word))
          }
        }
      }
      for at in bytes.indices.dropLast(8) where bytes[at] == 0xB5 && bytes[at + 1] == 0x62 && bytes[at + 2] == 1 {
        guard let message = Self.messages[bytes[at + 3]] else { continue }
        for number in 0..<message.count {
          let start = at + 6 + message.at + 4 * number
          guard start + 4 <= bytes.count else { continue }
          let value = Array(bytes[start..<start + 4])
          if Set(value).count > 2 { numbers.insert(value) }
        }
      }
    }

    func isIn(_ bytes: [UInt8]) -> Bool {
      for field in bytes.split(whereSeparator: { [44, 42, 32, 61, 13, 10].contains($0) })
      where fields.contains(Array(field)) {
        return true
      }
      return bytes.count >= 4 && bytes.indices.dropLast(3).contains { numbers.contains(Array(bytes[$0..<$0 + 4])) }
    }

    var count: Int { fields.count + numbers.count }
  }

  @Test("No latitude and no longitude of a recording is published", arguments: recordings)
  func positions(path: String) throws {
    let bytes = try Corpus.bytes(path)
    let places = Places(bytes)
    var filter = DialogueFilter()
    let parts = unsafe filter.receive(bytes.span.bytes) + filter.finish()
    var length = 0
    for part in parts {
      switch part {
      case .kept(let name, let kept):
        length += kept.count
        #expect(!places.isIn(kept), "\(name) has a position")
      case .leftOut(_, let count): length += count
      }
    }
    #expect(length == bytes.count)
  }

  @Test("The recordings have positions, and messages that are published")
  func content() throws {
    var (places, kept) = (0, 0)
    for path in Self.recordings {
      let bytes = try Corpus.bytes(path)
      let found = Places(bytes)
      places += found.count
      // The check finds positions where they are.
      #expect(found.count == 0 || found.isIn(bytes), "\(path)")
      var filter = DialogueFilter()
      for case .kept in unsafe filter.receive(bytes.span.bytes) { kept += 1 }
    }
    print("\(Self.recordings.count) recordings: \(places) positions, \(kept) published messages")
    #expect(places > 1000 && kept > 100)
  }

  @Test("Recorded dialogues stay dialogues: most of their requests are published")
  func dialogues() throws {
    var (requests, kept) = (0, 0)
    for name in Corpus.dialogues {
      for line in try Dialogue(name).lines where line.isSent {
        requests += 1
        let parts = DialogueFilter.parts(ofWrite: line.bytes)
        if parts.contains(where: { if case .kept = $0 { true } else { false } }) { kept += 1 }
      }
    }
    print("\(kept) of \(requests) recorded requests are published")
    #expect(kept * 10 >= requests * 6)
  }
}
