// SPDX-License-Identifier: Apache-2.0
import NMEA
import UBX
import WireBytes

/// Collects the messages of an epoch into a `Fix`, and reports the epoch when it is complete.
///
/// An epoch is closed by NAV-EOE, by the message with which the receiver usually ends its epochs (`EpochEnd`), by
/// `idle` when the line is silent, or at the latest by the first message of the next epoch. A message of the epoch that
/// arrives after the close is added, and the epoch is reported again as an update.
///
/// The assembler takes frames and returns reports. It has no clock and no file. `reference` is the time of the
/// computer's clock.
public struct EpochAssembler: ~Copyable, Sendable {
  /// A fix, and the reason of the report.
  public struct Report: Sendable {
    public var fix: Fix
    /// Whether the epoch was reported before and has changed since.
    public var isUpdate: Bool
    /// Whether anything except satellites and dilutions changed since the report before; true for the first report of
    /// an epoch.
    public var fixChanged: Bool
    /// Whether the satellites changed since the last report.
    public var skyChanged: Bool
    /// Whether the dilutions are new and the receiver sends no satellites.
    public var hasDilutionsAlone: Bool

    /// A report as the assembler makes it, for reports from other sources. By default the first report of an epoch,
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
  /// Whether the earth-centred position is from NAV-HPPOSECEF.
  var hasPreciseECEF = false
  /// The number of epochs since the first output (NAV) had a position. The second output (NAV2) is used above
  /// `epochsUntilSecondOutput`, and at the start.
  var epochsWithoutFirstOutput = EpochAssembler.epochsUntilSecondOutput + 1
  static var epochsUntilSecondOutput: Int { 10 }
  var tag: EpochTag?
  var calendar = ReceiverCalendar()
  var leapSeconds: Int?
  /// The state of the epoch's NMEA sentences, from which the fix is completed.
  var nmea = NMEAEpoch()
  var digitLoss = DigitLossCheck()
  /// The satellites of the last report, until the epoch has satellites.
  var sky = Sky()
  /// Whether the satellites are of this epoch.
  var hasSky = false
  /// Whether the satellites changed since the last report.
  var skyIsTouched = false
  /// Whether the sky has satellites that were not compared with the used satellites of GSA.
  var skyLacksMarks = false
  /// Whether UBX sent the satellites. Those of NMEA have less detail and are ignored then.
  var hasUBXSky = false
  private var end = EpochEnd()
  private var lastKey: EpochEnd.Key = 0
  private var runLength: UInt64 = 0
  private var hasContent = false
  private var isReported = false
  /// The last report. The next one is made in place, because a fix is large.
  private(set) var last = Report(fix: Fix())
  var wasIdle = false

  /// - Parameters:
  ///   - reference: the computer's time, if its clock is set. It corrects dates that are 1024 weeks early.
  ///   - isLive: whether the stream comes from a receiver now. A first epoch with a time alone has the date of the reference.
  public init(reference: UTCTime? = nil, isLive: Bool = false) {
    calendar.reference = reference
    calendar.start = isLive ? reference : nil
  }

  /// Takes the next frame of the stream. `body` receives each report that results, with the satellites.
  public mutating func receive(_ frame: borrowing Frame, _ body: (borrowing Report, borrowing Sky) -> Void) {
    switch frame.kind {
    case .ubx: if let frame = frame.ubx { receive(frame, body) }
    case .nmea: if let sentence = frame.nmea { receive(sentence, body) }
    case .rtcm3, .spartn: break
    }
  }

  /// The line is silent, and no more messages of this epoch will come (100 ms are enough for any receiver). An
  /// unreported epoch is reported.
  public mutating func idle(_ body: (borrowing Report, borrowing Sky) -> Void) {
    if hasContent, !isReported { report(body) }
    wasIdle = true
  }

  /// The stream has ended. Collected messages are reported.
  public mutating func finish(_ body: (borrowing Report, borrowing Sky) -> Void) {
    idle(body)
  }

  /// The report that would result if the epoch ended now, or the last report if nothing was collected since. It changes
  /// nothing. Used satellites may not be marked yet. A caller that waits for an epoch brings code and data of the
  /// report into the caches with it.
  public mutating func preview(_ body: (borrowing Report, borrowing Sky) -> Void) {
    body(Report(fix: isOpen ? finished() : last.fix, skyChanged: sky.count > 0), sky)
  }

  /// Whether messages were collected that no report has covered.
  public var isOpen: Bool { hasContent && !isReported }

  // MARK: Messages

  /// Called before a message is applied. Closes the epoch when the message belongs to a new one.
  ///
  /// - Parameter isOther: whether the message is of another epoch, whatever its time.
  mutating func begin(
    _ tag: EpochTag?, _ id: UInt64, isOther: Bool = false, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    if isOther || isNewEpoch(tag) {
      if hasContent {
        end.learn(lastKey)
        if !isReported { report(body) }
      }
      startEpoch(tag)
    } else if self.tag == nil {
      self.tag = tag
    }
    wasIdle = false
    runLength = id == lastKey & 0xFFFF_FFFF_FFFF ? runLength + 1 : 0
    lastKey = id | runLength << 48
  }

  /// Called after a message is applied. Reports the epoch when it is complete, or has changed since its report.
  mutating func complete(isEnd: Bool = false, _ body: (borrowing Report, borrowing Sky) -> Void) {
    hasContent = true
    if !isReported {
      if isEnd || end.isEnd(lastKey) { report(body) }
    } else if (hasSky && skyIsTouched) || isChanged() {
      end.forget()
      report(body)
    }
  }

  // Mutating without a change: for a borrowing call the compiler copies the whole value, 2.5 kB.
  @inline(__always)
  private mutating func isNewEpoch(_ tag: EpochTag?) -> Bool {
    guard let current = self.tag else {
      // Messages without a time were collected. The first message with a time belongs to them; after a silence it does
      // not.
      return wasIdle && hasContent
    }
    guard let tag else { return wasIdle }
    return tag.isOtherClock(than: current) ? !tag.isSame(as: current, leapSeconds: leapSecondsNow) : tag != current
  }

  @inline(never)
  private mutating func startEpoch(_ tag: EpochTag?) {
    // A reported fix has its time even if the epoch had only a time of day.
    if let time = fix.time ?? last.fix.time { calendar.advance(to: time) }
    calendar.start = nil
    self.tag = tag
    fix = Fix()
    fix.leapSeconds = leapSeconds
    nmea = NMEAEpoch(after: nmea)
    hasPreciseECEF = false
    if epochsWithoutFirstOutput <= Self.epochsUntilSecondOutput { epochsWithoutFirstOutput += 1 }
    hasContent = false
    isReported = false
    hasSky = false
    skyIsTouched = false
    skyLacksMarks = false
    // With one kind of message, each message ends its epoch. A growing run length would hide that.
    lastKey = 0
    runLength = 0
  }

  /// GPS − UTC: the receiver's value, else that of the table for the date.
  var leapSecondsNow: Int {
    mutating get {
      leapSeconds ?? LeapSeconds.on(calendar.last?.day ?? calendar.reference?.day ?? Day(since1970: 20_000))
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
    Self.finish(&whole, nmea, calendar, timeOfWeek)
    return whole
  }

  /// Completes a fix for its report.
  // Not inlined, so that a preview executes the code of a report.
  @inline(never)
  private static func finish(
    _ whole: inout Fix, _ nmea: borrowing NMEAEpoch, _ calendar: ReceiverCalendar,
    _ timeOfWeek: (iTOW: UInt32, leapSeconds: Int)?
  ) {
    nmea.settle(&whole, calendar)
    // The week continues for receivers that send the date less often than the position.
    if whole.time == nil, whole.kind != .none, let timeOfWeek {
      whole.time = calendar.time(atTimeOfWeek: timeOfWeek.iTOW, leapSeconds: timeOfWeek.leapSeconds)
    }
    if whole.kind == .none || whole.kind == .timeOnly { whole.removePlace() }
    whole.settleEarthCentred()
    whole.settleHeights()
    whole.estimateAccuracy()
  }

  @inline(never)
  private mutating func isChanged() -> Bool { finished() != last.fix }

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

  /// Reports the fix of a single message, and restores that of the open epoch.
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
    let skyChanged = hasSky && skyIsTouched
    skyIsTouched = false
    if skyChanged, skyLacksMarks {
      sky.use(&nmea.used)
      skyLacksMarks = false
    }
    last.isUpdate = isReported
    last.skyChanged = skyChanged
    if isReported {
      update()
    } else {
      let timeOfWeek = timeOfWeek
      last.fix = fix
      Self.finish(&last.fix, nmea, calendar, timeOfWeek)
      last.fixChanged = true
      last.hasDilutionsAlone = sky.count == 0 && last.fix.hasDilutions
    }
    isReported = true
    body(last, sky)
  }

  /// Makes a further report of an epoch.
  @inline(never)
  private mutating func update() {
    let whole = finished()
    last.fixChanged = !whole.isSame(butForSkyOf: last.fix)
    last.hasDilutionsAlone = sky.count == 0 && whole.hasDilutions && !whole.hasSameDilutions(as: last.fix)
    last.fix = whole
  }

  /// Removes the satellites of the epoch before, once in an epoch.
  mutating func startSky() {
    skyIsTouched = true
    guard !hasSky else { return }
    sky.removeAll()
    hasSky = true
  }
}
