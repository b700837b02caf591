// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX
import WireBytes

/// The messages of an answer of the AssistNow service, which has whole UBX frames of class MGA and nothing else.
public struct AssistNowAnswer: Sendable, Equatable {
  /// The reason why an answer is not used. A part of it is not used either: the rest is as doubtful.
  public enum Refusal: Error, Equatable, Sendable {
    case empty
    /// A text instead of messages; its first words.
    case text(String)
    /// No frame with a correct checksum begins at this byte, or it ends before its end.
    case noFrame(at: Int)
    /// A message of another class than MGA, or with a wrong size.
    case otherMessage(at: Int)
  }

  /// The messages with orbits, in their order.
  var messages: [AssistanceRecord.Message] = []
  /// The number of other messages, such as almanacs and the server's time.
  public private(set) var others = 0

  public init(_ bytes: RawSpan) throws(Refusal) {
    var offset = 0
    if bytes.byteCount == 0 { throw .empty }
    while offset < bytes.byteCount {
      guard case .frame(let length) = UBXFrame.scan(bytes, from: offset, longestPayload: 512) else {
        throw offset == 0 ? Self.refusal(bytes) : .noFrame(at: offset)
      }
      let frame = UBXFrame(checked: bytes.extracting(offset..<offset + length))
      let payload = [UInt8](copying: frame.payload)
      let size = try Self.size(frame.identity, type: payload.first, at: offset)
      if let size {
        guard payload.count == size else { throw .otherMessage(at: offset) }
        messages.append(AssistanceRecord.Message(identity: frame.identity, payload: payload))
      } else {
        others += 1
      }
      offset += length
    }
  }

  /// The size of a message with orbits; nil for other aiding data.
  private static func size(_ identity: MessageIdentity, type: UInt8?, at offset: Int) throws(Refusal) -> Int? {
    guard identity.messageClass == 0x13, let type else { throw .otherMessage(at: offset) }
    if identity == .mgaANO { return 76 }
    let system = AssistanceEphemeris.identities.first { $0.value == identity }?.key
    return type == 1 ? system.flatMap { AssistanceEphemeris.sizes[$0] } : nil
  }

  private static func refusal(_ bytes: RawSpan) -> Refusal {
    let start = (0..<min(bytes.byteCount, 120)).map { bytes.u1($0) }
    let line = start.prefix { $0 >= 0x20 && $0 < 0x7F }
    return line.count < min(start.count, 4) ? .noFrame(at: 0) : .text(String(decoding: line, as: UTF8.self))
  }
}

extension AssistNowAnswer.Refusal {
  /// The problem, to be printed after the name of the service.
  public var text: String {
    switch self {
    case .empty: "sends an empty answer"
    case .text(let words): "sends a text instead of orbits: \(words)"
    case .noFrame(let offset): "sends damaged messages (at byte \(offset))"
    case .otherMessage(let offset): "sends other messages than aiding data (at byte \(offset))"
    }
  }
}

/// Predicted orbits, one for each satellite and day: MGA-ANO of AssistNow.
///
/// A prediction is best at noon (UTC) of its day (integration manuals, "Host-based AssistNow Offline"); the receiver gets the
/// prediction of the nearest day. The value does not use a clock or files.
public struct PredictedOrbits: Sendable, Equatable {
  private struct Satellite: Hashable, Comparable {
    var system: UInt8
    var number: UInt8

    static func < (a: Satellite, b: Satellite) -> Bool { (a.system, a.number) < (b.system, b.number) }
  }

  /// The payloads.
  private var days: [Day: [Satellite: [UInt8]]] = [:]

  /// The numbers of satellites of GPS, Galileo, BeiDou, QZSS and GLONASS (interface descriptions, "Satellite numbering").
  private static let numbers: [UInt8: ClosedRange<UInt8>] = [0: 1...32, 2: 1...36, 3: 1...63, 5: 1...10, 6: 1...32]
  /// The longest period of the service is five weeks.
  private static let longestDays: Int64 = 36

  public init() {}

  /// Takes the predictions of an answer. Those of the past, and of days that no period reaches, are left out.
  public init(_ answer: AssistNowAnswer, at utc: UTCTime) {
    let today = utc.day.since1970
    for message in answer.messages where message.identity == .mgaANO {
      let payload = message.payload
      guard payload[0] == 0, payload[1] == 0, Self.numbers[payload[3]]?.contains(payload[2]) == true,
        let day = Day(year: 2000 + Int(payload[4]), month: Int(payload[5]), day: Int(payload[6])),
        (today - 1...today + Self.longestDays).contains(day.since1970)
      else { continue }
      days[day, default: [:]][Satellite(system: payload[3], number: payload[2])] = payload
    }
  }

  public var isEmpty: Bool { days.isEmpty }

  /// The last day with a prediction.
  public var lastDay: Day? { days.keys.max() }

  // MARK: Use

  /// The messages of the nearest days, in the order of systems and satellites: of today, yesterday or tomorrow.
  package func messages(at utc: UTCTime) -> [AssistanceRecord.Message] {
    nearest(utc).sorted { $0.key < $1.key }
      .map { AssistanceRecord.Message(identity: .mgaANO, payload: $0.value) }
  }

  /// The number of satellites with a prediction of today, yesterday or tomorrow.
  public func count(at utc: UTCTime) -> Int { nearest(utc).count }

  private func nearest(_ utc: UTCTime) -> [Satellite: [UInt8]] {
    let today = utc.day.since1970
    let isMorning = utc.nanosecondsOfDay < UTCTime.nanosecondsPerDay / 2
    // The nearest day is merged last.
    return (isMorning ? [1, -1, 0] : [-1, 1, 0]).reduce(into: [:]) { found, offset in
      found.merge(days[Day(since1970: today + offset)] ?? [:]) { $1 }
    }
  }

  /// Returns the time in seconds for which starts have enough predictions of the same day; 0 with too few.
  public func usableSeconds(at utc: UTCTime) -> Double {
    var day = utc.day.since1970
    while days[Day(since1970: day)]?.count ?? 0 >= EphemerisStock.enough { day += 1 }
    guard day > utc.day.since1970 else { return 0 }
    let end = day * UTCTime.nanosecondsPerDay
    return Double(end - utc.nanosecondsSince1970) / 1e9
  }

  // MARK: File

  private static let title = "sextant-predictions 1"
  private static let end = "end"

  /// The content of the file: the frames of today and later days, in the order of the days, one a line.
  public func text(at utc: UTCTime) -> String {
    var text = Self.title + "\n"
    for (day, satellites) in days.sorted(by: { $0.key < $1.key }) where day >= utc.day {
      for (_, payload) in satellites.sorted(by: { $0.key < $1.key }) {
        text += frameBytes(.mgaANO, payload).hexadecimalDigits + "\n"
      }
    }
    return text + Self.end + "\n"
  }

  /// Reads the content of a file; nil if it is incomplete or malformed: wrong assistance is worse than none.
  public init?(_ text: String, at utc: UTCTime) {
    var bytes: [UInt8] = []
    var lines = text.split(separator: "\n")[...]
    guard lines.popFirst() == Self.title[...], lines.popLast() == Self.end[...] else { return nil }
    for line in lines {
      guard let frame = [UInt8](hexadecimalDigits: line) else { return nil }
      bytes += frame
    }
    if bytes.isEmpty {
      self.init()
    } else {
      guard let answer = try? unsafe AssistNowAnswer(bytes.span.bytes) else { return nil }
      self.init(answer, at: utc)
    }
  }
}
