import NMEA
import UBX
import WireBytes

/// Collects the messages of an epoch into a `Fix`, and says when the epoch is whole.
///
/// An epoch is closed by NAV-EOE, by the message with which the receiver was learned to end its epochs, by `idle` when
/// the line falls silent, or at the latest by the first message of the next epoch. What comes behind the close and
/// still belongs to the epoch is added, and the epoch is reported again as an update.
///
/// It takes frames and returns reports; it has no clock and no file. `reference` is what the computer's clock says.
public struct EpochAssembler: ~Copyable, Sendable {
  /// A fix, and why it is handed out.
  public struct Report: Sendable {
    public var fix: Fix
    /// Whether the epoch was reported before and has changed since.
    public var isUpdate: Bool
    /// Whether more than satellites and dilutions changed since the report before; true of an epoch's first.
    public var fixChanged: Bool
    /// Whether the satellites changed since the last report.
    public var skyChanged: Bool
    /// Whether the receiver tells dilutions and no satellites, and the dilutions are new.
    public var hasDilutionsAlone: Bool

    /// A report as an assembler makes it, for who takes reports from elsewhere: an epoch's first, without satellites, unless
    /// it is said otherwise.
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

  /// Fields that were out of range or could not be read, and are therefore absent from the fixes.
  public internal(set) var rejectedFields = 0
  var fix = Fix()
  /// Velocity and accuracy of receivers that give earth-centred coordinates alone.
  var ecefVelocity: SIMD3<Double>?
  var ecefAccuracyMetres: Double?
  /// Whether the earth-centred position is NAV-HPPOSECEF's.
  var hasPreciseECEF = false
  /// Epochs since the first output (NAV) told a place; those of the second (NAV2) count when there were more than
  /// `epochsUntilSecondOutput`, as at the beginning.
  var epochsWithoutFirstOutput = EpochAssembler.epochsUntilSecondOutput + 1
  static var epochsUntilSecondOutput: Int { 10 }
  var tag: EpochTag?
  var calendar = ReceiverCalendar()
  var leapSeconds: Int?
  /// What the NMEA sentences of the epoch say, until the fix is made of it.
  var nmea = NMEAEpoch()
  /// The satellites: those of the last report, until the epoch says something of them.
  var sky = Sky()
  /// Whether the satellites are this epoch's.
  var hasSky = false
  /// Whether something was said of the satellites since the last report.
  var skyIsTouched = false
  /// Whether satellites are in the sky that were not compared with those that GSA names as used.
  var skyLacksMarks = false
  /// Whether UBX told of the satellites: NMEA's say less and are left out.
  var hasUBXSky = false
  private var end = EpochEnd()
  private var lastKey: EpochEnd.Key = 0
  private var runLength: UInt64 = 0
  private var hasContent = false
  private var isReported = false
  /// The last report, which the next one is made of in place: its fix is long.
  private var last = Report(fix: Fix())
  var wasIdle = false

  /// - Parameter reference: the computer's time, if its clock is set: dates that are 1024 weeks before it are mended.
  public init(reference: UTCTime? = nil) {
    calendar.reference = reference
  }

  /// Takes the next frame of the stream; `body` gets each report that follows from it, with the satellites.
  public mutating func receive(_ frame: borrowing Frame, _ body: (borrowing Report, borrowing Sky) -> Void) {
    switch frame.kind {
    case .ubx: if let frame = frame.ubx { receive(frame, body) }
    case .nmea: if let sentence = frame.nmea { receive(sentence, body) }
    case .rtcm3, .spartn: break
    }
  }

  /// Says that the line has been silent for so long that nothing more of this epoch will come (100 ms are enough for any
  /// receiver). The epoch is reported if it was not.
  public mutating func idle(_ body: (borrowing Report, borrowing Sky) -> Void) {
    if hasContent, !isReported { report(body) }
    wasIdle = true
  }

  /// Says that the stream has ended: what has been collected is reported.
  public mutating func finish(_ body: (borrowing Report, borrowing Sky) -> Void) {
    idle(body)
  }

  /// What would be reported were the epoch over now, or was reported last if nothing more was collected; nothing follows from
  /// it, and satellites need not be marked as used yet. Who waits for an epoch brings near the processor in this way what its
  /// report takes.
  public mutating func preview(_ body: (borrowing Report, borrowing Sky) -> Void) {
    body(Report(fix: isOpen ? finished() : last.fix, skyChanged: sky.count > 0), sky)
  }

  /// Whether an epoch is open: something was collected that no report has told.
  public var isOpen: Bool { hasContent && !isReported }

  // MARK: The way of a message

  /// Comes before a message is applied: closes the epoch before it when the message belongs to a new one.
  ///
  /// - Parameter isOther: whether it is of another epoch whatever its time.
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

  /// Comes after a message is applied: reports the epoch when it is whole, or has changed since it was reported.
  mutating func complete(isEnd: Bool = false, _ body: (borrowing Report, borrowing Sky) -> Void) {
    hasContent = true
    if !isReported {
      if isEnd || end.isEnd(lastKey) { report(body) }
    } else if (hasSky && skyIsTouched) || isChanged() {
      end.forget()
      report(body)
    }
  }

  // It changes nothing. It is mutating because the compiler copies the whole value, 2.5 kB, for a call that borrows it.
  @inline(__always)
  private mutating func isNewEpoch(_ tag: EpochTag?) -> Bool {
    guard let current = self.tag else {
      // Messages without a time were collected; the first with one tells their time. After a silence they are of an
      // epoch that never said it.
      return wasIdle && hasContent
    }
    guard let tag else { return wasIdle }
    return tag.isOtherClock(than: current) ? !tag.isSame(as: current, leapSeconds: leapSecondsNow) : tag != current
  }

  @inline(never)
  private mutating func startEpoch(_ tag: EpochTag?) {
    // The reported fix has the time also where it was made of a time of day alone.
    if let time = fix.time ?? last.fix.time { calendar.advance(to: time) }
    self.tag = tag
    fix = Fix()
    fix.leapSeconds = leapSeconds
    nmea = NMEAEpoch(after: nmea)
    ecefVelocity = nil
    ecefAccuracyMetres = nil
    hasPreciseECEF = false
    if epochsWithoutFirstOutput <= Self.epochsUntilSecondOutput { epochsWithoutFirstOutput += 1 }
    hasContent = false
    isReported = false
    hasSky = false
    skyIsTouched = false
    skyLacksMarks = false
    // A receiver of one message alone ends each epoch with the first of its like, not with one more each time.
    lastKey = 0
    runLength = 0
  }

  /// GPS − UTC: what the receiver said, else what the table says for the date.
  var leapSecondsNow: Int {
    mutating get {
      leapSeconds ?? LeapSeconds.on(calendar.last?.day ?? calendar.reference?.day ?? Day(since1970: 20_000))
    }
  }

  /// The epoch's time of week, if its messages bear one and not the time, and what is needed to make a time of it.
  private var timeOfWeek: (iTOW: UInt32, leapSeconds: Int)? {
    mutating get {
      guard fix.time == nil, case .timeOfWeek(let iTOW)? = tag else { return nil }
      return (iTOW, leapSecondsNow)
    }
  }

  /// The fix as it would be reported.
  private mutating func finished() -> Fix {
    var whole = fix
    Self.finish(&whole, nmea, calendar, timeOfWeek, ecefVelocity, ecefAccuracyMetres)
    return whole
  }

  /// Makes what is reported of what was collected.
  // Not inlined, so that a preview runs what a report does.
  @inline(never)
  private static func finish(
    _ whole: inout Fix, _ nmea: borrowing NMEAEpoch, _ calendar: ReceiverCalendar,
    _ timeOfWeek: (iTOW: UInt32, leapSeconds: Int)?, _ ecefVelocity: SIMD3<Double>?, _ ecefAccuracyMetres: Double?
  ) {
    nmea.settle(&whole, calendar)
    // The week goes on where a receiver tells the date less often than the place.
    if whole.time == nil, whole.kind != .none, let timeOfWeek {
      whole.time = calendar.time(atTimeOfWeek: timeOfWeek.iTOW, leapSeconds: timeOfWeek.leapSeconds)
    }
    if whole.kind == .none || whole.kind == .timeOnly { whole.removePlace() }
    whole.settle(ecefVelocity: ecefVelocity, accuracyMetres: ecefAccuracyMetres)
    whole.settleHeights()
    whole.estimateAccuracy()
  }

  @inline(never)
  private mutating func isChanged() -> Bool { finished() != last.fix }

  // MARK: Fixes between the epochs

  /// Sets the fix of the open epoch aside and starts one of a single message, for `reportBetween`.
  ///
  /// HNR-PVT is one, up to thirty in a second: what the receiver reckons since the last epoch. The epoch's own messages come
  /// up to half a second after its time, with newer HNR messages among them, and still belong together.
  mutating func startBetween() -> Fix {
    let epoch = fix
    fix = Fix()
    fix.leapSeconds = leapSeconds
    return epoch
  }

  /// Reports the fix of a single message, and takes the open epoch's up again.
  mutating func reportBetween(_ epoch: inout Fix, _ body: (borrowing Report, borrowing Sky) -> Void) {
    swap(&fix, &epoch)
    if epoch.kind == .none || epoch.kind == .timeOnly { epoch.removePlace() }
    epoch.settleHeights()
    epoch.estimateAccuracy()
    body(
      Report(fix: epoch, isUpdate: false, fixChanged: true, skyChanged: false, hasDilutionsAlone: false), sky)
  }

  // Not inlined, so that what comes before it for each message is short.
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
      Self.finish(&last.fix, nmea, calendar, timeOfWeek, ecefVelocity, ecefAccuracyMetres)
      last.fixChanged = true
      last.hasDilutionsAlone = sky.count == 0 && last.fix.hasDilutions
    }
    isReported = true
    body(last, sky)
  }

  /// Makes the report of an epoch that was reported before.
  @inline(never)
  private mutating func update() {
    let whole = finished()
    last.fixChanged = !whole.isSame(butForSkyOf: last.fix)
    last.hasDilutionsAlone = sky.count == 0 && whole.hasDilutions && !whole.hasSameDilutions(as: last.fix)
    last.fix = whole
  }

  /// Makes room for the satellites of this epoch, once.
  mutating func startSky() {
    skyIsTouched = true
    guard !hasSky else { return }
    sky.removeAll()
    hasSky = true
  }
}
