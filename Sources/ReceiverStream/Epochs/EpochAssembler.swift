// SPDX-License-Identifier: Apache-2.0

import NMEA
import UBX
import WireBytes

/// Collects the messages of an epoch into a `Fix`, and reports the epoch when it is complete.
///
/// The identity of an epoch is the time of its position. An epoch is closed by NAV-EOE, by the message with which the
/// receiver usually ends its bursts (`BurstOrder`), by `idle` when the line is silent, or at the latest by the first
/// message of the next epoch. A message of the epoch that arrives after the close is added, and the epoch is reported
/// again as an update. Sentences without a time belong to the epoch of their burst, and never start an epoch.
///
/// The assembler takes frames and returns reports. It does not use a clock or files. `reference` is the time of the
/// computer's clock.
public struct EpochAssembler: ~Copyable, Sendable {
  /// A fix, and the reason of the report.
  public struct Report: Sendable {
    public var fix: Fix
    /// Whether the epoch was reported before and has changed since.
    public var isUpdate: Bool
    /// Whether anything except satellites and dilutions changed since the previous report; true for the first report of
    /// an epoch.
    public var fixChanged: Bool
    /// Whether the satellites changed since the last report, or the dilutions that were reported with them.
    public var skyChanged: Bool
    /// Whether the dilutions are new and the receiver sends no satellites.
    public var hasDilutionsAlone: Bool

    /// A report in the assembler's form, for reports from other sources. By default the first report of an epoch,
    /// without satellites.
    public init(
      fix: Fix, isUpdate: Bool = false, fixChanged: Bool = true, skyChanged: Bool = false,
      hasDilutionsAlone: Bool = false
    ) {
      self.fix = fix
      self.isUpdate = isUpdate
      self.fixChanged = fixChanged
      self.skyChanged = skyChanged
      self.hasDilutionsAlone = hasDilutionsAlone
    }
  }

  /// The number of invalid and out-of-range fields, which are absent from the fixes.
  public internal(set) var rejectedFields = 0
  var fix = Fix()
  var tag: EpochTag?
  var calendar = ReceiverCalendar()
  /// The last date of RMC, and its day; nil for an invalid date.
  var lastDate = (date: ShortDate(day: 0, month: 0, year: 0), day: nil as Day?)
  /// GPS − UTC, as the receiver reports it.
  var leapSeconds: Int?
  /// The state of the epoch's NMEA sentences, from which the fix is completed.
  var nmea = NMEAEpoch()
  var digitLoss = DigitLossCheck()
  var positionSources = PositionSources()
  var series = SentenceSeries()
  /// The values of sentences without a time: of the epoch, or of the next one while `state` is `ahead`.
  var untimed = UntimedValues()
  /// The epoch's own values of sentences without a time while `state` is `ahead`.
  private var held = UntimedValues()
  /// A heading for the next epoch.
  private var nextHeading = (heading: Heading(), tag: nil as EpochTag?)
  /// The time of the last ZDA before the first epoch.
  var outputTime: UTCTime?
  var output = OutputTimes()
  /// The state of `sky`.
  var skyState = SkyState.earlier
  var satelliteSource = SatelliteSource()
  /// The receiver's numbering of BeiDou.
  var beiDou = BeiDouNumbering.unknown
  /// The systems whose satellites have other ids than their numbers in the receiver's sentences.
  var shifted = ShiftedSystems()
  /// The satellites of the last report, until the epoch has its own.
  var sky = Sky()
  /// The group of GSV sentences whose satellites are collected.
  var group = SatelliteGroup()
  /// The used satellites of the last burst with GSA.
  private var earlierUse = EarlierUse()
  var order = BurstOrder()
  /// Whether the earth-centred position is from NAV-HPPOSECEF.
  var hasPreciseECEF = false
  /// Whether the epoch has a message with a position, a status or a date. Without one it is not reported: dilutions, accuracies,
  /// satellites and attitudes may be sent more often than fixes.
  private var statesFix = false
  /// Whether a UBX message has stated the quality of the epoch's fix, and the number of its satellites.
  var hasUBXQuality = false
  var hasUBXCount = false
  /// The number of epochs since the first output (NAV) had a position. The second output (NAV2) is used above
  /// `epochsUntilSecondOutput`, and at the start.
  var epochsWithoutFirstOutput = EpochAssembler.epochsUntilSecondOutput + 1
  static var epochsUntilSecondOutput: UInt8 { 10 }
  /// GPS − UTC of the receiver's times: from its last message with UTC and a time of week, or as it reported it later.
  var clockOffset: Int8?
  package private(set) var state = State.empty
  /// The pause on the line before the current message, in milliseconds; 0 for none.
  private(set) var pause: UInt32 = 0
  /// The last report. The next one is made in place, because a fix is large.
  private(set) var last = Report(fix: Fix())

  /// The collection of the epoch.
  package enum State: UInt8 {
    /// No epoch has started, and nothing was collected for the first one.
    case empty
    /// Sentences without a time are collected for the first epoch.
    case gathering
    /// The epoch of `fix` has messages that no report covers.
    case open
    /// The epoch is reported. Its later messages are added.
    case reported
    /// The epoch is reported, with later satellites that no report covers yet, because the end of their sentences is not known.
    case late
    /// The epoch is reported. Sentences without a time are collected for the next one.
    case ahead

    /// Whether messages are added to the epoch of `fix`.
    var isOfEpoch: Bool { self == .open || self == .reported || self == .late }
  }

  /// The satellites of a burst.
  enum SkyState: UInt8 {
    /// The burst has no satellites: they are from an earlier burst.
    case earlier
    /// They are from this burst and reported.
    case reported
    /// They have changed since the last report.
    case changed
    /// The same, and they were not compared with the used satellites of GSA.
    case unmarked

    var isChanged: Bool { rawValue >= SkyState.changed.rawValue }
  }

  /// The silence in milliseconds that ends an epoch: receivers write a burst without pauses.
  private static var silence: UInt32 { 100 }

  /// - Parameters:
  ///   - reference: the computer's time, if its clock is set. It corrects dates that are 1024 weeks early.
  ///   - isLive: whether the stream comes live from a receiver. A first epoch with only a time takes its date from the
  ///     reference.
  public init(reference: UTCTime? = nil, isLive: Bool = false) {
    calendar.reference = reference
    calendar.start = isLive ? reference : nil
  }

  /// Handles the next frame of the stream. `body` receives each report that results, with the satellites.
  public mutating func receive(_ frame: borrowing Frame, _ body: (borrowing Report, borrowing Sky) -> Void) {
    if state == .empty { order.noteFirst(isCut: frame.isOfCutStream, hasHead: frame.offset > 0) }
    switch frame.kind {
    case .ubx: if let frame = frame.ubx { receive(frame, body) }
    case .nmea: if let sentence = frame.nmea { receive(sentence, body) }
    case .rtcm3, .spartn: break
    }
  }

  /// Handles silence on the line: no more messages of this epoch will come (100 ms are enough for any receiver).
  /// Reports an unreported epoch, and satellites that belong to no epoch.
  public mutating func idle(_ body: (borrowing Report, borrowing Sky) -> Void) {
    if output.isAhead, !output.areOfPositions { endOutput(body) }
    switch state {
    case .open, .late: report(body)
    case .gathering, .ahead: reportSky(body)
    case .empty, .reported: break
    }
    pauses(milliseconds: Self.silence)
  }

  /// Records a pause on the line between the previous and the following frames. `idle` is a pause of 100 ms.
  public mutating func pauses(milliseconds: UInt32) { pause = max(pause, milliseconds) }

  /// Handles the end of the stream. Collected messages are reported.
  public mutating func finish(_ body: (borrowing Report, borrowing Sky) -> Void) {
    // In a stream without any epoch, the time and satellites form one.
    if state == .gathering {
      startEpoch(nil)
      fix.time = outputTime
      statesFix = true
    }
    idle(body)
    rejectedFields += untimed.unmatched.uncertain
  }

  /// The report that would result if the epoch ended now, or the last report if nothing was collected since. It does
  /// not change the state. Used satellites may not be marked yet. A caller that waits for an epoch uses this call to
  /// bring the code and data of the report into the caches.
  public mutating func preview(_ body: (borrowing Report, borrowing Sky) -> Void) {
    body(Report(fix: state == .open ? finished() : last.fix, skyChanged: sky.count > 0), sky)
  }

  /// Whether messages were collected that no report has covered, and that `idle` completes.
  public var isOpen: Bool {
    switch state {
    case .open: statesFix || pause < Self.silence
    case .late: true
    case .gathering, .ahead: pause < Self.silence
    case .empty, .reported: false
    }
  }

  // MARK: Messages

  /// Called before a message with the time of a position is applied, or a position without a time. Closes the epoch if
  /// the message belongs to a new one.
  ///
  /// - Parameters:
  ///   - statesFix: whether the message has a position, a status or a date.
  ///   - isOther: whether the message belongs to another epoch, regardless of its time.
  /// - Returns: whether the message is used: not one without these of an epoch that is over.
  @discardableResult
  mutating func begin(
    _ tag: EpochTag?, _ id: UInt64, statesFix: Bool = false, isOther: Bool = false,
    _ body: (borrowing Report, borrowing Sky) -> Void
  ) -> Bool {
    let isNew = isOther || isNewEpoch(tag)
    if isNew, !statesFix, let tag, tag.isBehind(self.tag, milliseconds: Self.longestDelay) { return false }
    var isInBurst = false
    if let own = output.tag { isInBurst = settleOutput(own, tag, isNew, body) }
    if isNew, state == .open || state == .late { report(body) }
    if state == .ahead || state == .gathering { joinAhead(isNew) }
    if !isNew, untimed.motion == .last { untimed.motion = .enclosed }
    order.add(timed: id, isNew: isNew && !isInBurst, after: pause)
    if isNew { startEpoch(tag) } else if self.tag == nil { self.tag = tag }
    if statesFix { self.statesFix = true }
    return true
  }

  /// The longest delay of a message behind the others of its epoch, and of a position sentence, in milliseconds.
  private static var longestDelay: Int64 { 10_000 }
  private static var longestLag: Int64 { 3000 }

  /// Whether a position sentence of an epoch that is over is ignored: its source, such as a plotter that repeats the receiver's
  /// sentences, lags behind. A source whose clock was set back sends a time before its own last sentence's.
  ///
  /// - Parameters:
  ///   - earlier: the time of the source's last sentence of this kind; nil if it is not known.
  ///   - isOther: whether the sentence may be from another source than the epoch's.
  @inline(never)
  mutating func ignoresLagging(_ tag: EpochTag?, after earlier: EpochTag?, isOther: Bool) -> Bool {
    guard last.fix.latitudeDegrees != nil, let tag, tag.isBehind(self.tag, milliseconds: Self.longestLag) else {
      return false
    }
    return earlier.map { $0.isBehind(tag, milliseconds: Self.longestDelay) } ?? isOther
  }

  /// Called before a sentence is applied that states another time of its output than the epoch's. It begins no epoch. On a line without
  /// pauses a later time is the time of the next position: the sentences between are of its burst.
  @inline(never)
  mutating func beginOutput(_ own: EpochTag, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void) {
    let isNext = pause == 0 && output.mayBeOfPositions && !order.knowsPauses && isLater(own)
    let isSame = output.tag?.isSame(as: own) ?? false
    // The position with the time before was lost.
    if isNext, output.isAhead, !isSame { dropAhead() }
    var isAhead = isNext && (output.isAhead || output.areOfPositions)
    if isAhead, output.areOfPositions {
      if state.isOfEpoch { goAhead(body) }
      order.add(timed: id, isNew: !isSame, after: 0)
    } else {
      beginUntimed(id, body)
      if isNext, state.isOfEpoch {
        isAhead = true
        goAhead(body)
      }
      if isAhead { order.noteOutput() }
      // A second ZDA reports what was collected.
      if outputTime == nil { dropStart(before: own) }
    }
    output.add(own.timeOfDay(leapSeconds: leapSecondsNow), isAhead: isAhead)
  }

  /// Whether a time of day is later than the epoch's, by up to half a day.
  private mutating func isLater(_ own: EpochTag) -> Bool {
    let leapSeconds = leapSecondsNow
    return tag?.timeOfDay(leapSeconds: leapSeconds).isBehind(own, milliseconds: 43_200_000) ?? false
  }

  /// Compares the last time of output with the time of a message behind it. Returns whether it has begun the message's burst.
  @inline(never)
  private mutating func settleOutput(
    _ own: EpochTag, _ tag: EpochTag?, _ isNew: Bool, _ body: (borrowing Report, borrowing Sky) -> Void
  ) -> Bool {
    let isAhead = output.isAhead
    if let tag, tag.isSame(as: own, leapSeconds: leapSecondsNow) {
      if isAhead, !output.areOfPositions { order.startBurstAtOutput() }
      defer { output.end(isOfPosition: true) }
      return isAhead && output.areOfPositions
    }
    if isAhead, isNew { endOutput(body) }
    if !dropStart(before: tag) { output.end(isOfPosition: false) }
    return false
  }

  /// Drops what was collected before the first position if it is of the burst of an earlier one. Returns whether it did.
  @discardableResult
  private mutating func dropStart(before tag: EpochTag?) -> Bool {
    guard state == .gathering, let own = output.tag,
      own.isBehind(tag?.timeOfDay(leapSeconds: leapSecondsNow), milliseconds: Self.longestDelay)
    else { return false }
    dropAhead()
    order.discardStart()
    output.end(isOfPosition: nil)
    return true
  }

  /// Handles that no position has the last time of output. The position was lost if such times are times of positions; otherwise the sentences
  /// behind it are of the epoch before.
  @inline(never)
  private mutating func endOutput(_ body: (borrowing Report, borrowing Sky) -> Void) {
    if output.areOfPositions {
      dropAhead()
    } else {
      returnAhead()
      if state == .reported { reportChange(body) }
    }
    output.release()
  }

  /// Called before a sentence without a time is applied. It belongs to the epoch of its burst.
  @inline(__always)
  mutating func beginUntimed(
    _ id: UInt64, continuesGroup: Bool = false, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    if pause == 0, state.isOfEpoch, order.goOn(untimed: id) { return }
    placeUntimed(id, continuesGroup, body)
  }

  /// Finds the epoch of a sentence without a time, using the receiver's order.
  @inline(never)
  private mutating func placeUntimed(
    _ id: UInt64, _ continuesGroup: Bool, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    let isAhead = order.isAhead(id, after: pause, isInstrument: false)
    if output.isAhead, isAhead { endOutput(body) }
    findBurst(isAhead: isAhead, body)
    if state == .empty { state = .gathering }
    order.add(untimed: id, after: pause, continuesGroup: continuesGroup)
  }

  /// Called before a sentence without a time that may be the first of the next burst, or after a pause between the
  /// bursts.
  @inline(__always)
  private mutating func findBurst(isAhead: Bool, _ body: (borrowing Report, borrowing Sky) -> Void) {
    switch state {
    case .empty, .gathering, .ahead: if pause > 0 { dropBeforePause() }
    case .open, .reported, .late: if isAhead { goAhead(body) }
    }
  }

  /// Collects sentences without a time for the next epoch from now on.
  @inline(never)
  private mutating func goAhead(_ body: (borrowing Report, borrowing Sky) -> Void) {
    if state == .open || state == .late { report(body) }
    swap(&held, &untimed)
    rejectedFields += held.unmatched.uncertain
    earlierUse.add(held)
    state = .ahead
    untimed = UntimedValues()
    skyState = .earlier
  }

  /// Drops sentences without a time that belong to no epoch.
  private mutating func dropAhead() {
    rejectedFields += untimed.unmatched.uncertain
    earlierUse.add(untimed)
    untimed = UntimedValues()
    skyState = .earlier
  }

  /// Drops sentences without a time before a pause between two bursts. A heading counts as an instrument's only if the
  /// order is known: until then it may be a late heading of the previous epoch.
  @inline(never)
  private mutating func dropBeforePause() {
    guard order.separates(pause) else { return }
    dropAhead()
    if !order.isKnown { nextHeading = (Heading(), nil) }
  }

  /// Joins the sentences without a time to the epoch of the message with a time that follows them.
  @inline(never)
  private mutating func joinAhead(_ isNew: Bool) {
    dropBeforePause()
    untimed.motion = .none
    if !isNew { returnAhead() }
  }

  /// Adds the sentences without a time that were collected for the next epoch to the epoch before.
  private mutating func returnAhead() {
    held.add(untimed)
    swap(&held, &untimed)
    if nextHeading.tag == nil {
      untimed.heading.add(nextHeading.heading)
      nextHeading.heading = Heading()
    }
    state = statesFix ? .reported : .open
  }

  /// Assigns a heading to the epoch of its time or burst. Such sentences may also be sent at their own rate: they never
  /// start or update an epoch. Between two bursts it is the heading of the next epoch.
  ///
  /// - Parameter tag: the time of the heading; nil if the sentence has none.
  // Not inlined, to save stack on a microcontroller.
  @inline(never)
  mutating func add(
    _ heading: Heading, _ tag: EpochTag?, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    // A closure or autoclosure here would copy the whole value, 4 kB.
    let isAhead: Bool
    if let tag { isAhead = !isOfEpoch(tag) } else { isAhead = order.isAhead(id, after: pause, isInstrument: true) }
    // A time does not show the end of what follows a time of output.
    if output.isAhead, tag == nil ? isAhead : order.separates(pause) { endOutput(body) }
    findBurst(isAhead: isAhead, body)
    let isOwn = state.isOfEpoch
    if isOwn {
      // The burst did not end at its usual message.
      if state == .reported, pause == 0 { order.discardEnd() }
      untimed.heading.add(heading)
    } else {
      nextHeading = (heading, tag)
    }
    if state.rawValue <= State.gathering.rawValue, let tag {
      dropStart(before: tag)
      output.add(tag.timeOfDay(leapSeconds: leapSecondsNow), isAhead: false)
    }
    order.add(untimed: id, after: pause, isInstrument: true, isOfEpoch: isOwn)
    if state == .open, order.isEnd { report(body) }
    pause = 0
  }

  /// Called after a message is applied. Reports the epoch when it is complete, or has changed since its report.
  @inline(__always)
  mutating func complete(isEnd: Bool = false, _ body: (borrowing Report, borrowing Sky) -> Void) {
    if state == .open {
      if isEnd || order.isEnd { report(body) }
    } else if state == .reported || state == .late {
      reportChange(body)
    }
    pause = 0
  }

  /// Called after a sentence about satellites is applied. Those of a burst are reported together: after the epoch's report, once the
  /// burst is over.
  @inline(__always)
  mutating func completeSatellites(_ body: (borrowing Report, borrowing Sky) -> Void) {
    if state == .open {
      if order.isEnd { report(body) }
    } else if state == .reported {
      noteLateSatellites()
    }
    pause = 0
  }

  @inline(never)
  private mutating func noteLateSatellites() {
    guard hasNewSky || finishAndCompare() else { return }
    if pause == 0 { order.discardEnd() }
    state = .late
  }

  /// Reports an epoch again if it has changed.
  @inline(never)
  private mutating func reportChange(_ body: (borrowing Report, borrowing Sky) -> Void) {
    guard state == .late || hasNewSky || finishAndCompare() else { return }
    // A late message does not contradict the learned end.
    if pause == 0 { order.discardEnd() }
    report(body)
  }

  /// Whether a time equals the epoch's.
  mutating func isOfEpoch(_ tag: EpochTag) -> Bool { state.rawValue > State.gathering.rawValue && !isNewEpoch(tag) }

  // Mutating without a change: for a borrowing call the compiler copies the whole value, 2.5 kB.
  @inline(__always)
  private mutating func isNewEpoch(_ tag: EpochTag?) -> Bool {
    if state.rawValue <= State.gathering.rawValue { return true }
    guard let current = self.tag, let tag else {
      // A message without a time belongs to the epoch, and an epoch without a time takes the time of its first message
      // that has one; not so after a silence.
      return pause >= Self.silence
    }
    return tag.isOtherClock(than: current)
      ? !tag.isSame(as: current, leapSeconds: leapSecondsNow) : !tag.isSame(as: current)
  }

  @inline(never)
  private mutating func startEpoch(_ tag: EpochTag?) {
    // A reported fix has its time even if the epoch had only a time of day.
    if let time = fix.time ?? last.fix.time { calendar.advance(to: time) }
    if state.rawValue > State.gathering.rawValue, statesFix { calendar.start = nil }
    statesFix = false
    self.tag = tag
    fix = Fix()
    fix.leapSeconds = leapSeconds
    if state == .gathering || state == .ahead, skyState != .earlier, !group.isIncomplete {
      fix.satellitesInView = sky.count
    }
    if nmea.isValid == false { earlierUse.age = EarlierUse.most }
    nmea = NMEAEpoch(after: nmea, fixMode: state == .ahead ? held.fixMode : untimed.fixMode)
    (hasPreciseECEF, hasUBXQuality, hasUBXCount) = (false, false, false)
    satelliteSource.startEpoch()
    // Satellites of the previous epoch, or of a report with only a time.
    if state != .gathering, state != .ahead { dropAhead() }
    if earlierUse.age <= EarlierUse.most { earlierUse.age += 1 }
    takeNextHeading(tag)
    state = .open
  }

  /// Assigns the heading between the bursts to the epoch, unless it is old or has another time.
  private mutating func takeNextHeading(_ tag: EpochTag?) {
    guard nextHeading.heading.source > .none else { return }
    let isOfEpoch =
      if let own = nextHeading.tag { tag?.isSame(as: own, leapSeconds: leapSecondsNow) ?? false } else { true }
    if isOfEpoch, pause == 0 || order.isKnown && pause <= 2000 {
      untimed.heading.add(nextHeading.heading)
    }
    nextHeading = (Heading(), nil)
  }

  /// GPS − UTC: the value of the receiver's times, otherwise the table's value for the date.
  var leapSecondsNow: Int {
    mutating get {
      clockOffset.map(Int.init)
        ?? LeapSeconds.on(calendar.last?.day ?? calendar.reference?.day ?? Day(since1970: 20_000))
    }
  }

  /// The epoch's time of week and the leap seconds, if its messages have a time of week and no time.
  private var timeOfWeek: (iTOW: UInt32, leapSeconds: Int)? {
    mutating get {
      guard fix.time == nil, case .timeOfWeek(let iTOW)? = tag else { return nil }
      return (iTOW, leapSecondsNow)
    }
  }

  /// The fix as it would be reported.
  private mutating func finished() -> Fix {
    var whole = fix
    Self.finish(&whole, nmea, untimed, calendar, timeOfWeek)
    return whole
  }

  /// Completes a fix for its report.
  // Not inlined, so that a preview executes the same code as a report.
  @inline(never)
  private static func finish(
    _ whole: inout Fix, _ nmea: borrowing NMEAEpoch, _ untimed: borrowing UntimedValues, _ calendar: ReceiverCalendar,
    _ timeOfWeek: (iTOW: UInt32, leapSeconds: Int)?
  ) {
    nmea.settle(&whole, untimed, calendar)
    untimed.complete(&whole)
    // The week continues for receivers that send the date less often than the position.
    if whole.time == nil, whole.kind != .none, let timeOfWeek {
      whole.time = calendar.time(atTimeOfWeek: timeOfWeek.iTOW, leapSeconds: timeOfWeek.leapSeconds)
    }
    if whole.kind == .none || whole.kind == .timeOnly { whole.removePlace() }
    whole.settleEarthCentred()
    // A fix status without a position, such as in NAV-STATUS, does not imply a position.
    if whole.kind != .none, whole.kind != .timeOnly, whole.latitudeDegrees == nil {
      whole.kind = .none
      whole.reportsKind = false
    }
    whole.settleHeights()
    whole.estimateAccuracy()
  }

  /// Completes the fix. Returns whether it differs from the last reported one.
  @inline(never)
  private mutating func finishAndCompare() -> Bool {
    var whole = finished()
    // See `isSame(butForSkyOf:)`.
    whole.source = last.fix.source
    return whole != last.fix
  }

  // MARK: Fixes between epochs

  /// Saves the fix of the open epoch and starts the fix of a single message, for `reportBetween`.
  ///
  /// HNR-PVT is such a message, up to thirty times a second: an extrapolation since the last epoch. The messages of the
  /// epoch itself arrive up to half a second after its time, between newer HNR messages, and belong together.
  mutating func startBetween() -> Fix {
    let epoch = fix
    fix = Fix()
    fix.leapSeconds = leapSeconds
    return epoch
  }

  /// Reports the fix of a single message, and restores the fix of the open epoch.
  mutating func reportBetween(_ epoch: inout Fix, _ body: (borrowing Report, borrowing Sky) -> Void) {
    swap(&fix, &epoch)
    if epoch.kind == .none || epoch.kind == .timeOnly { epoch.removePlace() }
    epoch.settleHeights()
    epoch.estimateAccuracy()
    body(
      Report(fix: epoch, isUpdate: false, fixChanged: true, skyChanged: false, hasDilutionsAlone: false), sky)
  }

  // Not inlined, so that the code for each message is short.
  @inline(never)
  private mutating func report(_ body: (borrowing Report, borrowing Sky) -> Void) {
    guard statesFix || state != .open else { return reportSky(body) }
    last.skyChanged = settleSky()
    last.isUpdate = state != .open
    if last.isUpdate {
      update()
    } else {
      let timeOfWeek = timeOfWeek
      last.fix = fix
      Self.finish(&last.fix, nmea, untimed, calendar, timeOfWeek)
      last.fixChanged = true
      if epochsWithoutFirstOutput <= Self.epochsUntilSecondOutput { epochsWithoutFirstOutput += 1 }
      last.hasDilutionsAlone = sky.count == 0 && last.fix.hasDilutions
    }
    state = .reported
    body(last, sky)
  }

  /// Makes an additional report of an epoch.
  @inline(never)
  private mutating func update() {
    let whole = finished()
    let dilutionsChanged = whole.hasDilutions && !whole.hasSameDilutions(as: last.fix)
    last.fixChanged = !whole.isSame(butForSkyOf: last.fix)
    last.hasDilutionsAlone = sky.count == 0 && dilutionsChanged
    if sky.count > 0, skyState == .reported, dilutionsChanged { last.skyChanged = true }
    last.fix = whole
  }

  /// Reports the satellites of a burst that has no epoch, as an update without another fix.
  private mutating func reportSky(_ body: (borrowing Report, borrowing Sky) -> Void) {
    guard settleSky() else { return }
    last.isUpdate = true
    last.fixChanged = false
    last.skyChanged = true
    last.hasDilutionsAlone = false
    body(last, sky)
  }

  /// Whether satellites are to be reported: all satellites of UBX, or a whole group of sentences.
  private var hasNewSky: Bool {
    mutating get { skyState.isChanged && (satelliteSource.isUBX || !group.isIncomplete) }
  }

  /// Marks the used satellites for a report. Returns whether the satellites changed.
  private mutating func settleSky() -> Bool {
    guard hasNewSky else { return false }
    if !satelliteSource.isUBX, untimed.fixMode == nil, untimed.usedCount == 0, earlierUse.age <= EarlierUse.most,
      nmea.isValid != false
    {
      earlierUse.unmatched.match(&sky, &earlierUse.used, but: shifted)
      sky.use(&earlierUse.used)
    } else {
      if untimed.unmatched.count > 0 { untimed.unmatched.match(&sky, &untimed.used, but: shifted) }
      if skyState == .unmarked { sky.use(&untimed.used) }
    }
    skyState = .reported
    return true
  }

  /// Called before the satellites of a sentence are added. Removes the satellites of the previous burst, once per
  /// burst, unless the sentence continues a group that the receiver spreads over its bursts.
  ///
  /// - Parameters:
  ///   - number: the sentence's number in its group, from 1.
  ///   - sentences: the number of sentences in the group.
  ///   - sender: a number for each sender of groups.
  @inline(__always)
  mutating func startSky(_ number: Int32?, of sentences: Int32?, sender: UInt32) {
    let isFirst = skyState == .earlier
    let continues = group.add(
      number ?? 1, of: sentences ?? 1, sender: sender, isFirst: isFirst, isAfterPause: state == .ahead && !order.isKnown
    )
    if continues {
      skyState = .unmarked
    } else if isFirst {
      sky.removeAll()
    }
    if !skyState.isChanged { skyState = untimed.unmatched.count > 0 ? .unmarked : .changed }
  }

  /// Reports a time without an epoch, of a stream that has had no epoch yet.
  mutating func report(timeOnly time: UTCTime, _ body: (borrowing Report, borrowing Sky) -> Void) {
    var fix = Fix()
    fix.leapSeconds = leapSeconds
    fix.time = time
    body(Report(fix: fix, skyChanged: settleSky()), sky)
    dropAhead()
    order.discardStart()
    state = .empty
  }
}
