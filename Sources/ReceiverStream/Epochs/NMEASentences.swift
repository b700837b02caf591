// SPDX-License-Identifier: Apache-2.0
import CByteMask
import NMEA
import WireBytes

/// The state of an epoch that several sentences determine together.
struct NMEAEpoch: Sendable {
  /// Whether a sentence with a status has a valid solution. The sentence of the highest rank counts.
  var isValid: Bool?
  var validityRank = 0
  /// GSA's fix mode 1, 2 or 3: the best of the epoch.
  var fixMode: Int?
  /// The fix mode of an earlier epoch, for receivers that do not send GSA in each epoch.
  private var earlierFixMode: Int?
  private var earlierAge = 0
  var timeOfDay: Int64?
  /// The number of used satellites in GSA.
  var usedSatellites = 0
  /// Digits behind the point of the minutes of the position.
  var positionDigits: UInt8 = 0
  /// The used satellites in GSA.
  var used = SatelliteSet()
  /// The position sentences of the epoch: a bit for each kind and talker.
  private var positionSentences: UInt32 = 0
  /// The date of RMC.
  private var date: ShortDate?

  /// Sentences with a position.
  enum PositionSentence: UInt32 { case gga, rmc, gns, gll }

  init() {}

  /// Whether a sentence may be of another epoch although its time is the same or absent: the epoch has one of its kind,
  /// or another date.
  @inline(__always)
  func mayBeRepeated(_ kind: PositionSentence, date: ShortDate?) -> Bool {
    positionSentences >> (8 * kind.rawValue) & 0xFF != 0 || (self.date != nil && date != nil)
  }

  /// Whether the sentence is of another epoch.
  ///
  /// - Parameters:
  ///   - isTimed: whether the open epoch has a time. A sentence with a time belongs to the epoch by it.
  ///   - isAfterSilence: whether the line was silent before.
  ///   - hasMoved: whether its position differs from that of the sentences before it.
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

  /// One of eight bits, by the talker's second character.
  @inline(__always)
  private static func bit(_ talker: Talker) -> UInt32 { 1 << UInt32(talker.code & 7) }

  /// A new epoch. The fix mode of GSA holds for ten epochs without GSA.
  init(after earlier: NMEAEpoch) {
    let mode = earlier.fixMode ?? earlier.earlierFixMode
    earlierAge = earlier.fixMode == nil ? earlier.earlierAge + 1 : 1
    earlierFixMode = earlier.isValid == true && earlierAge <= 10 ? mode : nil
  }

  var isEmpty: Bool { isValid == nil && fixMode == nil }

  mutating func setValid(_ valid: Bool, rank: Int) {
    guard rank >= validityRank else { return }
    isValid = valid
    validityRank = rank
  }

  /// Completes the time and the kind of the fix, where no UBX message did.
  func settle(_ fix: inout Fix, _ calendar: ReceiverCalendar) {
    // Without a fix the receiver's clock may be wrong by days.
    if fix.time == nil, let timeOfDay, calendar.last != nil || isValid == true {
      fix.time = calendar.time(at: timeOfDay)
    }
    if !isEmpty { fix.reportsKind = true }
    guard fix.kind == .none, !isEmpty else { return }
    let hasHeight = fix.heightAboveSeaLevelMetres != nil || fix.heightAboveEllipsoidMetres != nil
    guard isValid ?? (fixMode ?? 1 > 1), fix.latitudeDegrees != nil else { return }
    switch fixMode ?? (hasHeight ? nil : earlierFixMode) {
    case 3: fix.kind = .threeD
    // Four satellites determine a height. Receivers that send a height with mode 2 have not updated GSA.
    case 2: fix.kind = hasHeight && usedSatellites >= 4 ? .threeD : .twoD
    default: fix.kind = hasHeight ? .threeD : .twoD
    }
  }
}

// The contribution of each NMEA sentence to the fix of its epoch.
extension EpochAssembler {
  /// The place of a sentence in the receiver's order, by its address.
  @inline(__always)
  private static func id(_ talker: Talker, _ formatter: Formatter) -> UInt64 {
    UInt64(talker.code) << 24 | UInt64(formatter.code & 0xFF_FFFF) | 2 << 40
  }

  /// The place of a GSV. The length of a group varies from epoch to epoch, so only its last page can be recognised.
  /// Each signal has its own last page.
  @inline(__always)
  private static func id(_ talker: Talker, isLast: Bool, signal: UInt64) -> UInt64 {
    id(talker, GSV.formatter) | (isLast ? 1 << 42 : 0) | (signal & 0xF) << 44
  }

  package mutating func receive(_ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void) {
    // Most sentences are GSV or GSA. Their functions save fewer registers than the one for all others.
    switch sentence.shortAddress & 0xFF_FFFF {
    case UInt64(GSV.formatter.code): receiveGSV(sentence, body)
    case UInt64(GSA.formatter.code): receiveGSA(sentence, body)
    default: receiveOther(sentence, body)
    }
  }

  @inline(never)
  private mutating func receiveGSV(_ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void) {
    let content = sentence.decodeInline(GSV.self, rejected: &rejectedFields)
    let signal = UInt64(truncatingIfNeeded: content.signalID ?? 0)
    begin(nil, Self.id(sentence.talker, isLast: content.isLast, signal: signal), body)
    apply(content, sentence.talker)
    complete(body)
  }

  @inline(never)
  private mutating func receiveGSA(_ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void) {
    let content = sentence.decodeInline(GSA.self, rejected: &rejectedFields)
    begin(nil, Self.id(sentence.talker, GSA.formatter), body)
    apply(content, sentence.talker)
    complete(body)
  }

  @inline(never)
  private mutating func receiveOther(_ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void) {
    if sentence.isProprietary { return receiveProprietary(sentence, body) }
    let formatter = sentence.formatter
    let id = Self.id(sentence.talker, formatter)
    switch formatter {
    case GSV.formatter: return receiveGSV(sentence, body)
    case GSA.formatter: return receiveGSA(sentence, body)
    case GGA.formatter:
      let content = sentence.decode(GGA.self, rejected: &rejectedFields)
      begin(.gga, sentence.talker, content.time, content.latitude, content.longitude, id, body)
      apply(content)
    case RMC.formatter:
      let content = sentence.decode(RMC.self, rejected: &rejectedFields)
      begin(.rmc, sentence.talker, content.time, content.latitude, content.longitude, date: content.date, id, body)
      apply(content)
    case GNS.formatter:
      let content = sentence.decode(GNS.self, rejected: &rejectedFields)
      begin(.gns, sentence.talker, content.time, content.latitude, content.longitude, id, body)
      apply(content)
    case GLL.formatter:
      let content = sentence.decode(GLL.self, rejected: &rejectedFields)
      begin(.gll, sentence.talker, content.time, content.latitude, content.longitude, id, body)
      apply(content)
    case VTG.formatter:
      let content = sentence.decode(VTG.self, rejected: &rejectedFields)
      begin(nil, id, body)
      apply(content)
    case GST.formatter:
      let content = sentence.decode(GST.self, rejected: &rejectedFields)
      begin(tag(content.time), id, body)
      apply(content)
    case ZDA.formatter:
      let content = sentence.decode(ZDA.self, rejected: &rejectedFields)
      begin(tag(content.time), id, body)
      apply(content)
    case HDT.formatter:
      let content = sentence.decode(HDT.self, rejected: &rejectedFields)
      begin(nil, id, body)
      setHeading(content.heading)
    case THS.formatter:
      let content = sentence.decode(THS.self, rejected: &rejectedFields)
      begin(nil, id, body)
      if content.mode != UInt8(ascii: "V") { setHeading(content.heading) }
    case HDG.formatter:
      let content = sentence.decode(HDG.self, rejected: &rejectedFields)
      begin(nil, id, body)
      apply(content)
    case HDM.formatter:
      let content = sentence.decode(HDM.self, rejected: &rejectedFields)
      begin(nil, id, body)
      setMagneticHeading(content.heading?.value)
    default: return
    }
    complete(body)
  }

  /// Called before a position sentence is applied.
  @inline(__always)
  private mutating func begin(
    _ kind: NMEAEpoch.PositionSentence, _ talker: Talker, _ time: TimeOfDay?, _ latitude: Coordinate?,
    _ longitude: Coordinate?,
    date: ShortDate? = nil, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    // Nearly all sentences have another time or are the first of their kind: they skip the other checks.
    let own = tag(time)
    let isOther =
      (own == nil || tag == nil || own == tag) && nmea.mayBeRepeated(kind, date: date)
      && nmea.isRepeated(
        kind, talker, time: time, date: date, isTimed: tag != nil, isAfterSilence: wasIdle,
        hasMoved: hasMoved(latitude, longitude))
    begin(own, id, isOther: isOther, body)
    nmea.add(kind, talker, date: date)
  }

  /// Whether a position differs from that of the epoch by more than its digits.
  @inline(never)
  private mutating func hasMoved(_ latitude: Coordinate?, _ longitude: Coordinate?) -> Bool {
    guard let latitude, let longitude, fix.source < .ubx, let north = fix.latitudeDegrees,
      let east = fix.longitudeDegrees
    else { return false }
    return min(latitude.minutes.fractionDigits, longitude.minutes.fractionDigits) >= nmea.positionDigits
      && (latitude.degrees != north || longitude.degrees != east)
  }

  /// Proprietary sentences with content that the standard's sentences lack.
  private mutating func receiveProprietary(
    _ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    let formatter = sentence.formatter
    let id = UInt64(formatter.code) | 3 << 40
    switch formatter {
    case PSTI030.formatter:
      // The fields of other PSTI sentences have other meanings and are not errors.
      var rejected = 0
      let content = sentence.decode(PSTI030.self, rejected: &rejected)
      guard content.messageID == 30 else { return }
      rejectedFields += rejected
      begin(tag(content.time), id, body)
      guard content.status == UInt8(ascii: "A") else { break }
      setPosition(content.latitude, content.longitude, .gga, content.altitude, nil)
      setVelocity(north: content.velocityNorth, east: content.velocityEast, up: content.velocityUp)
    case PGRMV.formatter:
      let content = sentence.decode(PGRMV.self, rejected: &rejectedFields)
      begin(nil, id, body)
      setVelocity(north: content.velocityNorth, east: content.velocityEast, up: content.velocityUp)
    case PGRME.formatter:
      let content = sentence.decode(PGRME.self, rejected: &rejectedFields)
      begin(nil, id, body)
      // Receivers that do not compute the error send zero.
      guard fix.source < .ubx, let horizontal = content.horizontalError?.value, horizontal > 0 else { break }
      fix.horizontalAccuracyMetres = horizontal
      fix.verticalAccuracyMetres = content.verticalError.flatMap { $0.mantissa < 0 ? nil : $0.value }
      fix.accuracySource = .receiver
    case PQGSA.formatter:
      let content = sentence.decode(PQGSA.self, rejected: &rejectedFields).content
      begin(nil, id | UInt64(truncatingIfNeeded: content.systemID ?? 0) & 0xF << 44, body)
      apply(content, sentence.talker)
    case PQGSV.formatter:
      let content = sentence.decode(PQGSV.self, rejected: &rejectedFields)
      let isLast = content.number == content.sentences
      begin(nil, id | UInt64(truncatingIfNeeded: content.systemID ?? 0) & 0x7 << 44 | (isLast ? 1 << 47 : 0), body)
      apply(content)
    case PUBX00.formatter:
      guard let number = sentence.messageNumber, receiveUBlox(sentence, number, id | UInt64(number) << 44, body)
      else { return }
    default: return
    }
    complete(body)
  }

  /// u-blox's sentences; false for those without content for the fix.
  private mutating func receiveUBlox(
    _ sentence: NMEA.Sentence, _ number: Int32, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void
  ) -> Bool {
    switch number {
    case PUBX00.messageNumber:
      let content = sentence.decode(PUBX00.self, rejected: &rejectedFields)
      guard content.time != nil || content.status != nil else { return false }  // the host's question
      begin(tag(content.time), id, body)
      apply(content)
    case PUBX04.messageNumber:
      let content = sentence.decode(PUBX04.self, rejected: &rejectedFields)
      guard content.time != nil else { return false }
      begin(tag(content.time), id, body)
      apply(content)
    default: return false
    }
    return true
  }

  private mutating func apply(_ content: PUBX00) {
    setTime(content.time)
    let status = content.status ?? ShortText("NF")
    let isFix = status != ShortText("NF") && status != ShortText("TT")
    nmea.setValid(isFix && content.latitude != nil && content.longitude != nil, rank: 4)
    guard isFix else { return }
    setPosition(content.latitude, content.longitude, .pubx, nil, nil)
    guard fix.source <= .pubx else { return }
    if let height = content.altitude?.value { fix.heightAboveEllipsoidMetres = height }
    if status == ShortText("G2") || status == ShortText("D2") { nmea.fixMode = 2 }
    if status == ShortText("G3") || status == ShortText("D3") { nmea.fixMode = 3 }
    if status == ShortText("DR") { fix.kind = .deadReckoning }
    if status == ShortText("RK") { fix.kind = .combined }
    // GGA and GNS distinguish RTK from other corrections.
    if fix.quality == .unknown {
      let isDifferential = status == ShortText("D2") || status == ShortText("D3")
      fix.quality = status == ShortText("DR") ? .estimated : isDifferential ? .differential : .autonomous
    }
    if let horizontal = content.horizontalAccuracy?.value {
      fix.horizontalAccuracyMetres = horizontal
      fix.verticalAccuracyMetres = content.verticalAccuracy?.value
      fix.accuracySource = .receiver
    }
    if let speed = content.speedKilometresPerHour?.value {
      if speed >= 0, speed < 36_000 { fix.speedMetresPerSecond = speed / 3.6 } else { reject() }
    }
    if let degrees = content.course?.value { fix.courseDegrees = course(degrees) }
    if let down = content.velocityDown?.value, abs(down) < 10_000 { fix.climbMetresPerSecond = -down }
    if let hdop = dilution(content.hdop) { fix.hdop = hdop }
    if let vdop = dilution(content.vdop) { fix.vdop = vdop }
    if let tdop = dilution(content.tdop) { fix.tdop = tdop }
    if let used = content.satellitesUsed { fix.satellitesUsed = Int(used) }
    if let age = content.differentialAge?.value { fix.differentialAgeSeconds = age }
  }

  private mutating func apply(_ content: PUBX04) {
    setTime(content.time)
    setDate(
      content.date.flatMap { Day(year: $0.fullYear, month: Int($0.month), day: Int($0.day)) }, content.time)
    // A character behind the number marks the default of the firmware.
    if let text = content.leapSeconds, let seconds = text.wholeNumber { setLeapSeconds(seconds) }
  }

  private mutating func setHeading(_ degrees: FixedPoint?) {
    guard fix.headingSource <= .sentence, let degrees = degrees?.value else { return }
    guard degrees >= 0, degrees <= 360 else { return reject() }
    fix.headingDegrees = degrees == 360 ? 0 : degrees
    fix.headingSource = .sentence
  }

  /// The compass heading with its deviation is magnetic. With the variation it is true, and used where there is no
  /// better source.
  private mutating func apply(_ content: HDG) {
    guard let shown = content.heading?.value else { return }
    let deviation = signed(content.deviation, content.deviationDirection)
    let magnetic = shown + (deviation ?? 0)
    setMagneticHeading(magnetic)
    guard fix.headingSource <= .compass, fix.magneticHeadingDegrees != nil,
      let variation = signed(content.variation, content.variationDirection)
    else { return }
    fix.headingDegrees = course(magnetic + variation)
  }

  private mutating func setMagneticHeading(_ degrees: Double?) {
    guard fix.headingSource <= .sentence, let degrees else { return }
    guard let degrees = course(degrees) else { return reject() }
    fix.magneticHeadingDegrees = degrees
    if fix.headingSource == .none { fix.headingSource = .compass }
  }

  /// An angle with a direction character: east positive; nil when either is missing or invalid.
  private func signed(_ angle: FixedPoint?, _ direction: UInt8?) -> Double? {
    guard let degrees = angle?.value, degrees >= 0, degrees <= 180 else { return nil }
    switch direction {
    case UInt8(ascii: "E"): return degrees
    case UInt8(ascii: "W"): return -degrees
    default: return nil
    }
  }

  private mutating func setVelocity(north: FixedPoint?, east: FixedPoint?, up: FixedPoint?) {
    guard fix.source < .ubx, let north = north?.value, let east = east?.value, let up = up?.value else { return }
    guard max(abs(north), abs(east), abs(up)) < 10_000 else { return reject() }
    fix.velocityMetresPerSecond = SIMD3(north, east, -up)
    fix.climbMetresPerSecond = up
  }

  private func tag(_ time: TimeOfDay?) -> EpochTag? { time.map { .timeOfDay($0.nanoseconds) } }

  private mutating func setTime(_ time: TimeOfDay?) {
    if let time { nmea.timeOfDay = time.nanoseconds }
  }

  private mutating func setDate(_ day: Day?, _ timeOfDay: TimeOfDay?) {
    guard let day, let timeOfDay else { return }
    guard let time = calendar.time(on: day, nanosecondsOfDay: timeOfDay.nanoseconds) else { return reject() }
    // A UBX message of the same epoch has the time to the nanosecond.
    if fix.time == nil || fix.source < .ubx { fix.time = time }
  }

  private mutating func apply(_ content: GGA) {
    setTime(content.time)
    let quality = content.quality ?? 0
    // Without a latitude there is no fix, whatever the quality.
    nmea.setValid(quality > 0 && content.latitude != nil && content.longitude != nil, rank: 3)
    guard quality > 0 else { return }
    setPosition(content.latitude, content.longitude, .gga, content.altitude, content.geoidSeparation)
    guard fix.source <= .gga else { return }
    fix.quality = Self.quality(ofGGA: quality)
    fix.satellitesUsed = content.satellitesUsed.map(Int.init)
    if let hdop = dilution(content.hdop) { fix.hdop = hdop }
    fix.differentialAgeSeconds = content.differentialAge?.value
    fix.differentialStation = content.differentialStation.map(Int.init)
  }

  private mutating func apply(_ content: GNS) {
    setTime(content.time)
    let quality = Self.quality(ofModes: content.positionModes)
    nmea.setValid(quality != nil && content.latitude != nil && content.longitude != nil, rank: 3)
    guard let quality else { return }
    setPosition(content.latitude, content.longitude, .gga, content.altitude, content.geoidSeparation)
    guard fix.source <= .gga else { return }
    fix.quality = quality
    fix.satellitesUsed = content.satellitesUsed.map(Int.init)
    if let hdop = dilution(content.hdop) { fix.hdop = hdop }
    fix.differentialAgeSeconds = content.differentialAge?.value
    fix.differentialStation = content.differentialStation.map(Int.init)
  }

  private mutating func apply(_ content: RMC) {
    setTime(content.time)
    setDate(
      content.date.flatMap { Day(year: $0.fullYear, month: Int($0.month), day: Int($0.day)) }, content.time)
    let isValid = content.status == UInt8(ascii: "A")
    nmea.setValid(isValid && content.latitude != nil && content.longitude != nil, rank: 2)
    guard isValid else { return }
    setPosition(content.latitude, content.longitude, .rmc, nil, nil)
    setVelocity(content.speedKnots, content.course)
    if fix.quality == .unknown { fix.quality = Self.quality(ofMode: content.positionMode) }
    if let variation = content.magneticVariation?.value, variation <= 180 {
      fix.magneticVariationDegrees = content.variationDirection == UInt8(ascii: "W") ? -variation : variation
    }
  }

  private mutating func apply(_ content: GLL) {
    setTime(content.time)
    let isValid = content.status == UInt8(ascii: "A") && content.positionMode != UInt8(ascii: "N")
    nmea.setValid(isValid && content.latitude != nil && content.longitude != nil, rank: 1)
    guard isValid else { return }
    setPosition(content.latitude, content.longitude, .gll, nil, nil)
    if fix.quality == .unknown { fix.quality = Self.quality(ofMode: content.positionMode) }
  }

  private mutating func apply(_ content: VTG) {
    guard content.positionMode != UInt8(ascii: "N") else { return }
    setVelocity(content.speedKnots, content.courseTrue)
    if content.speedKnots == nil { setSpeed(kilometresPerHour: content.speedKilometresPerHour) }
  }

  private mutating func apply(_ content: GSA, _ talker: Talker) {
    if let mode = content.fixMode { nmea.fixMode = max(nmea.fixMode ?? 0, Int(mode)) }
    if fix.source < .ubx {
      if let pdop = dilution(content.pdop) { fix.pdop = pdop }
      if let hdop = dilution(content.hdop) { fix.hdop = hdop }
    }
    if let vdop = dilution(content.vdop) { fix.vdop = vdop }
    let system = Satellite.system(talker: talker, systemID: content.systemID.map(Int.init))
    if let numbering = SatelliteNumbering(first: content.satellites.first, of: system) {
      let numbers = content.satellites.numbers(after: numbering.base, most: numbering.most)
      if !numbers.hasOthers { return use(numbers.bits, numbers.count, of: numbering.system) }
    }
    for id in content.satellites {
      nmea.usedSatellites &+= 1
      if let (system, number) = Satellite.from(id: Int(id), of: system), nmea.used.insert(system, number) {
        markLater()
      }
    }
  }

  /// Adds used satellites of a system: a bit for each number.
  @inline(__always)
  private mutating func use(_ numbers: UInt64, _ count: Int, of system: Satellite.System) {
    nmea.usedSatellites &+= count
    if nmea.used.insert(system, numbers) { markLater() }
  }

  /// Another satellite is used. Later satellites are marked when they are added, those in the sky at the report.
  @inline(__always)
  private mutating func markLater() {
    skyIsTouched = true
    if hasSky { skyLacksMarks = true }
  }

  private mutating func apply(_ content: GST) {
    setTime(content.time)
    guard fix.source < .ubx, let north = content.latitudeDeviation?.value, let east = content.longitudeDeviation?.value
    else { return }
    fix.eastAccuracyMetres = east
    fix.northAccuracyMetres = north
    fix.horizontalAccuracyMetres = (north * north + east * east).squareRoot()
    fix.verticalAccuracyMetres = content.altitudeDeviation.flatMap { $0.mantissa < 0 ? nil : $0.value }
    fix.accuracySource = .receiver
  }

  private mutating func apply(_ content: ZDA) {
    setTime(content.time)
    guard let year = content.year, let month = content.month, let day = content.day else { return }
    guard UTCTime.believedYears.contains(Int(year)), let date = Day(year: Int(year), month: Int(month), day: Int(day))
    else { return reject() }
    setDate(date, content.time)
  }

  @inline(__always)
  private mutating func apply(_ content: GSV, _ talker: Talker) {
    guard !hasUBXSky else { return }
    startSky()
    let system = Satellite.system(talker)
    defer { fix.satellitesInView = sky.count }
    #if !SMALL_CODE
      if fastAdd(content, of: system) { return }
    #endif
    for satellite in content.present { add(satellite, of: system) }
  }

  private mutating func apply(_ content: PQGSV) {
    guard !hasUBXSky else { return }
    startSky()
    let system = Satellite.system(talker: .proprietary, systemID: content.systemID.map(Int.init))
    for index in 0..<content.satelliteCount {
      let satellite = content.satellites[index]
      guard let id = satellite.id, let (system, number) = Satellite.from(id: Int(id), of: system) else { continue }
      sky.add(
        Satellite(
          system: system, number: number,
          elevationDegrees: Satellite.elevation(Int16(satellite.elevation ?? Int32(Int16.min))),
          azimuthDegrees: Satellite.azimuth(Int16(satellite.azimuth ?? Int32(Int16.min))),
          signalDecibelHertz: UInt8(satellite.signal ?? 0), isUsed: nmea.used.contains(system, number)))
    }
    fix.satellitesInView = sky.count
  }

  /// The fast path: adds the satellites of a sentence, if all are numbered in one way and different; else nothing. C
  /// does the work (`satellites.h`), because Swift would process the lanes of its vectors one by one.
  @inline(__always)
  private mutating func fastAdd(_ content: GSV, of system: Satellite.System?) -> Bool {
    let (first, second) = (content.satellites[0].numbers, content.satellites[1].numbers)
    let (third, fourth) = (content.satellites[2].numbers, content.satellites[3].numbers)
    // GLONASS ids of the shared numbering do not overlap with those of another system.
    let isShared = UInt16(bitPattern: content.satellites[0].raw(0) &- 65) < 32
    let system = isShared ? .glonass : system ?? .gps
    let packed = c_satellites_of(
      first, second, third, fourth, content.satelliteCount,
      isShared ? Int32(C_SHARED_NUMBERING) : Int32(system.rawValue),
      nmea.used.numbers(of: system))
    guard packed.wrong == 0 else { return false }
    let satellites = (
      Satellite(word: packed.first), Satellite(word: packed.second), Satellite(word: packed.third),
      Satellite(word: packed.fourth)
    )
    sky.add(satellites, count: content.satelliteCount, numbers: packed.numbers, of: system)
    return true
  }

  /// The slow path: adds a satellite of GSV whose id needs a lookup of its own.
  @inline(never)
  private mutating func add(_ satellite: GSV.Satellite, of system: Satellite.System?) {
    // Absent numbers are Int16.min.
    let id = satellite.raw(0)
    guard id >= 0, let (system, number) = Satellite.from(id: Int(id), of: system) else { return }
    sky.add(Satellite(system, number, satellite, isUsed: nmea.used.contains(system, number)))
  }

  private mutating func setPosition(
    _ latitude: Coordinate?, _ longitude: Coordinate?, _ source: Fix.Source, _ altitude: FixedPoint?,
    _ separation: FixedPoint?
  ) {
    guard fix.source < .ubx else { return }
    // The later sentence is newer, unless it has fewer digits.
    if let latitude, let longitude {
      let degrees = (latitude: latitude.degrees, longitude: longitude.degrees)
      let speed = last.fix.speedMetresPerSecond
      guard
        digitLoss.accepts(latitude, longitude, degrees: degrees, at: nmea.timeOfDay, speedMetresPerSecond: speed)
      else { return reject() }
      let digits = min(latitude.minutes.fractionDigits, longitude.minutes.fractionDigits)
      if digits >= nmea.positionDigits {
        nmea.positionDigits = digits
        fix.latitudeDegrees = degrees.latitude
        fix.longitudeDegrees = degrees.longitude
        fix.source = source
      }
    }
    if let altitude = altitude?.value { fix.heightAboveSeaLevelMetres = altitude }
    if let separation = separation?.value {
      fix.geoidSeparationMetres = separation
      if let altitude = fix.heightAboveSeaLevelMetres { fix.heightAboveEllipsoidMetres = altitude + separation }
    }
  }

  private mutating func setVelocity(_ knots: FixedPoint?, _ degrees: FixedPoint?) {
    guard fix.source < .ubx else { return }
    if let knots = knots?.value {
      let speed = knots * 1852 / 3600
      if speed >= 0, speed < 10_000 { fix.speedMetresPerSecond = speed } else { reject() }
    }
    if let degrees = degrees?.value { fix.courseDegrees = course(degrees) }
  }

  private mutating func setSpeed(kilometresPerHour: FixedPoint?) {
    guard fix.source < .ubx, let speed = kilometresPerHour?.value else { return }
    if speed >= 0, speed < 36_000 { fix.speedMetresPerSecond = speed / 3.6 } else { reject() }
  }

  private func dilution(_ value: FixedPoint?) -> Double? {
    // 99.99 and 50.0 (99.9 of some vendors) stand for no value, and 0 for a field that is not computed.
    guard let value = value?.value, value > 0, value < 99 else { return nil }
    return value
  }

  private static func quality(ofGGA quality: Int32) -> Fix.Quality {
    switch quality {
    case 1: .autonomous
    case 2: .differential
    case 3: .preciseService
    case 4: .rtkFixed
    case 5: .rtkFloat
    case 6: .estimated
    case 7: .manual
    case 8: .simulated
    default: .unknown
    }
  }

  private static func quality(ofMode mode: UInt8?) -> Fix.Quality {
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

  /// The best mode of GNS; nil when no constellation has a fix.
  private static func quality(ofModes modes: ShortText?) -> Fix.Quality? {
    guard let modes else { return nil }
    var best: Fix.Quality?
    for index in 0..<Int(modes.count) {
      let quality = quality(ofMode: modes.characters[index])
      if quality != .unknown, quality.rawValue > best?.rawValue ?? 0 { best = quality }
    }
    return best
  }
}

extension Satellite {
  /// A satellite of GSV. Absent numbers are Int16.min.
  @inline(__always)
  fileprivate init(_ system: System, _ number: UInt8, _ satellite: GSV.Satellite, isUsed: Bool) {
    self.init(
      system: system, number: number,
      elevationDegrees: Satellite.elevation(satellite.raw(1)), azimuthDegrees: Satellite.azimuth(satellite.raw(2)),
      signalDecibelHertz: UInt8(truncatingIfNeeded: max(satellite.raw(3), 0)), isUsed: isUsed)
  }
}
