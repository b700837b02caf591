// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import WireBytes

/// The settings that the sentences of a receiver show, where it cannot be asked: the time between its fixes, the sentences
/// and their rates, and the constellations.
struct ObservedOutput: Sendable {
  /// Sentences that come once an epoch.
  private static let single: Set = [
    GGA.formatter, RMC.formatter, GLL.formatter, VTG.formatter, ZDA.formatter, GST.formatter, GNS.formatter,
  ]
  /// Those whose first field is the time of day.
  private static let timed: Set = [GGA.formatter, RMC.formatter, ZDA.formatter, GST.formatter, GNS.formatter]
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

  private var counts: [Formatter: Count] = [:]
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
  private var present: Set<Formatter> = []
  /// The time before which nothing counts: the receiver sends what it had in its buffer.
  private var begin: Instant?
  /// The last times of day of the sentences, in milliseconds, without repetitions.
  private var times: [Int] = []
  private static let mostTimes = 4

  /// Returns what was observed, and is empty until it gets that back: a second owner would copy it at each change.
  mutating func takeOut() -> ObservedOutput {
    defer { self = ObservedOutput() }
    return self
  }

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
    let formatter = sentence.formatter
    guard !sentence.isProprietary, Self.isName(formatter) else { return }
    if Self.single.contains(formatter), !present.insert(formatter).inserted {
      epoch += 1
      present = [formatter]
    }
    let (time, isValid) = Self.timed.contains(formatter) ? Self.time(sentence.bytes) : (nil, false)
    if formatter == RMC.formatter { if isValid { positions += 1 } else { voids += 1 } }
    // GSA of a receiver with several systems may have the talker GN for some of them.
    if formatter == GSV.formatter, let one = Self.constellation(sentence.talker) { constellations.insert(one) }
    if let time, time != times.last {
      if times.count == Self.mostTimes { times.removeFirst() }
      times.append(time)
    }
    guard var count = counts[formatter] else {
      counts[formatter] = Count(
        first: now, last: now, epoch: epoch, talker: sentence.talker, times: time.map { ($0, $0) })
      return
    }
    if count.talker != sentence.talker { count.talker = nil }
    if count.epoch != epoch {
      count.epochs += 1
      count.epoch = epoch
      count.last = now
      if let time, let times = count.times { count.times = (times.first, time) } else { count.times = nil }
    }
    counts[formatter] = count
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
  var sentencesSeenOnce: [String] { counts.filter { $0.value.epochs == 1 }.map { Self.name($0.key) } }

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
  var hasPositionSentences: Bool { counts.keys.contains { ReceiverValue.positionSentences.contains(Self.name($0)) } }

  /// The sentences that were received, each as if once an epoch: too few came for their rates.
  var sentencesWithoutRates: ReceiverValue {
    .messages(counts.keys.map(Self.name).sorted().map { SentenceRate($0, 1) })
  }

  /// The messages of a receiver without sentences, apart from texts; nil if there are some, but too few.
  var messagesWithoutSentences: ReceiverValue? {
    counts.keys.allSatisfy { $0 == TXT.formatter } ? .messages(correctionRates) : nil
  }

  /// The mode that the frames show, or `sentences` where sentences were received; nil without either.
  func mode(sentences: ReceiverMode?) -> ReceiverValue? {
    (mode ?? (counts.isEmpty ? nil : sentences)).map { .mode($0) }
  }

  /// The sentences whose time between two of them is not a whole number of seconds.
  var sentencesOfFractions: [String] {
    counts.filter { _, count in
      let seconds = count.interval / 1000
      return count.epochs > 1 && abs(seconds - max(1, seconds.rounded())) > Self.secondsTolerance
    }.map { Self.name($0.key) }
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
        counts.map { formatter, count in
          // By the time between two of them: the first and the last epoch may be cut.
          let milliseconds = count.epochs > 1 ? count.interval : Double(lead.epochs) * lead.interval
          let every = milliseconds / (inSeconds ? 1000 : lead.interval)
          return SentenceRate(Self.name(formatter), max(1, UInt8(clamping: every.rounded())))
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
    let talkers = Dictionary(uniqueKeysWithValues: Self.single.map { (Self.name($0), counts[$0]?.talker) })
    for index in list.indices {
      guard let talker = talkers[list[index].formatter] else { continue }
      list[index].talker = talker == .combined ? "GN" : talker == .gps ? "GP" : nil
    }
    return .messages(list)
  }

  /// The usual period that is the nearest to a time, in milliseconds.
  static func nearest(to time: Double) -> UInt16 {
    periods.min { abs(Double($0) - time) < abs(Double($1) - time) } ?? 1000
  }

  /// Returns the time of day in the first field, in milliseconds, nil without one; and whether the second field is RMC's status A.
  private static func time(_ sentence: RawSpan) -> (milliseconds: Int?, isValid: Bool) {
    let end = sentence.byteCount
    var at = 0
    /// The next byte of a field; nil at its end.
    func next() -> UInt8? {
      guard at < end else { return nil }
      defer { at += 1 }
      let byte = sentence.u1(at)
      return byte == UInt8(ascii: ",") ? nil : byte
    }
    while next() != nil {}
    // hhmmss and three digits of the fraction.
    var (number, digits, isNumber) = (0, 0, true)
    while let byte = next() {
      guard byte != UInt8(ascii: ".") else { continue }
      isNumber = isNumber && 0x30...0x39 ~= byte
      if isNumber, digits < 9 { (number, digits) = (number * 10 + Int(byte - 0x30), digits + 1) }
    }
    let isValid = next() == UInt8(ascii: "A") && next() == nil
    guard isNumber, digits >= 6 else { return (nil, isValid) }
    for _ in digits..<9 { number *= 10 }
    return ((number / 10_000_000 * 60 + number / 100_000 % 100) * 60_000 + number % 100_000, isValid)
  }

  /// Whether it is three capital letters.
  private static func isName(_ formatter: Formatter) -> Bool {
    func isCapital(_ byte: UInt32) -> Bool { 0x41...0x5A ~= byte & 0xFF }
    let code = formatter.code
    return code >> 24 == 0 && isCapital(code >> 16) && isCapital(code >> 8) && isCapital(code)
  }

  private static func name(_ formatter: Formatter) -> String {
    String(decoding: littleEndianBytes(formatter.code.byteSwapped >> 8).prefix(3), as: UTF8.self)
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
