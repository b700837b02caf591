// SPDX-License-Identifier: Apache-2.0

import NMEA

/// The state of an epoch that several sentences determine together.
// Not copyable, because the compiler copies a value for each call that only reads it.
struct NMEAEpoch: ~Copyable, Sendable {
  /// Whether a sentence with a status has a valid solution. The sentence of the highest rank decides, and within a rank
  /// a valid one. Sentences without this information are ignored.
  private(set) var isValid: Bool?
  private var validityRank: Int8 = 0
  /// The talker of the deciding sentence.
  private var validityTalker: UInt16 = 0
  /// The fix mode 2 or 3 of PUBX,00.
  var fixMode: Int8?
  /// The fix mode of an earlier epoch, for receivers that do not send GSA in each epoch.
  private var earlierFixMode: Int8?
  private var earlierAge: UInt8 = 0
  var timeOfDay: Int64?
  /// Digits after the decimal point of the minutes of the position.
  var positionDigits: UInt8 = 0
  /// The position sentences of the epoch: a bit for each kind and talker.
  private var positionSentences: UInt32 = 0
  /// Those of the epoch before.
  private var earlierSentences: UInt32 = 0
  /// The talker of RMC, whose motion only a VTG of the same source replaces.
  var velocityTalker: Talker?
  /// The date of RMC.
  private var date: ShortDate?

  /// Sentences with a position.
  enum PositionSentence: UInt32 { case gga, rmc, gns, gll }

  init() {}

  /// Whether a sentence may belong to another epoch although its time is the same or absent: the epoch already has one
  /// of its kind, or another date.
  @inline(__always)
  func mayBeRepeated(_ kind: PositionSentence, date: ShortDate?) -> Bool {
    has(kind) || (self.date != nil && date != nil)
  }

  /// Whether the epoch has a sentence of a kind.
  @inline(__always)
  private func has(_ kind: PositionSentence) -> Bool { Self.has(kind, positionSentences) }

  private static func has(_ kind: PositionSentence, _ sentences: UInt32) -> Bool {
    sentences >> (8 * kind.rawValue) & 0xFF != 0
  }

  /// Whether this epoch or the one before has a sentence, of one source or of any, with all that one of a kind has.
  func hadOrHas(_ kind: PositionSentence, of source: Talker? = nil) -> Bool {
    var sentences = positionSentences | earlierSentences
    if let source {
      sentences &= 0x0101_0101 &* (PositionSources.isReceiver(source) ? 0xFF & ~Self.others : Self.bit(source))
    }
    return switch kind {
    case .gll: sentences != 0
    case .gga, .gns: Self.has(.gga, sentences) || Self.has(.gns, sentences)
    case .rmc: Self.has(.rmc, sentences)
    }
  }

  /// Whether the epoch has a GLL and no other position sentence, or others and no GLL: it may be joined with the other
  /// kind despite a local time.
  func mayJoinLocalTime(_ kind: PositionSentence) -> Bool {
    let others = positionSentences & ~(0xFF << (8 * PositionSentence.gll.rawValue))
    return kind == .gll ? others != 0 && !has(.gll) : others == 0 && has(.gll)
  }

  /// Whether the sentence belongs to another epoch.
  ///
  /// - Parameters:
  ///   - isTimed: whether the open epoch has a time. The time of a sentence determines its epoch.
  ///   - isAfterSilence: whether a silence preceded it.
  ///   - hasMoved: whether its position differs from the position of the preceding sentences.
  @inline(never)
  func isRepeated(
    _ kind: PositionSentence, _ talker: Talker, time: TimeOfDay?, date: ShortDate?, isTimed: Bool, isAfterSilence: Bool,
    hasMoved: Bool
  ) -> Bool {
    if let date, let previous = self.date, date != previous { return true }
    let all = positionSentences >> (8 * kind.rawValue) & 0xFF
    let isKnown = all & Self.bit(talker) != 0
    // A sentence is repeated without a time when the receiver has lost its time, never sends it, or is polled once a
    // day.
    guard time != nil else { return isKnown || all != 0 && isTimed }
    return all != 0 && !isTimed || isKnown && (isAfterSilence || hasMoved)
  }

  /// Adds a position sentence to the epoch.
  @inline(__always)
  mutating func add(_ kind: PositionSentence, _ talker: Talker, date: ShortDate? = nil) {
    positionSentences |= Self.bit(talker) << (8 * kind.rawValue)
    if let date { self.date = date }
  }

  /// The bits of talkers that are not a receiver's. No talker of a satellite system has them.
  private static var others: UInt32 { 0b1010_1000 }

  /// One of eight bits, selected by the talker's second character.
  @inline(__always)
  private static func bit(_ talker: Talker) -> UInt32 {
    if PositionSources.isReceiver(talker) { return 1 << UInt32(talker.code & 7) }
    return 0b1000 << UInt32(talker.code % 3 * 2)
  }

  /// Starts a new epoch. The fix mode of GSA remains valid for ten epochs without GSA.
  ///
  /// - Parameter fixMode: the fix mode of the earlier epoch's GSA.
  init(after earlier: borrowing NMEAEpoch, fixMode: Int8?) {
    let mode = earlier.fixMode ?? fixMode
    earlierSentences = earlier.positionSentences
    earlierAge = mode == nil ? min(earlier.earlierAge, 10) + 1 : 1
    earlierFixMode = earlier.isValid == true && earlierAge <= 10 ? mode ?? earlier.earlierFixMode : nil
  }

  /// Adds an explicit statement of a sentence with positions whether there is a fix. Of several sources one with a fix is enough.
  mutating func setValid(_ valid: Bool, rank: Int8, _ talker: Talker) {
    if isValid != nil, !PositionSources.isSame(talker, Talker(code: validityTalker)) {
      guard valid, isValid == false else { return }
      (isValid, validityRank, validityTalker) = (valid, rank, talker.code)
      return
    }
    guard rank > validityRank || rank == validityRank && (valid || talker.code == validityTalker) else { return }
    isValid = valid
    validityRank = rank
    validityTalker = talker.code
  }

  /// Whether a sentence of this talker decides whether the epoch has a fix. False before the first statement.
  func isDecided(by talker: Talker) -> Bool { isValid != nil && talker.code == validityTalker }

  /// Completes the time, the kind of the fix and the number of its satellites, unless a UBX message did.
  func settle(_ fix: inout Fix, _ untimed: borrowing UntimedValues, _ calendar: ReceiverCalendar) {
    // Without a fix the receiver's clock may be wrong by days.
    if fix.time == nil, let timeOfDay, calendar.last != nil || isValid == true {
      fix.time = calendar.time(at: timeOfDay)
    }
    if fix.source < .ubx, untimed.usedCount > 0 {
      fix.satellitesUsed = max(fix.satellitesUsed ?? 0, Int(untimed.usedCount))
    }
    let fixModeOfGSA = untimed.fixMode
    let hasFour = untimed.usedCount >= 4
    let fixMode = fixMode ?? fixModeOfGSA
    let isFix = isValid ?? fixMode.map { $0 > 1 }
    // A GSA without a fix is sufficient; a GSA with a fix also needs a position.
    if isFix == false { fix.reportsKind = true }
    guard fix.kind == .none, isFix == true, fix.latitudeDegrees != nil else { return }
    fix.reportsKind = true
    let hasHeight = fix.heightAboveSeaLevelMetres != nil || fix.heightAboveEllipsoidMetres != nil
    switch fixMode ?? (hasHeight ? nil : earlierFixMode) {
    case 3: fix.kind = .threeD
    // Four satellites determine a height. Receivers that send a height with mode 2 have not updated GSA.
    case 2: fix.kind = hasHeight && hasFour ? .threeD : .twoD
    default: fix.kind = hasHeight ? .threeD : .twoD
    }
  }
}

/// The values of a burst's sentences without a time: GSA, VTG, headings, and manufacturers' sentences.
///
/// They complete the fix of the burst's epoch, and do not override sentences with a time. A later VTG replaces the
/// motion of RMC only if messages with the epoch's time enclose it, so that no other burst can have sent it.
// Not copyable, because the compiler copies a value for each call that only reads it.
struct UntimedValues: ~Copyable, Sendable {
  /// The position of VTG among the messages with a time.
  enum Place: UInt8 { case none, last, enclosed }

  var motion = Place.none
  var speedMetresPerSecond: Double?
  var courseDegrees: Double?
  /// North, east, down. Not a vector, whose alignment would cost memory.
  var velocityMetresPerSecond: (Double, Double, Double)?
  var pdop: Double?
  var hdop: Double?
  var vdop: Double?
  var horizontalAccuracyMetres: Double?
  var verticalAccuracyMetres: Double?
  var heading = Heading()
  /// The used satellites of GSA.
  var used = SatelliteSet()
  /// The used satellites whose system is unknown.
  var unmatched = UnmatchedSatellites()
  /// The total number of both.
  var usedCount: UInt16 = 0
  /// GSA's fix mode 1, 2 or 3: the best of the burst.
  var fixMode: Int8?

  // Inlined, because the compiler copies the result of a call.
  @inline(__always)
  init() {}

  /// Completes a fix.
  func complete(_ fix: inout Fix) {
    let replaces = motion == .enclosed && fix.source < .ubx
    if fix.speedMetresPerSecond == nil || replaces && speedMetresPerSecond != nil {
      fix.speedMetresPerSecond = speedMetresPerSecond
    }
    if fix.courseDegrees == nil || replaces && courseDegrees != nil { fix.courseDegrees = courseDegrees }
    if fix.velocityMetresPerSecond == nil, let (north, east, down) = velocityMetresPerSecond {
      fix.velocityMetresPerSecond = SIMD3(north, east, down)
      fix.climbMetresPerSecond = -down
    }
    if fix.accuracySource == .none, fix.horizontalAccuracyMetres == nil, let horizontalAccuracyMetres {
      fix.horizontalAccuracyMetres = horizontalAccuracyMetres
      fix.verticalAccuracyMetres = verticalAccuracyMetres
      fix.accuracySource = .receiver
    }
    if fix.pdop == nil { fix.pdop = pdop }
    if fix.hdop == nil { fix.hdop = hdop }
    if fix.vdop == nil { fix.vdop = vdop }
    heading.complete(&fix)
  }

  /// Adds the values of later sentences of the same burst.
  mutating func add(_ later: borrowing UntimedValues) {
    speedMetresPerSecond = later.speedMetresPerSecond ?? speedMetresPerSecond
    courseDegrees = later.courseDegrees ?? courseDegrees
    velocityMetresPerSecond = later.velocityMetresPerSecond ?? velocityMetresPerSecond
    pdop = later.pdop ?? pdop
    hdop = later.hdop ?? hdop
    vdop = later.vdop ?? vdop
    if later.horizontalAccuracyMetres != nil {
      horizontalAccuracyMetres = later.horizontalAccuracyMetres
      verticalAccuracyMetres = later.verticalAccuracyMetres
    }
    heading.add(later.heading)
    if let mode = later.fixMode { fixMode = max(fixMode ?? 0, mode) }
    used.add(later.used)
    unmatched.append(later.unmatched)
    usedCount &+= later.usedCount
  }
}

/// The heading of a burst, from compasses, gyroscopes and pairs of antennas.
struct Heading: Sendable {
  /// Degrees from true north.
  var trueDegrees: Double?
  /// One standard deviation, degrees.
  var accuracyDegrees: Double?
  /// Degrees from magnetic north.
  var magneticDegrees: Double?
  var source = Fix.HeadingSource.none

  /// Sets a heading from true north, unless a better source has set one.
  mutating func set(true degrees: Double, accuracyDegrees accuracy: Double? = nil, _ source: Fix.HeadingSource) {
    guard source >= self.source else { return }
    self.source = source
    trueDegrees = degrees
    accuracyDegrees = accuracy
  }

  /// Sets a heading from magnetic north.
  mutating func set(magnetic degrees: Double) {
    magneticDegrees = degrees
    source = max(source, .compass)
  }

  /// Adds a later heading, unless its source is worse.
  mutating func add(_ later: Heading) {
    if let degrees = later.trueDegrees { set(true: degrees, accuracyDegrees: later.accuracyDegrees, later.source) }
    if let degrees = later.magneticDegrees { set(magnetic: degrees) }
  }

  /// Assigns the heading to a fix, unless a UBX message has set one.
  func complete(_ fix: inout Fix) {
    guard fix.headingSource != .ubx, source > .none else { return }
    fix.headingDegrees = trueDegrees
    fix.headingAccuracyDegrees = accuracyDegrees
    fix.magneticHeadingDegrees = magneticDegrees
    fix.headingSource = source
  }
}

// The quality of a fix by the indicators of its sentences.
extension EpochAssembler {
  static func quality(ofGGA quality: Int32) -> Fix.Quality {
    switch quality {
    case 1: .autonomous
    case 2: .differential
    case 3: .preciseService
    case 4: .rtkFixed
    case 5: .rtkFloat
    case 6: .estimated
    case 7: .manual
    case 8: .simulated
    // NovAtel: corrected by SBAS.
    case 9: .differential
    default: .unknown
    }
  }

  static func quality(ofMode mode: UInt8?) -> Fix.Quality {
    switch mode {
    case UInt8(ascii: "A"): .autonomous
    case UInt8(ascii: "D"): .differential
    case UInt8(ascii: "P"): .preciseService
    case UInt8(ascii: "R"): .rtkFixed
    case UInt8(ascii: "F"): .rtkFloat
    case UInt8(ascii: "E"): .estimated
    case UInt8(ascii: "M"): .manual
    case UInt8(ascii: "S"): .simulated
    default: .unknown
    }
  }

  /// The best mode of GNS; `unknown` if no system has a mode, nil if the field is absent.
  static func quality(ofModes modes: ShortText?) -> Fix.Quality? {
    guard let modes else { return nil }
    var best: Fix.Quality?
    for index in 0..<Int(modes.count) {
      let quality = quality(ofMode: modes.characters[index])
      if quality != .unknown || modes.characters[index] == UInt8(ascii: "N") {
        if let other = best, rank(quality) <= rank(other) { continue }
        best = quality
      }
    }
    return best
  }

  func dilution(_ value: FixedPoint?) -> Double? {
    // 99.99 and 50.0 (99.9 of some vendors) mean no value, and 0 means a field that is not computed.
    guard let value = value?.value, value > 0, value < 99 else { return nil }
    return value
  }

  /// The order of the modes of single systems: dead reckoning and a manual position do not use satellites.
  private static func rank(_ quality: Fix.Quality) -> Int {
    switch quality {
    case .unknown: 0
    case .manual: 1
    case .estimated: 2
    case .autonomous, .differential, .preciseService, .rtkFloat, .rtkFixed, .simulated: 3 + Int(quality.rawValue)
    }
  }
}
