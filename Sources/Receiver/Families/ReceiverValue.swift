// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// A sentence and its rate: every n-th fix, 0 for never.
public struct SentenceRate: Sendable, Hashable {
  /// The formatter, such as GSV.
  public var formatter: String
  public var rate: UInt8
  /// The talker of a receiver whose commands name it, as it was observed, such as GP; nil otherwise.
  package var talker: String?
  /// The stream of a receiver whose commands name it, as it was read; nil otherwise.
  var stream: SentenceStream?

  public init(_ formatter: String, _ rate: UInt8) {
    self.formatter = formatter
    self.rate = rate
  }

  /// The largest rate that an observation for a file or a comparison shows.
  package static let rarestObserved: UInt8 = 10
  /// The largest rate that an observation after a change shows.
  static let rarestVerified: UInt8 = 30
  /// The talkers of receivers whose commands name them.
  static let talkers = ["GN", "GP"]

  /// The name of a place in a list of rates without a sentence of its own.
  static func name(ofPlace index: Int) -> String { "#\(index)" }
  static func place(of name: String) -> Int? { name.first == "#" ? Int(name.dropFirst()) : nil }
  /// Whether it is a sentence by its name.
  public var isSentence: Bool { formatter.first != "#" }
  /// Whether it is an RTCM 3 message by its name.
  var isCorrection: Bool { formatter.hasPrefix("RTCM") }
  /// Whether it counts as output of sentences. The text about the antenna, which some receivers send with each epoch, does not.
  var isOutput: Bool { rate > 0 && isSentence && !isCorrection && formatter != "TXT" }
}

/// A stream of Septentrio's: the sentences that a port gets at one interval.
struct SentenceStream: Sendable, Hashable {
  /// The number in its name.
  var number: UInt8
  /// The interval by its name, such as sec1 or msec100; off for a stream that sends nothing.
  var interval: String
}

/// A setting of a receiver of another maker, and its value.
public enum ReceiverValue: Sendable, Hashable {
  /// The time between two fixes, in milliseconds.
  case period(UInt16)
  /// The rates of sentences; those that are not listed stay as they are.
  case messages([SentenceRate])
  /// The constellations in use; all others are off.
  case constellations([DesiredConfiguration.Constellation])
  /// Whether any sentence is sent.
  case output(Bool)
  /// The logger, which stores fixes in the receiver; see `LoggerState`.
  case logger(LoggerState)
  /// Rover or base station.
  case mode(ReceiverMode)
  /// The rates of messages with raw measurements and orbits, by the family's names. A message that is not listed is one that the
  /// receiver lacks.
  case measurements([SentenceRate])

  public enum Kind: String, Sendable, CaseIterable {
    case period = "rate", constellations, messages, logger, mode, measurements
    case output = "nmea"

    /// The kind whose value the receiver has: for the output, the messages.
    package var stored: Kind { self == .output ? .messages : self }
  }

  public var kind: Kind {
    switch self {
    case .period: .period
    case .messages: .messages
    case .constellations: .constellations
    case .output: .output
    case .logger: .logger
    case .mode: .mode
    case .measurements: .measurements
    }
  }

  /// The rates of sentences as whether any is sent.
  var asOutput: ReceiverValue {
    if case .messages(let list) = self { .output(list.contains(where: \.isOutput)) } else { self }
  }

  /// The sentences with a position.
  static let positionSentences: Set<String> = ["GGA", "GLL", "GNS", "RMC"]

  /// Whether a sentence with a position is among those that are sent.
  var hasPositions: Bool {
    guard case .messages(let list) = self else { return false }
    return list.contains { $0.rate > 0 && Self.positionSentences.contains($0.formatter) }
  }

  /// The rates of sentences that switch the output of a receiver with these rates on or off; nil without any. RTCM 3 messages stay.
  ///
  /// - Parameters:
  ///   - forFixes: whether only sentences with a position count as output.
  ///   - canSet: whether a command sets the sentence.
  func sentences(
    forOutput isOn: Bool, usual: [SentenceRate], forFixes: Bool, canSet: (String) -> Bool
  ) -> ReceiverValue? {
    guard case .messages(let list) = self else { return nil }
    let sent = list.filter { $0.rate > 0 }
    guard isOn else {
      let off = sent.filter { !$0.isCorrection && canSet($0.formatter) }
      return off.isEmpty ? nil : .messages(off.map { SentenceRate($0.formatter, 0) })
    }
    let isThere = forFixes ? hasPositions : sent.contains(where: \.isOutput)
    if isThere { return nil }
    return .messages(usual.filter { one in !sent.contains { $0.formatter == one.formatter } })
  }

  /// Two words: the kind, and the value without blanks.
  var text: String {
    switch self {
    case .period(let milliseconds): "\(kind.rawValue) \(milliseconds)"
    case .messages(let list), .measurements(let list): "\(kind.rawValue) -" + Self.text(list)
    case .constellations(let list):
      "\(kind.rawValue) -" + list.map { String($0.rawValue) }.joined(separator: ",")
    case .output(let isOn): "\(kind.rawValue) \(isOn ? 1 : 0)"
    case .logger(let state): "\(kind.rawValue) \(state.text)"
    case .mode(let mode): "\(kind.rawValue) \(mode.words.joined(separator: "_"))/\(Self.text(mode.messages))"
    }
  }

  private static func text(_ list: [SentenceRate]) -> String {
    list.map { one in
      let stream = one.stream.map { ":\($0.number):\($0.interval)" } ?? ""
      return "\(one.talker ?? "")\(one.formatter):\(one.rate)\(stream)"
    }.joined(separator: ",")
  }

  private static func rates(_ text: some StringProtocol) -> [SentenceRate]? {
    let words = text.split(separator: ",")
    let list = words.compactMap { one -> SentenceRate? in
      let parts = one.split(separator: ":")
      guard parts.count == 2 || parts.count == 4, let rate = UInt8(parts[1]) else { return nil }
      let talker = SentenceRate.talkers.first { parts[0].utf8.count == 5 && parts[0].hasPrefix($0) }
      var one = SentenceRate(String(parts[0].dropFirst(talker?.utf8.count ?? 0)), rate)
      one.talker = talker
      if parts.count == 4 {
        guard let number = UInt8(parts[2]) else { return nil }
        one.stream = SentenceStream(number: number, interval: String(parts[3]))
      }
      return one
    }
    return list.count == words.count ? list : nil
  }

  /// Reads the two words of `text`; nil for anything else.
  init?(_ kind: String, _ word: String) {
    switch Kind(rawValue: kind) {
    case .period?:
      guard let milliseconds = UInt16(word) else { return nil }
      self = .period(milliseconds)
    case .messages?, .measurements?:
      guard word.first == "-", let list = Self.rates(word.dropFirst()) else { return nil }
      self = kind == Kind.messages.rawValue ? .messages(list) : .measurements(list)
    case .constellations?:
      guard word.first == "-" else { return nil }
      let words = word.dropFirst().split(separator: ",")
      let list = words.compactMap { UInt8($0).flatMap { DesiredConfiguration.Constellation(rawValue: $0) } }
      guard list.count == words.count else { return nil }
      self = .constellations(list)
    case .output?:
      guard ["0", "1"].contains(word) else { return nil }
      self = .output(word == "1")
    case .logger?:
      guard let state = LoggerState(word) else { return nil }
      self = .logger(state)
    case .mode?:
      let parts = word.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, let messages = Self.rates(parts[1]),
        let mode = ReceiverMode.received(parts[0].split(separator: "_").map(String.init), messages)
      else { return nil }
      self = .mode(mode)
    case nil: return nil
    }
  }

  /// Whether a receiver with this value needs no change for `wanted`.
  func covers(_ wanted: ReceiverValue) -> Bool {
    switch (self, wanted) {
    case (.messages(let there), .messages(let wanted)):
      wanted.allSatisfy { one in
        let same = there.filter { $0.formatter == one.formatter }
        if (same.first?.rate ?? 0) == one.rate { return true }
        // A sentence in several streams.
        return one != wanted.first { $0.formatter == one.formatter } && same.contains { $0.rate == one.rate }
      }
    case (.measurements(let there), .measurements(let wanted)):
      wanted.allSatisfy { one in there.first { $0.formatter == one.formatter }.map { $0.rate == one.rate } ?? true }
    case (.constellations(let there), .constellations(let wanted)): Set(there) == Set(wanted)
    case (.logger(let there), .logger(let wanted)): there.covers(wanted)
    case (.mode(let there), .mode(let wanted)):
      there.hasWords(of: wanted) && ReceiverValue.messages(there.messages).covers(.messages(wanted.messages))
    default: self == wanted
    }
  }

  /// The sentences that are to be off; nil without any.
  var switchedOff: ReceiverValue? {
    guard case .messages(let list) = self else { return nil }
    let off = list.filter { $0.rate == 0 }
    return off.isEmpty ? nil : .messages(off)
  }

  /// The value that restores this one after `wanted` was set: sentences that were added are off again.
  ///
  /// - Parameter isWhole: whether all sentences of this value are restored, or only the sentences of `wanted`.
  package func undoing(_ wanted: ReceiverValue, isWhole: Bool) -> ReceiverValue {
    if case .measurements(let there) = self, case .measurements(let wanted) = wanted {
      return .measurements(there.filter { one in wanted.contains { $0.formatter == one.formatter } })
    }
    guard case .messages(let there) = self, case .messages(let wanted) = wanted else { return self }
    let added = wanted.filter { one in !there.contains { $0.formatter == one.formatter } }
    let kept = isWhole ? there : there.filter { one in wanted.contains { $0.formatter == one.formatter } }
    return .messages(kept + added.map { SentenceRate($0.formatter, 0) })
  }

  /// The rates of the sentences of which `isKept` is true; other values as they are.
  func filtering(_ isKept: (String) -> Bool) -> ReceiverValue {
    guard case .messages(let list) = self else { return self }
    return .messages(list.filter { isKept($0.formatter) })
  }

  /// The rates of sentences without those of `other`; other values as they are.
  func removing(_ other: ReceiverValue) -> ReceiverValue {
    if case .messages(let list) = other { removing(list) } else { self }
  }

  /// The rates of sentences without these; other values as they are.
  func removing(_ some: [SentenceRate]) -> ReceiverValue {
    guard case .messages(let list) = self else { return self }
    return .messages(list.filter { one in !some.contains { $0.formatter == one.formatter } })
  }

  /// The rates of sentences with those of `other` that are missing here; other values as they are.
  func adding(_ other: ReceiverValue) -> ReceiverValue {
    func sum(_ list: [SentenceRate], _ more: [SentenceRate]) -> [SentenceRate] {
      list + more.filter { one in !list.contains { $0.formatter == one.formatter } }
    }
    switch (self, other) {
    case (.messages(let list), .messages(let more)): return .messages(sum(list, more))
    case (.measurements(let list), .measurements(let more)): return .measurements(sum(list, more))
    default: return self
    }
  }
}

/// Whether a receiver of another maker is a rover or a base station, in the words of its family's commands: the mode of an LG290P and
/// the fields of its survey, or Unicore's MODE.
public struct ReceiverMode: Sendable, Hashable {
  var words: [String]
  /// The messages whose rates change with the mode: as they were found, or those of a base.
  var messages: [SentenceRate] = []

  /// Returns a mode of words that a receiver sent; nil if a word cannot be one of a command.
  static func received(_ words: [String], _ messages: [SentenceRate] = []) -> ReceiverMode? {
    let isPlain = words.allSatisfy { word in
      !word.isEmpty && word.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || $0 == 0x2D || $0 == 0x2E }
    }
    return isPlain && !words.isEmpty ? ReceiverMode(words: words, messages: messages) : nil
  }

  /// Whether the receiver has the mode `wanted`, whatever its messages are. It can report more words: the result of a survey, defaults.
  func hasWords(of wanted: ReceiverMode) -> Bool {
    words.count >= wanted.words.count
      && zip(words, wanted.words).allSatisfy { there, word in
        if there == word { return true }
        guard let there = Double(there), let number = Double(word) else { return false }
        return abs(there - number) < 0.000_05
      }
  }
}
