// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import WireBytes

/// The settings that the sentences of a receiver show, where it cannot be asked: the time between its fixes, the sentences
/// and their rates, and the constellations.
struct ObservedOutput: Sendable {
  /// Sentences that come once an epoch.
  private static let single: Set<String> = ["GGA", "RMC", "GLL", "VTG", "ZDA", "GST", "GNS"]
  private static let periods: [UInt16] = [100, 200, 250, 500, 1000, 2000, 5000, 10_000]

  private struct Count {
    var first: Instant
    var last: Instant
    var epochs = 1
    /// The last epoch that it was in.
    var epoch: Int
    /// Its talker; nil for several.
    var talker: Talker?
    /// The times of day in the first and the last one, in milliseconds.
    var times: (first: Int, last: Int)?

    /// The mean time between two of them, in milliseconds: by their own times, as a line or a busy host delays them.
    var interval: Double {
      var length = Double(last.milliseconds(since: first))
      if let times, times.last > times.first { length = Double(times.last - times.first) }
      return max(length, 1) / Double(max(epochs - 1, 1))
    }
  }

  private var counts: [String: Count] = [:]
  /// The mode that the last frame without a request showed.
  private var mode: ReceiverMode?
  /// RTCM 3 messages by their names in commands: when they came first and last. Ephemerides come in bursts, one a satellite.
  private var corrections: [String: (first: Instant, lastBurst: Instant, last: Instant, bursts: Int)] = [:]
  /// Between two bursts is more time than this.
  private static let burstGap = Milliseconds(300)
  /// The RMC with and without a position.
  private var positions = 0
  private var voids = 0
  private var constellations: Set<DesiredConfiguration.Constellation> = []
  private var epoch = 0
  /// The formatters of the present epoch.
  private var present: Set<String> = []
  /// The time before which nothing counts: the receiver sends what it had in its buffer.
  private var begin: Instant?
  /// The last times of day of the sentences, in milliseconds, without repetitions.
  private var times: [Int] = []
  private static let mostTimes = 4

  /// Begins anew.
  ///
  /// - Parameter begin: when what is received counts.
  mutating func restart(from begin: Instant? = nil) {
    self = ObservedOutput()
    self.begin = begin
  }

  /// The time between the last fixes, by the times in all sentences: on a full line some are left out.
  private var lastInterval: Double? {
    guard times.count == Self.mostTimes else { return nil }
    let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
    return gaps.allSatisfy { $0 > 0 } ? gaps.min().map { Double($0) } : nil
  }

  mutating func receive(_ sentence: borrowing Sentence, at now: Instant) {
    if let begin, now < begin { return }
    guard !sentence.isProprietary, let name = Self.name(sentence.formatter) else { return }
    if Self.single.contains(name) {
      if present.contains(name) {
        epoch += 1
        present = []
      }
      present.insert(name)
    }
    if name == "RMC" {
      if Self.isValid(sentence.bytes) { positions += 1 } else { voids += 1 }
    }
    // GSA of a receiver with several systems may have the talker GN for some of them.
    if name == "GSV", let one = Self.constellation(sentence.talker) { constellations.insert(one) }
    let time = Self.time(sentence.bytes, name)
    if let time, time != times.last { times = Array((times + [time]).suffix(Self.mostTimes)) }
    guard var count = counts[name] else {
      counts[name] = Count(
        first: now, last: now, epoch: epoch, talker: sentence.talker, times: time.map { ($0, $0) })
      return
    }
    if count.talker != sentence.talker { count.talker = nil }
    if count.epoch != epoch {
      count.epochs += 1
      count.epoch = epoch
      count.last = now
      count.times = count.times.flatMap { times in time.map { (times.first, $0) } }
    }
    counts[name] = count
  }

  mutating func receive(_ frame: FamilyFrame, of family: ReceiverFamily?, at now: Instant) {
    if let begin, now < begin { return }
    mode = family?.language?.mode(shownBy: frame) ?? mode
  }

  mutating func receive(correction number: Int, at now: Instant) {
    if let begin, now < begin { return }
    let name = "RTCM\(number)"
    guard var one = corrections[name] else { return corrections[name] = (now, now, now, 1) }
    if now > one.last + Self.burstGap {
      one.lastBurst = now
      one.bursts += 1
    }
    one.last = now
    corrections[name] = one
  }

  /// The sentences whose rates are not certain: they were in one epoch only.
  var sentencesSeenOnce: [String] { counts.filter { $0.value.epochs == 1 }.map(\.key) }

  /// The RTCM 3 messages with their periods in seconds.
  var correctionRates: [SentenceRate] {
    corrections.map { name, one in
      let seconds = one.lastBurst.seconds(since: one.first) / Double(max(one.bursts - 1, 1))
      return SentenceRate(name, max(1, UInt8(clamping: seconds.rounded())))
    }.sorted { $0.formatter < $1.formatter }
  }

  /// Whether MSM of any constellation was received.
  var hasObservations: Bool {
    corrections.keys.contains { name in Int(name.dropFirst(4)).map { 1071...1137 ~= $0 } ?? false }
  }
  /// Whether the receiver had a position all the time.
  var hasPositions: Bool { positions >= 3 && voids == 0 }

  /// Whether a sentence with a position was received.
  var hasPositionSentences: Bool { counts.keys.contains { ReceiverValue.positionSentences.contains($0) } }

  /// The sentences that were received, each as if once an epoch: too few came for their rates.
  var sentencesWithoutRates: ReceiverValue { .messages(counts.keys.sorted().map { SentenceRate($0, 1) }) }

  /// The messages of a receiver without sentences; nil if there are some, but too few.
  var messagesWithoutSentences: ReceiverValue? { counts.isEmpty ? .messages(correctionRates) : nil }

  /// The mode that the frames show, or `sentences` where sentences were received; nil without either.
  func mode(sentences: ReceiverMode?) -> ReceiverValue? {
    (mode ?? (counts.isEmpty ? nil : sentences)).map { .mode($0) }
  }

  /// The sentences whose time between two of them is not a whole number of seconds.
  var sentencesOfFractions: [String] {
    counts.filter { _, count in
      let seconds = count.interval / 1000
      return count.epochs > 1 && abs(seconds - max(1, seconds.rounded())) > Self.secondsTolerance
    }.map(\.key)
  }

  private static let secondsTolerance = 0.2

  /// Returns the value; nil as long as too little was received.
  ///
  /// - Parameter inSeconds: whether the rates of sentences are seconds between two of them, not fixes.
  func value(_ kind: ReceiverValue.Kind, inSeconds: Bool = false) -> ReceiverValue? {
    guard let lead = counts.filter({ Self.single.contains($0.key) }).map(\.value).max(by: { $0.epochs < $1.epochs }),
      lead.epochs >= 3
    else { return nil }
    switch kind {
    case .period:
      let mean = lastInterval ?? lead.interval
      return .period(Self.nearest(to: mean))
    case .messages:
      return .messages(
        counts.map { name, count in
          // By the time between two of them: the first and the last epoch may be cut.
          let milliseconds = count.epochs > 1 ? count.interval : Double(lead.epochs) * lead.interval
          let every = milliseconds / (inSeconds ? 1000 : lead.interval)
          return SentenceRate(name, max(1, UInt8(clamping: every.rounded())))
        }.sorted { $0.formatter < $1.formatter } + correctionRates)
    case .constellations:
      return constellations.isEmpty ? nil : .constellations(constellations.sorted { $0.rawValue < $1.rawValue })
    case .output: return value(.messages)?.asOutput
    case .measurements: return .measurements(correctionRates)
    case .logger, .mode: return nil
    }
  }

  /// Adds the observed talkers to sentences of a position. Those of satellites have a talker for each system, which no command names.
  func naming(_ value: ReceiverValue) -> ReceiverValue {
    guard case .messages(var list) = value else { return value }
    for index in list.indices where Self.single.contains(list[index].formatter) {
      let talker = counts[list[index].formatter]?.talker
      list[index].talker = talker == .combined ? "GN" : talker == .gps ? "GP" : nil
    }
    return .messages(list)
  }

  /// The usual period that is the nearest to a time, in milliseconds.
  static func nearest(to time: Double) -> UInt16 {
    periods.min { abs(Double($0) - time) < abs(Double($1) - time) } ?? 1000
  }

  /// The time of day of a sentence whose first field it is, in milliseconds; nil without one.
  private static func time(_ bytes: RawSpan, _ name: String) -> Int? {
    guard ["GGA", "RMC", "ZDA", "GST", "GNS"].contains(name) else { return nil }
    let text = [UInt8](copying: bytes)
    guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return nil }
    let digits = text[(comma + 1)...].prefix { $0 != UInt8(ascii: ",") }.filter { $0 != UInt8(ascii: ".") }
    guard digits.count >= 6, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    let numbers = (digits + [0x30, 0x30, 0x30]).prefix(9).map { Int($0) - 0x30 }
    let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
    return ((hours * 60 + minutes) * 60 + numbers[4] * 10 + numbers[5]) * 1000 + numbers[6] * 100 + numbers[7] * 10
      + numbers[8]
  }

  /// Whether RMC has the status A.
  private static func isValid(_ bytes: RawSpan) -> Bool {
    let fields = [UInt8](copying: bytes).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    return fields.count > 2 && fields[2].elementsEqual([UInt8(ascii: "A")])
  }

  private static func name(_ formatter: Formatter) -> String? {
    let bytes = [16, 8, 0].map { UInt8(truncatingIfNeeded: formatter.code >> $0) }
    guard formatter.code >> 24 == 0, bytes.allSatisfy({ 0x41...0x5A ~= $0 }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func constellation(_ talker: Talker) -> DesiredConfiguration.Constellation? {
    switch talker {
    case .gps: .gps
    case .glonass: .glonass
    case .galileo: .galileo
    case .beiDou, .beiDouOld: .beiDou
    case .qzss, .qzssOld: .qzss
    case .navIC: .navIC
    default: nil
    }
  }
}
