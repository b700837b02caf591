// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import WireBytes

/// The keys of encrypted SPARTN corrections, as an administrator's file has them:
///
///     # key, week of GPS and second of the week from which it is valid, and optionally week and second of its end
///     <32 hexadecimal digits>  2446 302418
///     <32 hexadecimal digits>  2450 302418   2454 302418
///
/// Without an end a key is valid until the next one, the last one for four weeks (the keys of u-blox's PointPerfect). Keys are
/// secret: no text of this type contains one.
package struct SPARTNKeys: Equatable, Sendable {
  /// A key and its time, seconds of GPS since 1980-01-06.
  package struct Key: Equatable, Sendable {
    /// 16, 24 or 32 bytes (AES).
    package var bytes: [UInt8]
    package var begin: Int64
    package var end: Int64
  }

  /// The keys at a time.
  package enum Validity: Equatable, Sendable {
    /// A key is valid, and the keys that follow it without a gap are, until this time.
    case valid(until: UTCTime)
    /// The first key is valid from this time on.
    case early(from: UTCTime)
    /// The last key was valid until this time, or the next one is valid later.
    case expired(since: UTCTime)
  }

  /// The place of a mistake in a file, for messages.
  package struct Mistake: Error, Equatable, Sendable {
    /// The number of the line, from 1; 0 for the file as a whole.
    package var line: Int
    package var text: String
  }

  /// The time for which a key of PointPerfect is valid: four weeks.
  private static let usualSeconds: Int64 = 4 * secondsPerWeek
  private static let secondsPerWeek: Int64 = 604_800
  /// The most keys of a file, and of a message: a receiver stores the current and the next one.
  private static let mostKeys = 64
  private static let mostSent = 2
  /// GPS time 0 in seconds since 1970.
  private static let gpsEpoch: Int64 = 315_964_800

  /// The keys in the order of their beginnings; at least one.
  package private(set) var keys: [Key]

  /// Reads the text of a file. Throws the first mistake.
  package init(parsing text: String) throws(Mistake) {
    var found: [(key: Key, end: Int64?)] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let words = line.split { $0 == " " || $0 == "\t" }.prefix { !$0.hasPrefix("#") }
      if words.isEmpty { continue }
      func mistake(_ text: String) -> Mistake { Mistake(line: index + 1, text: text) }
      guard words.count == 3 || words.count == 5 else {
        throw mistake("write KEY WEEK SECOND, or KEY WEEK SECOND WEEK SECOND with the end")
      }
      guard let bytes = [UInt8](hexadecimalDigits: words[0]), [16, 24, 32].contains(bytes.count) else {
        throw mistake("the key is not of 32, 48 or 64 hexadecimal digits")
      }
      let times = stride(from: 1, to: words.count, by: 2).map { Self.time(words[$0], words[$0 + 1]) }
      guard let begin = times[0], !times.contains(nil) else {
        throw mistake("a week is a number from 2000 to 9999, a second of the week one from 0 to 604799")
      }
      let end = times.count > 1 ? times[1] : nil
      if let end, end <= begin { throw mistake("the key ends before it begins") }
      if found.contains(where: { $0.key.begin == begin }) { throw mistake("two keys begin at the same time") }
      if found.count == Self.mostKeys { throw mistake("the file has more than \(Self.mostKeys) keys; remove old ones") }
      found.append((Key(bytes: bytes, begin: begin, end: begin), end))
    }
    if found.isEmpty { throw Mistake(line: 0, text: "the file has no key") }
    found.sort { $0.key.begin < $1.key.begin }
    keys = found.indices.map { index in
      var key = found[index].key
      let next = index + 1 < found.count ? found[index + 1].key.begin : nil
      // A receiver uses one key at a time.
      key.end = min(found[index].end ?? next ?? key.begin + Self.usualSeconds, next ?? .max)
      return key
    }
  }

  /// GPS time in seconds; nil if a number is out of range.
  private static func time(_ week: Substring, _ second: Substring) -> Int64? {
    guard let week = Int64(week), 2000...9999 ~= week, let second = Int64(second), 0..<secondsPerWeek ~= second else {
      return nil
    }
    return week * secondsPerWeek + second
  }

  /// GPS time, seconds.
  private static func gps(_ utc: UTCTime) -> Int64 {
    utc.nanosecondsSince1970 / 1_000_000_000 - gpsEpoch + Int64(LeapSeconds.on(utc.day))
  }

  private static func utc(_ gps: Int64) -> UTCTime {
    let withoutLeap = UTCTime(nanosecondsSince1970: (gps + gpsEpoch) * 1_000_000_000)
    let leap = Int64(LeapSeconds.on(withoutLeap.day)) * 1_000_000_000
    return UTCTime(nanosecondsSince1970: withoutLeap.nanosecondsSince1970 - leap)
  }

  /// Returns the state of the keys at a time.
  package func validity(at utc: UTCTime) -> Validity {
    let now = Self.gps(utc)
    guard let index = keys.firstIndex(where: { $0.begin <= now && now < $0.end }) else {
      if let before = keys.last(where: { $0.end <= now }) { return .expired(since: Self.utc(before.end)) }
      return .early(from: Self.utc(keys[0].begin))
    }
    var end = keys[index].end
    for key in keys[(index + 1)...] where key.begin == end { end = key.end }
    return .valid(until: Self.utc(end))
  }

  /// Returns the payload of RXM-SPARTNKEY with the current key and the next one; nil if all have expired (u-blox F9 HPG 1.32
  /// interface description, 3.17.11.2).
  ///
  /// - Parameter utc: the time; if it is nil, the last two keys are sent.
  package func message(at utc: UTCTime?) -> [UInt8]? {
    let now = utc.map(Self.gps)
    let left = now.map { now in keys.filter { now < $0.end } } ?? keys.suffix(Self.mostSent)
    let sent = left.prefix(Self.mostSent)
    guard !sent.isEmpty else { return nil }
    // Version 1, the number of keys, two reserved bytes; for each key a reserved byte, its length, week and second.
    var payload: [UInt8] = [1, UInt8(clamping: sent.count), 0, 0]
    for key in sent {
      let (week, second) = key.begin.quotientAndRemainder(dividingBy: Self.secondsPerWeek)
      payload += [0, UInt8(clamping: key.bytes.count), UInt8(clamping: week & 0xFF), UInt8(clamping: week >> 8)]
      payload.append(u4: UInt32(truncatingIfNeeded: second))
    }
    return payload + sent.flatMap(\.bytes)
  }

  /// Whether the reply to a poll of RXM-SPARTNKEY contains the last key of a message: a receiver drops a key that the next one
  /// has replaced.
  static func isInstalled(_ message: [UInt8], in reply: [UInt8]) -> Bool {
    guard let last = records(of: message).last else { return true }
    return records(of: reply).contains(last)
  }

  /// The keys of a payload, each with its length, week and second; empty if the payload is not of version 1, or incomplete.
  private static func records(of payload: [UInt8]) -> [ArraySlice<UInt8>] {
    guard payload.count >= 4, payload[0] == 1 else { return [] }
    let heads = payload.dropFirst(4).prefix(8 * Int(payload[1]))
    guard heads.count == 8 * Int(payload[1]) else { return [] }
    var keys = payload[heads.endIndex...]
    var records: [ArraySlice<UInt8>] = []
    for start in stride(from: heads.startIndex, to: heads.endIndex, by: 8) {
      let length = Int(heads[start + 1])
      guard keys.count >= length else { return [] }
      // The first byte is reserved.
      records.append(heads[(start + 1)..<(start + 8)] + keys.prefix(length))
      keys = keys.dropFirst(length)
    }
    return records
  }
}

extension UTCTime {
  /// Day and minute, such as `2026-11-24 10:00 UTC`.
  var minuteText: String {
    let date = day.components
    let minute = nanosecondsOfDay / 60_000_000_000
    return "\(date.year)-\(date.month.digits(2))-\(date.day.digits(2)) "
      + "\((minute / 60).digits(2)):\((minute % 60).digits(2)) UTC"
  }
}
