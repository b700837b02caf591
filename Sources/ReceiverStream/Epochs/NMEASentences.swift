// SPDX-License-Identifier: Apache-2.0
import NMEA
import WireBytes

// The contribution of each NMEA sentence to the fix of its epoch.
extension EpochAssembler {
  /// The key of a sentence in the receiver's order, from its address.
  @inline(__always)
  private static func id(_ talker: Talker, _ formatter: Formatter) -> UInt64 {
    UInt64(talker.code) << 24 | UInt64(formatter.code & 0xFF_FFFF) | 2 << 40
  }

  /// The key of a GSV. The length of a group varies from epoch to epoch, so only its last page can be recognised. Each
  /// signal has its own last page.
  @inline(__always)
  private static func id(_ talker: Talker, isLast: Bool, signal: UInt64) -> UInt64 {
    id(talker, GSV.formatter) | (isLast ? BurstOrder.pageBit : 0) | (signal & 0xF) << 44
  }

  @inline(__always)
  package mutating func receive(_ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void) {
    // Most sentences are GSV or GSA. Their functions save fewer registers than the function for all other sentences.
    switch sentence.shortAddress & 0xFF_FFFF {
    case UInt64(GSV.formatter.code): receiveGSV(sentence, body)
    case UInt64(GSA.formatter.code): receiveGSA(sentence, body)
    default: receiveOther(sentence, body)
    }
  }

  @inline(never)
  private mutating func receiveGSV(_ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void) {
    let content = sentence.decodeInline(GSV.self, rejected: &rejectedFields)
    let talker = sentence.talker
    let signal = UInt64(truncatingIfNeeded: content.signalID ?? 0)
    let continues = (content.number ?? 1) > 1
    beginUntimed(Self.id(talker, isLast: content.isLast, signal: signal), continuesGroup: continues, body)
    apply(content, talker)
    completeSatellites(body)
  }

  @inline(never)
  private mutating func receiveGSA(_ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void) {
    let content = sentence.decodeInline(GSA.self, rejected: &rejectedFields)
    let talker = sentence.talker
    beginUntimed(Self.id(talker, GSA.formatter), body)
    apply(content, talker)
    completeSatellites(body)
  }

  @inline(never)
  private mutating func receiveOther(_ sentence: NMEA.Sentence, _ body: (borrowing Report, borrowing Sky) -> Void) {
    if sentence.isProprietary { return receiveProprietary(sentence, body) }
    let (talker, formatter) = (sentence.talker, sentence.formatter)
    let id = Self.id(talker, formatter)
    switch formatter {
    case GSV.formatter: return receiveGSV(sentence, body)
    case GSA.formatter: return receiveGSA(sentence, body)
    case GGA.formatter:
      let content = sentence.decode(GGA.self, rejected: &rejectedFields)
      guard mayCount(.gga, talker, (content.quality ?? 0) > 0, content.latitude, content.time, id, body) else { return }
      guard begin(.gga, talker, content.time, content.latitude, content.longitude, id, body) else { return }
      apply(content, talker)
    case RMC.formatter:
      let content = sentence.decode(RMC.self, rejected: &rejectedFields)
      guard
        mayCount(
          .rmc, talker, Self.isValid(content.status, content.positionMode) == true, content.latitude, content.time, id,
          body)
      else { return }
      guard begin(.rmc, talker, content.time, content.latitude, content.longitude, date: content.date, id, body) else {
        return
      }
      apply(content, talker)
    case GNS.formatter:
      let content = sentence.decode(GNS.self, rejected: &rejectedFields)
      guard
        mayCount(
          .gns, talker, (Self.quality(ofModes: content.positionModes) ?? .unknown) != .unknown, content.latitude,
          content.time, id, body)
      else { return }
      guard begin(.gns, talker, content.time, content.latitude, content.longitude, id, body) else { return }
      apply(content, talker)
    case GLL.formatter:
      let content = sentence.decode(GLL.self, rejected: &rejectedFields)
      guard
        mayCount(
          .gll, talker, Self.isValid(content.status, content.positionMode) == true, content.latitude, content.time, id,
          body)
      else { return }
      guard begin(.gll, talker, content.time, content.latitude, content.longitude, id, body) else { return }
      apply(content, talker)
    case VTG.formatter:
      let content = sentence.decode(VTG.self, rejected: &rejectedFields)
      // The motion of a plotter or a log is not in the receiver's bursts.
      guard !positionSources.isOther(talker) else { return }
      beginUntimed(id, body)
      apply(content, talker)
    case GST.formatter:
      let content = sentence.decode(GST.self, rejected: &rejectedFields)
      guard begin(tag(content.time), id, body) else { return }
      apply(content)
    case ZDA.formatter:
      let content = sentence.decode(ZDA.self, rejected: &rejectedFields)
      apply(day(content), outputAt: content.time, id, body)
    case HDT.formatter, THS.formatter, HDG.formatter, HDM.formatter:
      return receiveHeading(sentence, id, body)
    default: return receiveAntennaHeading(sentence, id, body)
    }
    complete(body)
  }

  /// Whether a position sentence is used: a source without a fix only invalidates its own fixes, and a fix is from one source.
  @inline(__always)
  private mutating func mayCount(
    _ kind: NMEAEpoch.PositionSentence, _ talker: Talker, _ isFix: Bool, _ latitude: Coordinate?, _ time: TimeOfDay?,
    _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void
  ) -> Bool {
    let hasPosition = isFix && latitude != nil
    return positionSources.acceptAlone(talker, hasPosition: hasPosition)
      || mayCountBesideOthers(kind, talker, hasPosition, tag(time), id, body)
  }

  /// The same on a line with several sources. An ignored position of the epoch belongs to its burst: it is used if the receiver loses its own.
  @inline(never)
  private mutating func mayCountBesideOthers(
    _ kind: NMEAEpoch.PositionSentence, _ talker: Talker, _ hasPosition: Bool, _ own: EpochTag?, _ id: UInt64,
    _ body: (borrowing Report, borrowing Sky) -> Void
  ) -> Bool {
    let isCovered = nmea.hadOrHas(kind, of: positionSources.preferred)
    guard positionSources.ignores(talker, hasPosition: hasPosition, isCovered: isCovered) else { return true }
    if hasPosition, let own, isOfEpoch(own) {
      begin(own, id, body)
      complete(body)
    }
    return false
  }

  /// Called before a position sentence is applied. Returns whether it is used.
  @inline(__always)
  private mutating func begin(
    _ kind: NMEAEpoch.PositionSentence, _ talker: Talker, _ time: TimeOfDay?, _ latitude: Coordinate?,
    _ longitude: Coordinate?,
    date: ShortDate? = nil, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void
  ) -> Bool {
    // Nearly all sentences have another time or are the first of their kind: they skip the other checks.
    var own = tag(time)
    var mayBeOfEpoch = true
    if let timed = own, let current = tag {
      if timed.isSame(as: current) {
        own = current
      } else {
        if nmea.mayJoinLocalTime(kind) { own = joiningLocalTime(kind, own, latitude, longitude) }
        mayBeOfEpoch = own == tag
      }
    }
    if let time {
      let earlier = series.replace(kind, talker, time.nanoseconds)
      if !mayBeOfEpoch, nmea.hadOrHas(kind) {
        let isOther = kind == .gll || !nmea.isDecided(by: talker)
        if ignoresLagging(own, after: earlier, isOther: isOther) { return false }
      }
    }
    let isOther =
      mayBeOfEpoch && nmea.mayBeRepeated(kind, date: date)
      && nmea.isRepeated(
        kind, talker, time: time, date: date, isTimed: tag != nil, isAfterSilence: pause >= 100,
        hasMoved: hasMoved(latitude, longitude))
    begin(own, id, statesFix: true, isOther: isOther, body)
    nmea.add(kind, talker, date: date)
    return true
  }

  /// Handles a time that differs from the open epoch's: some receivers write the local time into GLL. It differs from
  /// UTC by quarters of an hour, and the position is the same. The epoch has the time of the other sentences.
  @inline(never)
  private mutating func joiningLocalTime(
    _ kind: NMEAEpoch.PositionSentence, _ own: EpochTag?, _ latitude: Coordinate?, _ longitude: Coordinate?
  ) -> EpochTag? {
    guard case .timeOfDay(let time)? = own, case .timeOfDay(let current)? = tag,
      (time - current) % (15 * 60 * 1_000_000_000) == 0, latitude != nil, fix.latitudeDegrees != nil,
      !hasMoved(latitude, longitude)
    else { return own }
    if kind != .gll { tag = own }
    return tag
  }

  /// HDT, THS, HDG and HDM.
  @inline(never)
  private mutating func receiveHeading(
    _ sentence: NMEA.Sentence, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    var heading = Heading()
    switch sentence.formatter {
    case HDT.formatter: setHeading(sentence.decode(HDT.self, rejected: &rejectedFields).heading, &heading)
    case THS.formatter:
      let content = sentence.decode(THS.self, rejected: &rejectedFields)
      if content.mode != UInt8(ascii: "V") { setHeading(content.heading, &heading) }
    case HDG.formatter: apply(sentence.decode(HDG.self, rejected: &rejectedFields), &heading)
    default: setMagneticHeading(sentence.decode(HDM.self, rejected: &rejectedFields).heading?.value, &heading)
    }
    if heading.source > .none { add(heading, nil, id, body) }
  }

  /// Whether a position differs from the epoch's by more than its resolution.
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
    positionSources.addProprietary()
    switch formatter {
    case PSTI030.formatter:
      // The fields of other PSTI sentences have other meanings and are not errors.
      var rejected = 0
      let content = sentence.decode(PSTI030.self, rejected: &rejected)
      // Each is a message of its own in the order of the burst.
      let id = id | (UInt64(truncatingIfNeeded: content.messageID ?? 0) & 0xF) << 44
      guard content.messageID == 30 else { return receiveAntennaHeading(sentence, id, body) }
      rejectedFields += rejected
      begin(tag(content.time), id, statesFix: true, body)
      apply(content)
    case PGRMF.formatter:
      let content = sentence.decode(PGRMF.self, rejected: &rejectedFields)
      begin(tag(content.time), id, statesFix: true, body)
      apply(content)
    case PGRMV.formatter:
      let content = sentence.decode(PGRMV.self, rejected: &rejectedFields)
      beginUntimed(id, body)
      untimed.velocityMetresPerSecond =
        velocity(north: content.velocityNorth, east: content.velocityEast, up: content.velocityUp)
        .map { ($0.x, $0.y, $0.z) }
    case PGRME.formatter:
      let content = sentence.decode(PGRME.self, rejected: &rejectedFields)
      beginUntimed(id, body)
      // Receivers that do not compute the error send zero.
      guard let horizontal = content.horizontalError?.value, horizontal > 0 else { break }
      untimed.horizontalAccuracyMetres = horizontal
      untimed.verticalAccuracyMetres = Self.accuracy(content.verticalError)
    case PQTMEPE.formatter where sentence.hasAddress("PQTMEPE"):
      let content = sentence.decode(PQTMEPE.self, rejected: &rejectedFields)
      beginUntimed(id, body)
      guard let horizontal = Self.accuracy(content.horizontalError) else { break }
      untimed.horizontalAccuracyMetres = horizontal
      untimed.verticalAccuracyMetres = Self.accuracy(content.downError)
    case PQGSA.formatter:
      let content = sentence.decode(PQGSA.self, rejected: &rejectedFields).content
      beginUntimed(id | (UInt64(truncatingIfNeeded: content.systemID ?? 0) & 0xF) << 44, body)
      apply(content, sentence.talker)
      return completeSatellites(body)
    case PQGSV.formatter:
      let content = sentence.decode(PQGSV.self, rejected: &rejectedFields)
      let isLast = content.number == content.sentences
      beginUntimed(
        id | (UInt64(truncatingIfNeeded: content.systemID ?? 0) & 0xF) << 44 | (isLast ? BurstOrder.pageBit : 0),
        continuesGroup: (content.number ?? 1) > 1, body)
      apply(content)
      return completeSatellites(body)
    case PUBX00.formatter:
      guard let number = sentence.messageNumber, receiveUBlox(sentence, number, id | UInt64(number) << 44, body)
      else { return }
    default: return receiveAntennaHeading(sentence, id, body)
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
      begin(tag(content.time), id, statesFix: true, body)
      apply(content)
    case PUBX04.messageNumber:
      let content = sentence.decode(PUBX04.self, rejected: &rejectedFields)
      guard content.time != nil else { return false }
      apply(content, id, body)
    default: return false
    }
    return true
  }

  private mutating func apply(_ content: PSTI030) {
    setTime(content.time)
    if let date = content.date {
      setDate(Day(year: date.fullYear, month: Int(date.month), day: Int(date.day)), content.time)
    }
    guard let isValid = Self.isValid(content.status, content.positionMode) else { return }
    setValid(isValid, content.latitude, content.longitude, rank: 3, .proprietary)
    guard isValid else { return }
    setPosition(content.latitude, content.longitude, .gga, content.altitude, nil)
    if case let quality = Self.quality(ofMode: content.positionMode), quality != .unknown { setQuality(quality) }
    setCorrections(age: content.rtkAge, station: nil)
    guard fix.source < .ubx,
      let velocity = velocity(north: content.velocityNorth, east: content.velocityEast, up: content.velocityUp)
    else { return }
    fix.velocityMetresPerSecond = velocity
    fix.climbMetresPerSecond = -velocity.z
    if fix.speedMetresPerSecond == nil {
      fix.speedMetresPerSecond = (velocity.x * velocity.x + velocity.y * velocity.y).squareRoot()
    }
  }

  /// Speed, course and dilutions are whole numbers: the values of other sentences are preferred.
  private mutating func apply(_ content: PGRMF) {
    setTime(content.time)
    if let date = content.date {
      setDate(Day(year: date.fullYear, month: Int(date.month), day: Int(date.day)), content.time)
    }
    guard let fixType = content.fixType else { return }
    setValid(fixType > 0, content.latitude, content.longitude, rank: 2, .proprietary)
    guard fixType > 0 else { return }
    setPosition(content.latitude, content.longitude, .rmc, nil, nil)
    nmea.fixMode = Int8(truncatingIfNeeded: fixType + 1)
    if fix.speedMetresPerSecond == nil, let speed = content.speedKilometresPerHour?.value {
      fix.speedMetresPerSecond = self.speed(speed / 3.6)
    }
    if fix.courseDegrees == nil, let degrees = content.course?.value { fix.courseDegrees = course(degrees) }
    if untimed.pdop == nil { untimed.pdop = dilution(content.pdop) }
    if fix.tdop == nil { fix.tdop = dilution(content.tdop) }
  }

  private mutating func apply(_ content: PUBX00) {
    setTime(content.time)
    guard let status = content.status.flatMap(UBloxStatus.init) else { return }
    let isFix = status.isFix
    if !isFix || content.latitude != nil && content.longitude != nil { nmea.setValid(isFix, rank: 4, .proprietary) }
    guard isFix else { return }
    setPosition(content.latitude, content.longitude, .pubx, nil, nil)
    guard fix.source <= .pubx else { return }
    if let height = content.altitude?.value { fix.heightAboveEllipsoidMetres = height }
    switch status {
    case .twoD, .differential2D: nmea.fixMode = 2
    case .threeD, .differential3D: nmea.fixMode = 3
    case .deadReckoning: fix.kind = .deadReckoning
    case .combined: fix.kind = .combined
    case .noFix, .timeOnly: break
    }
    // GGA and GNS distinguish RTK from other corrections.
    if fix.quality == .unknown {
      let isDifferential = status == .differential2D || status == .differential3D
      fix.quality = status == .deadReckoning ? .estimated : isDifferential ? .differential : .autonomous
    }
    if let horizontal = Self.accuracy(content.horizontalAccuracy) {
      fix.horizontalAccuracyMetres = horizontal
      fix.verticalAccuracyMetres = Self.accuracy(content.verticalAccuracy)
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

  /// The navigation status of PUBX,00, from its two characters. Other values are unknown.
  private enum UBloxStatus: UInt16 {
    case noFix = 0x4E46  // NF
    case timeOnly = 0x5454  // TT
    case deadReckoning = 0x4452  // DR
    case twoD = 0x4732  // G2
    case threeD = 0x4733  // G3
    case differential2D = 0x4432  // D2
    case differential3D = 0x4433  // D3
    case combined = 0x524B  // RK

    init?(_ text: ShortText) {
      guard text.count == 2 else { return nil }
      self.init(rawValue: UInt16(text.characters[0]) << 8 | UInt16(text.characters[1]))
    }

    var isFix: Bool { self != .noFix && self != .timeOnly }
  }

  private mutating func apply(_ content: PUBX04, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void) {
    apply(
      content.date.flatMap { Day(year: $0.fullYear, month: Int($0.month), day: Int($0.day)) }, outputAt: content.time,
      id, body)
    // A character after the number marks the default of the firmware.
    if let text = content.leapSeconds, let seconds = text.wholeNumber { setLeapSeconds(seconds) }
  }

  /// Handles the date and time of a sentence that states the time of its output, and belongs to an epoch with that time.
  private mutating func apply(
    _ day: Day?, outputAt timeOfDay: TimeOfDay?, _ id: UInt64, _ body: (borrowing Report, borrowing Sky) -> Void
  ) {
    guard let timeOfDay else { return beginUntimed(id, body) }
    let own = EpochTag.timeOfDay(timeOfDay.nanoseconds)
    if isOfEpoch(own) {
      begin(own, id, body)
      output.end(isOfPosition: true)
      setTime(timeOfDay)
      setDate(day, timeOfDay)
      return
    }
    // The epoch before may lack a date, and may be reported now.
    var time: UTCTime?
    if let day {
      time = calendar.time(on: day, nanosecondsOfDay: timeOfDay.nanoseconds)
      if time == nil { reject() }
    }
    beginOutput(own, id, body)
    guard state == .gathering, let time else { return }
    // Before the first epoch the time of the receiver's first output may belong to a burst that has already started.
    if let outputTime, outputTime != time { report(timeOnly: time, body) }
    outputTime = time
  }

  /// The heading of a vehicle; a compass is better than a course.
  private mutating func setHeading(_ degrees: FixedPoint?, _ heading: inout Heading) {
    guard let degrees = degrees?.value else { return }
    guard degrees >= 0, degrees <= 360 else { return reject() }
    heading.set(true: degrees == 360 ? 0 : degrees, .sentence)
  }

  /// The compass heading with its deviation is magnetic. With the variation it is true, and used if there is no better
  /// source.
  private mutating func apply(_ content: HDG, _ heading: inout Heading) {
    guard let shown = content.heading?.value else { return }
    let deviation = signed(content.deviation, content.deviationDirection)
    let magnetic = shown + (deviation ?? 0)
    setMagneticHeading(magnetic, &heading)
    guard heading.magneticDegrees != nil, let variation = signed(content.variation, content.variationDirection),
      let degrees = course(magnetic + variation)
    else { return }
    heading.set(true: degrees, .compass)
  }

  private mutating func setMagneticHeading(_ degrees: Double?, _ heading: inout Heading) {
    guard let degrees else { return }
    guard let degrees = course(degrees) else { return reject() }
    heading.set(magnetic: degrees)
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

  /// A velocity north, east, down; nil if a part is absent or not credible.
  private mutating func velocity(north: FixedPoint?, east: FixedPoint?, up: FixedPoint?) -> SIMD3<Double>? {
    guard let north = north?.value, let east = east?.value, let up = up?.value else { return nil }
    guard max(abs(north), abs(east), abs(up)) < 10_000 else {
      reject()
      return nil
    }
    return SIMD3(north, east, -up)
  }

  private func tag(_ time: TimeOfDay?) -> EpochTag? { time.map { .timeOfDay($0.nanoseconds) } }

  /// Sets the time of the epoch. If two times are rounded differently, the one with milliseconds is used.
  private mutating func setTime(_ time: TimeOfDay?) {
    guard let time = time?.nanoseconds else { return }
    if let before = nmea.timeOfDay, before != time, abs(before - time) < EpochTag.rounding {
      return setRounded(time, before)
    }
    nmea.timeOfDay = time
  }

  @inline(never)
  private mutating func setRounded(_ time: Int64, _ before: Int64) {
    guard time % EpochTag.rounding != 0, before % EpochTag.rounding == 0 else { return }
    nmea.timeOfDay = time
    if fix.source < .ubx, let dated = fix.time {
      fix.time = UTCTime(day: dated.day, nanosecondsOfDay: dated.nanosecondsOfDay + (time - before))
    }
  }

  private mutating func setDate(_ day: Day?, _ timeOfDay: TimeOfDay?) {
    guard let day, let own = timeOfDay?.nanoseconds else { return }
    let ofEpoch = nmea.timeOfDay.flatMap { abs($0 - own) < EpochTag.rounding ? $0 : nil } ?? own
    guard let time = calendar.time(on: day, nanosecondsOfDay: ofEpoch) else { return reject() }
    // A UBX message of the same epoch has nanosecond resolution.
    if fix.time == nil || fix.source < .ubx { fix.time = time }
  }

  private mutating func apply(_ content: GGA, _ talker: Talker) {
    setTime(content.time)
    guard let quality = content.quality else { return }
    setValid(quality > 0, content.latitude, content.longitude, rank: 3, talker)
    guard quality > 0 else { return }
    setPosition(content.latitude, content.longitude, .gga, content.altitude, content.geoidSeparation)
    setQuality(Self.quality(ofGGA: quality))
    setUsed(content.satellitesUsed)
    if let hdop = dilution(content.hdop) { setDilution(hdop) }
    setCorrections(age: content.differentialAge, station: content.differentialStation)
  }

  private mutating func apply(_ content: GNS, _ talker: Talker) {
    setTime(content.time)
    // With corrections for several systems, a sentence for each follows, without a position and a mode (NMEA 0183, GNS).
    guard let quality = Self.quality(ofModes: content.positionModes) else { return }
    setValid(quality != .unknown, content.latitude, content.longitude, rank: 3, talker)
    guard quality != .unknown, content.latitude != nil else { return }
    setPosition(content.latitude, content.longitude, .gga, content.altitude, content.geoidSeparation)
    setQuality(quality)
    setUsed(content.satellitesUsed)
    if let hdop = dilution(content.hdop) { setDilution(hdop) }
    setCorrections(age: content.differentialAge, station: content.differentialStation)
  }

  /// Sets the age and the station of the corrections. Without corrections some receivers write station 0, and some an
  /// age of 0 too.
  private mutating func setCorrections(age: FixedPoint?, station: Int32?) {
    guard (age?.mantissa ?? 0) != 0 || (station ?? 0) != 0 else { return }
    if let age { if age.mantissa >= 0 { fix.differentialAgeSeconds = age.value } else { reject() } }
    if let station { fix.differentialStation = Int(station) }
  }

  /// Sets the number of used satellites: the largest of the epoch, because GGA counts up to 12 on many receivers, or
  /// only the satellites of one system.
  private mutating func setUsed(_ count: Int32?) {
    if let count, !hasUBXCount { fix.satellitesUsed = max(fix.satellitesUsed ?? 0, Int(count)) }
  }

  /// Sets the quality, unless a UBX message of the epoch has.
  private mutating func setQuality(_ quality: Fix.Quality) { if !hasUBXQuality { fix.quality = quality } }

  private mutating func setDilution(_ hdop: Double) {
    order.add(timedHDOP: hdop)
    if fix.source < .ubx || fix.hdop == nil { fix.hdop = hdop }
  }

  private mutating func apply(_ content: RMC, _ talker: Talker) {
    setTime(content.time)
    if let date = content.date {
      if date != lastDate.date {
        lastDate = (date, Day(year: date.fullYear, month: Int(date.month), day: Int(date.day)))
      }
      setDate(lastDate.day, content.time)
    }
    guard let isValid = Self.isValid(content.status, content.positionMode), !isValid || !content.isDefault else {
      return
    }
    setValid(isValid, content.latitude, content.longitude, rank: 2, talker)
    guard isValid else { return }
    setPosition(content.latitude, content.longitude, .rmc, nil, nil)
    setVelocity(content.speedKnots, content.course)
    order.add(timedSpeed: content.speedKnots?.value)
    untimed.motion = .none
    nmea.velocityTalker = talker
    if fix.quality == .unknown { fix.quality = Self.quality(ofMode: content.positionMode) }
    if let variation = content.magneticVariation?.value, variation <= 180 {
      fix.magneticVariationDegrees = content.variationDirection == UInt8(ascii: "W") ? -variation : variation
    }
  }

  private mutating func apply(_ content: GLL, _ talker: Talker) {
    // It may be a local time: the times of the other sentences take precedence.
    if nmea.timeOfDay.map({ abs($0 - (content.time?.nanoseconds ?? 0)) < EpochTag.rounding }) ?? true {
      setTime(content.time)
    }
    guard let isValid = Self.isValid(content.status, content.positionMode) else { return }
    setValid(isValid, content.latitude, content.longitude, rank: 1, talker)
    guard isValid else { return }
    setPosition(content.latitude, content.longitude, .gll, nil, nil)
    if fix.quality == .unknown { fix.quality = Self.quality(ofMode: content.positionMode) }
  }

  /// Whether a status with a mode is a fix; nil if neither is conclusive. Either of them can state that there is no
  /// fix.
  private static func isValid(_ status: UInt8?, _ mode: UInt8?) -> Bool? {
    if status == UInt8(ascii: "V") || mode == UInt8(ascii: "N") { return false }
    // D is the status of a differential fix of old receivers.
    return status == UInt8(ascii: "A") || status == UInt8(ascii: "D") ? true : nil
  }

  /// Records a sentence's statement about the fix. A fix without its position is not a statement.
  private mutating func setValid(
    _ isValid: Bool, _ latitude: Coordinate?, _ longitude: Coordinate?, rank: Int8, _ talker: Talker
  ) {
    if !isValid || latitude != nil && longitude != nil { nmea.setValid(isValid, rank: rank, talker) }
  }

  private mutating func apply(_ content: VTG, _ talker: Talker) {
    let isOwn = nmea.velocityTalker.map { PositionSources.isSame($0, talker) } ?? true
    guard content.positionMode != UInt8(ascii: "N"), isOwn || untimed.motion == .none else { return }
    if let knots = content.speedKnots?.value {
      untimed.speedMetresPerSecond = speed(knots * 1852 / 3600)
    } else if let speed = content.speedKilometresPerHour?.value {
      untimed.speedMetresPerSecond = self.speed(speed / 3.6)
    }
    if let degrees = content.courseTrue?.value { untimed.courseDegrees = course(degrees) }
    if isOwn {
      untimed.motion = .last
      order.add(untimedSpeed: content.speedKnots?.value, isAhead: !state.isOfEpoch)
    }
  }

  private mutating func apply(_ content: GST) {
    setTime(content.time)
    guard let north = Self.accuracy(content.latitudeDeviation),
      let east = Self.accuracy(content.longitudeDeviation)
    else { return }
    if fix.source < .ubx || fix.eastAccuracyMetres == nil {
      fix.eastAccuracyMetres = east
      fix.northAccuracyMetres = north
    }
    guard fix.source < .ubx || fix.horizontalAccuracyMetres == nil else { return }
    fix.horizontalAccuracyMetres = (north * north + east * east).squareRoot()
    fix.verticalAccuracyMetres = Self.accuracy(content.altitudeDeviation)
    fix.accuracySource = .receiver
  }

  /// An accuracy in metres; nil for zero, which receivers send that do not compute it, and for a negative number.
  private static func accuracy(_ metres: FixedPoint?) -> Double? {
    guard let metres, metres.mantissa > 0 else { return nil }
    return metres.value
  }

  /// The day of ZDA; nil if it is absent or not credible.
  private mutating func day(_ content: ZDA) -> Day? {
    guard let year = content.year, let month = content.month, let day = content.day else { return nil }
    guard UTCTime.believedYears.contains(Int(year)), let date = Day(year: Int(year), month: Int(month), day: Int(day))
    else {
      reject()
      return nil
    }
    return date
  }

  private mutating func setPosition(
    _ latitude: Coordinate?, _ longitude: Coordinate?, _ source: Fix.Source, _ altitude: FixedPoint?,
    _ separation: FixedPoint?
  ) {
    guard fix.source < .ubx else { return }
    let isSupplement = positionSources.isSupplement
    if isSupplement, fix.latitudeDegrees != nil { return }
    // The later sentence is newer, unless it has fewer digits.
    if let latitude, let longitude {
      let degrees = (latitude: latitude.degrees, longitude: longitude.degrees)
      let speed = last.fix.speedMetresPerSecond
      guard
        digitLoss.accepts(latitude, longitude, degrees: degrees, at: nmea.timeOfDay, speedMetresPerSecond: speed)
      else { return reject() }
      let digits = min(latitude.minutes.fractionDigits, longitude.minutes.fractionDigits)
      if digits >= nmea.positionDigits {
        if !isSupplement { nmea.positionDigits = digits }
        fix.latitudeDegrees = degrees.latitude
        fix.longitudeDegrees = degrees.longitude
        fix.source = source
      }
    }
    guard altitude != nil || separation != nil else { return }
    if let altitude = altitude?.value {
      if let height = Self.plausibleHeight(altitude) { fix.heightAboveSeaLevelMetres = height } else { reject() }
    }
    if let separation = separation?.value {
      // From -107 to 86 m on the Earth.
      if abs(separation) < 1000 { fix.geoidSeparationMetres = separation } else { reject() }
    }
    if let altitude = fix.heightAboveSeaLevelMetres, let separation = fix.geoidSeparationMetres {
      fix.heightAboveEllipsoidMetres = altitude + separation
    }
  }

  private mutating func setVelocity(_ knots: FixedPoint?, _ degrees: FixedPoint?) {
    guard fix.source < .ubx || fix.speedMetresPerSecond == nil else { return }
    if let knots = knots?.value { fix.speedMetresPerSecond = speed(knots * 1852 / 3600) }
    if let degrees = degrees?.value { fix.courseDegrees = course(degrees) }
  }

  /// A speed in metres per second; nil if it is not credible.
  private mutating func speed(_ value: Double) -> Double? {
    if value >= 0, value < 10_000 { return value }
    reject()
    return nil
  }
}

extension RMC {
  /// Whether the position is the default of a receiver without a fix: 0°, 0° on a day before 2000.
  fileprivate var isDefault: Bool {
    latitude?.minutes.mantissa == 0 && longitude?.minutes.mantissa == 0 && (date.map { $0.fullYear < 2000 } ?? true)
  }
}
