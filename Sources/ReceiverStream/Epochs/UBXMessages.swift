// SPDX-License-Identifier: Apache-2.0
import UBX

// The contribution of each UBX message to the fix of its epoch. Ranges are checked here: input from a receiver is not
// trusted.
extension EpochAssembler {
  package mutating func receive(_ frame: UBXFrame, _ body: (borrowing Report, borrowing Sky) -> Void) {
    let id = UInt64(frame.identity.key) | 1 << 40
    guard let identity = ofFirstOutput(frame.identity) else { return }
    let payload = frame.payload
    switch identity {
    case NavPVT.identity:
      guard let message = NavPVT(payload: payload) else { return }
      setClockOffset(
        message.iTOW, isValid: message.valid & 3 == 3, hour: message.hour, minute: message.min, second: message.sec,
        nano: message.nano)
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, isOther: isOtherWeek(message), body)
      apply(message)
    case NavPVAT.identity:
      guard let message = NavPVAT(payload: payload) else { return }
      setClockOffset(
        message.iTOW, isValid: message.valid & 3 == 3, hour: message.hour, minute: message.min, second: message.sec,
        nano: message.nano)
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      apply(message)
    case HnrPVT.identity:
      guard let message = HnrPVT(payload: payload) else { return }
      var epoch = startBetween()
      apply(message)
      reportBetween(&epoch, body)
      return
    case NavPOSLLH.identity:
      guard let message = NavPOSLLH(payload: payload) else { return }
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      apply(message)
    case NavHPPOSLLH.identity:
      guard let message = NavHPPOSLLH(payload: payload) else { return }
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      apply(message)
    case NavPOSECEF.identity:
      guard let message = NavPOSECEF(payload: payload) else { return }
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      setECEF(
        SIMD3(Double(message.ecefX), Double(message.ecefY), Double(message.ecefZ)) / 100,
        accuracyMetres: accuracy(message.pAcc, 1e-2))
    case NavHPPOSECEF.identity:
      guard let message = NavHPPOSECEF(payload: payload) else { return }
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      apply(message)
    case NavVELECEF.identity:
      guard let message = NavVELECEF(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      setECEFVelocity(message.ecefVX, message.ecefVY, message.ecefVZ, accuracy: message.sAcc)
    case NavVELNED.identity:
      guard let message = NavVELNED(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      apply(message)
    case NavATT.identity:
      guard let message = NavATT(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      // An accuracy of 0 marks an absent angle (interface descriptions, NAV-ATT).
      if message.accHeading > 0 { setHeading(message.heading, accuracy: message.accHeading) }
    case NavRELPOSNED.identity:
      // Version 0 has no heading.
      guard let message = NavRELPOSNED(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      apply(message)
    case NavSOL.identity:
      guard let message = NavSOL(payload: payload) else { return }
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      apply(message)
    case NavSTATUS.identity:
      guard let message = NavSTATUS(payload: payload) else { return }
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      apply(message)
    case NavDOP.identity:
      guard let message = NavDOP(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      apply(message)
    case NavTIMEUTC.identity:
      guard let message = NavTIMEUTC(payload: payload) else { return }
      setClockOffset(
        message.iTOW, isValid: message.valid_validUTC, hour: message.hour, minute: message.min, second: message.sec,
        nano: message.nano)
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      apply(message)
    case NavTIMEGPS.identity:
      guard let message = NavTIMEGPS(payload: payload) else { return }
      begin(.timeOfWeek(message.iTOW), id, statesFix: true, body)
      apply(message)
    case NavTIMELS.identity:
      guard let message = NavTIMELS(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      if message.valid_validCurrLs { setLeapSeconds(Int(message.currLs)) }
    case NavCOV.identity:
      guard let message = NavCOV(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      apply(message)
    case NavSAT.identity:
      guard let message = NavSAT(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      apply(message)
    case NavSVINFO.identity:
      guard let message = NavSVINFO(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      apply(message)
    case NavSIG.identity:
      guard let message = NavSIG(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      apply(message)
    case NavEOE.identity:
      guard let message = NavEOE(payload: payload) else { return }
      guard begin(.timeOfWeek(message.iTOW), id, body) else { return }
      complete(isEnd: true, body)
      order.endBurst()
      return
    default: return
    }
    complete(body)
  }

  /// The message of the first output (NAV) that corresponds to a message; nil if it is ignored.
  ///
  /// The second output (NAV2) has the same messages with the same payloads, for a second solution of the same receiver
  /// with other settings. It is used when the first has no position. The two are never mixed.
  private mutating func ofFirstOutput(_ identity: MessageIdentity) -> MessageIdentity? {
    switch identity.messageClass {
    case NavPVT.identity.messageClass:
      switch identity {
      case NavPVT.identity, NavPVAT.identity, NavSOL.identity, NavPOSLLH.identity, NavHPPOSLLH.identity,
        NavPOSECEF.identity, NavHPPOSECEF.identity:
        epochsWithoutFirstOutput = 0
      default: break
      }
      return identity
    case Nav2PVT.identity.messageClass:
      guard epochsWithoutFirstOutput > Self.epochsUntilSecondOutput else { return nil }
      return MessageIdentity(NavPVT.identity.messageClass, identity.messageID)
    default: return identity
    }
  }

  /// Whether a message with the time of week of the open epoch has another date than the preceding messages: from a
  /// receiver that is switched on only briefly.
  // Mutating without a change; see `isNewEpoch`.
  private mutating func isOtherWeek(_ message: borrowing NavPVT) -> Bool {
    guard case .timeOfWeek(message.iTOW)? = tag, let time = fix.time, message.valid & 3 == 3,
      let day = Day(year: Int(message.year), month: Int(message.month), day: Int(message.day))
    else { return false }
    return abs(day.since1970 + calendar.correctionDays - time.day.since1970) >= 6
  }

  // MARK: Position and velocity

  private mutating func apply(_ message: borrowing NavPVT) {
    setCalendarTime(
      isValid: message.valid & 3 == 3, year: Int(message.year), month: Int(message.month), day: Int(message.day),
      hour: Int(message.hour), minute: Int(message.min), second: Int(message.sec), nano: Int64(message.nano))
    fix.timeIsResolved = message.valid_fullyResolved
    fix.timeAccuracySeconds = accuracy(message.tAcc, 1e-9)
    setKind(message.fixType, isOK: message.flags_gnssFixOK)
    setQuality(differential: message.flags_diffSoln, carrier: message.flags_carrSoln)
    fix.satellitesUsed = Int(message.numSV)
    (hasUBXQuality, hasUBXCount) = (true, true)
    fix.pdop = dilution(message.pDOP)
    if message.valid_validMag, let declination = message.magDec {
      fix.magneticVariationDegrees = Double(declination) * 1e-2
    }
    guard fix.kind != .none, !message.flags3_invalidLlh else { return }
    settleSurveyed(accuracyMetres: Double(message.hAcc) / 1000)
    if fix.kind != .timeOnly {
      setPosition(
        lat: Double(message.lat) / 1e7, lon: Double(message.lon) / 1e7, source: .ubx,
        height: Double(message.height) / 1000, seaLevel: Double(message.hMSL) / 1000)
      setAccuracy(horizontal: accuracy(message.hAcc, 1e-3), vertical: accuracy(message.vAcc, 1e-3), source: .ubx)
      setVelocity(
        SIMD3(Double(message.velN), Double(message.velE), Double(message.velD)) / 1000,
        speed: Double(message.gSpeed) / 1000, course: Double(message.headMot) / 1e5)
      fix.speedAccuracyMetresPerSecond = accuracy(message.sAcc, 1e-3)
      fix.courseAccuracyDegrees = angleAccuracy(message.headAcc)
      if message.flags_headVehValid, let heading = message.headVeh {
        setHeading(heading, accuracy: message.headAcc)
      }
    }
  }

  private mutating func apply(_ message: borrowing NavPVAT) {
    setCalendarTime(
      isValid: message.valid & 3 == 3, year: Int(message.year), month: Int(message.month), day: Int(message.day),
      hour: Int(message.hour), minute: Int(message.min), second: Int(message.sec), nano: Int64(message.nano))
    fix.timeIsResolved = message.valid_fullyResolved
    fix.timeAccuracySeconds = accuracy(message.tAcc, 1e-9)
    setKind(message.fixType, isOK: message.flags_gnssFixOK)
    setQuality(differential: message.flags_diffSoln, carrier: message.flags_carrSoln)
    fix.satellitesUsed = Int(message.numSV)
    (hasUBXQuality, hasUBXCount) = (true, true)
    if message.valid_validMag { fix.magneticVariationDegrees = Double(message.magDec) * 1e-2 }
    guard fix.kind != .none, fix.kind != .timeOnly else { return }
    setPosition(
      lat: Double(message.lat) / 1e7, lon: Double(message.lon) / 1e7, source: .ubx,
      height: Double(message.height) / 1000, seaLevel: Double(message.hMSL) / 1000)
    setAccuracy(horizontal: accuracy(message.hAcc, 1e-3), vertical: accuracy(message.vAcc, 1e-3), source: .ubx)
    setVelocity(
      SIMD3(Double(message.velN), Double(message.velE), Double(message.velD)) / 1000,
      speed: Double(message.gSpeed) / 1000, course: Double(message.motHeading) / 1e5)
    fix.speedAccuracyMetresPerSecond = accuracy(message.sAcc, 1e-3)
    // In hundredths of a degree here, in 1e-5 degrees in the other messages.
    if message.flags_vehHeadingValid { setHeading(message.vehHeading, accuracy: UInt32(message.accHeading) * 1000) }
  }

  private mutating func apply(_ message: borrowing HnrPVT) {
    setCalendarTime(
      isValid: message.valid & 3 == 3, year: Int(message.year), month: Int(message.month), day: Int(message.day),
      hour: Int(message.hour), minute: Int(message.min), second: Int(message.sec), nano: Int64(message.nano))
    fix.timeIsResolved = message.valid_fullyResolved
    setKind(message.gpsFix, isOK: message.flags_GPSfixOK)
    setQuality(differential: message.flags_DiffSoln, carrier: 0)
    guard fix.kind != .none, fix.kind != .timeOnly else { return }
    setPosition(
      lat: Double(message.lat) / 1e7, lon: Double(message.lon) / 1e7, source: .ubx,
      height: Double(message.height) / 1000, seaLevel: Double(message.hMSL) / 1000)
    setAccuracy(horizontal: accuracy(message.hAcc, 1e-3), vertical: accuracy(message.vAcc, 1e-3), source: .ubx)
    setSpeed(Double(message.gSpeed) / 1000, course: Double(message.headMot) / 1e5)
    fix.speedAccuracyMetresPerSecond = accuracy(message.sAcc, 1e-3)
    fix.courseAccuracyDegrees = angleAccuracy(message.headAcc)
    if message.flags_headVehValid { setHeading(message.headVeh, accuracy: message.headAcc) }
  }

  private mutating func apply(_ message: borrowing NavPOSLLH) {
    settleSurveyed(accuracyMetres: Double(message.hAcc) / 1000)
    setPosition(
      lat: Double(message.lat) / 1e7, lon: Double(message.lon) / 1e7, source: .ubx,
      height: Double(message.height) / 1000, seaLevel: Double(message.hMSL) / 1000)
    setAccuracy(horizontal: accuracy(message.hAcc, 1e-3), vertical: accuracy(message.vAcc, 1e-3), source: .ubx)
  }

  private mutating func apply(_ message: borrowing NavHPPOSLLH) {
    guard !message.flags_invalidLlh else { return }
    setPosition(
      lat: (Double(message.lat) * 100 + Double(message.latHp)) / 1e9,
      lon: (Double(message.lon) * 100 + Double(message.lonHp)) / 1e9, source: .ubxHighPrecision,
      height: (Double(message.height) * 10 + Double(message.heightHp)) / 1e4,
      seaLevel: (Double(message.hMSL) * 10 + Double(message.hMSLHp)) / 1e4)
    setAccuracy(
      horizontal: accuracy(message.hAcc, 1e-4), vertical: accuracy(message.vAcc, 1e-4), source: .ubxHighPrecision)
  }

  private mutating func apply(_ message: borrowing NavHPPOSECEF) {
    guard !message.flags_invalidEcef else { return }
    let coarse = SIMD3(Double(message.ecefX), Double(message.ecefY), Double(message.ecefZ)) * 100
    let fine = SIMD3(Double(message.ecefXHp), Double(message.ecefYHp), Double(message.ecefZHp))
    setECEF((coarse + fine) / 1e4, accuracyMetres: accuracy(message.pAcc, 1e-4), isPrecise: true)
  }

  private mutating func apply(_ message: borrowing NavVELNED) {
    setVelocity(
      SIMD3(Double(message.velN), Double(message.velE), Double(message.velD)) / 100,
      speed: Double(message.gSpeed) / 100, course: Double(message.heading) / 1e5)
    fix.speedAccuracyMetresPerSecond = accuracy(message.sAcc, 1e-2)
    fix.courseAccuracyDegrees = angleAccuracy(message.cAcc)
  }

  /// The line from one antenna to the other is the heading if both are on the same vehicle, which a moving base
  /// indicates. The line from a fixed base station to the vehicle is not a heading.
  private mutating func apply(_ message: borrowing NavRELPOSNED) {
    guard message.flags_gnssFixOK, message.flags_relPosValid, message.flags_relPosHeadingValid, message.flags_isMoving,
      message.flags_carrSoln != 0
    else { return }
    setHeading(message.relPosHeading, accuracy: message.accHeading)
  }

  private mutating func apply(_ message: borrowing NavSOL) {
    if message.flags_wknSet, message.flags_towSet {
      setGPSTime(week: Int(message.week), timeOfWeek: message.iTOW, fraction: Int64(message.fTOW))
    }
    setKind(message.gpsFix, isOK: message.flags_gpsfixOK)
    setQuality(differential: message.flags_diffSoln, carrier: 0)
    fix.satellitesUsed = Int(message.numSV)
    (hasUBXQuality, hasUBXCount) = (true, true)
    fix.pdop = dilution(message.pDOP)
    settleSurveyed(accuracyMetres: Double(message.pAcc) / 100)
    guard fix.kind != .none, fix.kind != .timeOnly else { return }
    setECEF(
      SIMD3(Double(message.ecefX), Double(message.ecefY), Double(message.ecefZ)) / 100,
      accuracyMetres: accuracy(message.pAcc, 1e-2))
    setECEFVelocity(message.ecefVX, message.ecefVY, message.ecefVZ, accuracy: message.sAcc)
  }

  private mutating func apply(_ message: borrowing NavSTATUS) {
    guard fix.kind == .none else { return }
    setKind(message.gpsFix, isOK: message.flags_gpsFixOk)
    setQuality(differential: message.flags_diffSoln, carrier: message.flags2_carrSoln)
    hasUBXQuality = true
  }

  private mutating func apply(_ message: borrowing NavDOP) {
    fix.gdop = dilution(message.gDOP)
    fix.pdop = dilution(message.pDOP)
    fix.tdop = dilution(message.tDOP)
    fix.vdop = dilution(message.vDOP)
    fix.hdop = dilution(message.hDOP)
    fix.edop = dilution(message.eDOP)
    fix.ndop = dilution(message.nDOP)
  }

  private mutating func apply(_ message: borrowing NavCOV) {
    if message.velCovValid == 1 { fix.climbAccuracyMetresPerSecond = deviation(message.velCovDD) }
    guard message.posCovValid == 1, let north = deviation(message.posCovNN), let east = deviation(message.posCovEE),
      let vertical = deviation(message.posCovDD)
    else { return }
    fix.eastAccuracyMetres = east
    fix.northAccuracyMetres = north
    guard fix.accuracySource != .receiver else { return }
    setAccuracy(horizontal: (east * east + north * north).squareRoot(), vertical: vertical, source: .ubx)
  }

  // MARK: Time

  private mutating func apply(_ message: borrowing NavTIMEUTC) {
    guard message.valid_validUTC else { return }
    setCalendarTime(
      isValid: true, year: Int(message.year), month: Int(message.month), day: Int(message.day),
      hour: Int(message.hour), minute: Int(message.min), second: Int(message.sec), nano: Int64(message.nano))
    fix.timeAccuracySeconds = accuracy(message.tAcc, 1e-9)
  }

  private mutating func apply(_ message: borrowing NavTIMEGPS) {
    if message.valid_leapSValid { setLeapSeconds(Int(message.leapS)) }
    guard message.valid & 3 == 3 else { return }
    setGPSTime(week: Int(message.week), timeOfWeek: message.iTOW, fraction: Int64(message.fTOW))
    fix.timeAccuracySeconds = accuracy(message.tAcc, 1e-9)
  }

  /// Sets the receiver's GPS − UTC.
  mutating func setLeapSeconds(_ seconds: Int) {
    // There have been 18 since 1980. A very different count is not credible.
    guard seconds >= 0, seconds <= 60 else { return reject() }
    leapSeconds = seconds
    clockOffset = Int8(truncatingIfNeeded: seconds)
    fix.leapSeconds = seconds
  }

  /// Derives GPS − UTC from a message with both times, before its epoch is identified: until the almanac the receiver
  /// uses the leap seconds of its firmware. A difference that is not a number of leap seconds is ignored.
  private mutating func setClockOffset(
    _ iTOW: UInt32, isValid: Bool, hour: UInt8, minute: UInt8, second: UInt8, nano: Int32
  ) {
    guard isValid else { return }
    let day: Int64 = 86_400_000
    let seconds = Int64(hour) * 3600 + Int64(minute) * 60 + Int64(second)
    let milliseconds = (Int64(iTOW) - seconds * 1000 - Int64(nano) / 1_000_000) % day + day
    // Both are rounded, as in `EpochTag`.
    let offset = (milliseconds + 500) / 1000 % 86_400
    guard abs((milliseconds + 500) % 1000 - 500) <= 10, offset <= 60 else { return }
    clockOffset = Int8(truncatingIfNeeded: offset)
  }

  /// Date and time from a UBX message. A second of 60 is a leap second and lies at the start of the next minute.
  private mutating func setCalendarTime(
    isValid: Bool, year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, nano: Int64
  ) {
    guard isValid else { return }
    guard UTCTime.believedYears.contains(year), let date = Day(year: year, month: month, day: day),
      hour < 24, minute < 60, second <= 60, abs(nano) <= 1_000_000_000
    else { return reject() }
    let seconds = Int64(hour * 3600 + minute * 60 + second)
    guard let time = calendar.time(on: date, nanosecondsOfDay: seconds * 1_000_000_000 + nano) else { return reject() }
    fix.time = time
  }

  /// The time from GPS week and time of week, unless a message with UTC has arrived.
  private mutating func setGPSTime(week: Int, timeOfWeek: UInt32, fraction: Int64) {
    // Days beyond these weeks, the year 2203, do not fit in nanoseconds since 1970. The year is checked below.
    guard week > 0, week < 11_700, timeOfWeek < 604_800_000, abs(fraction) <= 1_000_000 else { return reject() }
    guard fix.time == nil else { return }
    let nanoseconds = Int64(timeOfWeek) * 1_000_000 + fraction
    let gpsDay = Day(since1970: Day.gpsEpoch.since1970 + Int64(week) * 7)
    // The check needs the actual day: the first day of the week may be too far from the computer's date.
    let today = Day(since1970: gpsDay.since1970 + Int64(timeOfWeek / 86_400_000))
    let offset = leapSeconds ?? LeapSeconds.on(calendar.mended(today))
    let utc = UTCTime(day: gpsDay, nanosecondsOfDay: nanoseconds - Int64(offset) * 1_000_000_000)
    guard let time = calendar.time(on: utc.day, nanosecondsOfDay: utc.nanosecondsOfDay) else { return reject() }
    fix.time = time
  }

  // MARK: Satellites

  private mutating func apply(_ message: borrowing NavSAT) {
    startUBXSky()
    for index in 0..<message.satelliteCount {
      let satellite = message.satellite(index)
      guard Satellite.isNumbered(gnssId: satellite.gnssId, svId: satellite.svId) else { continue }
      sky.add(
        Satellite(
          system: Satellite.System(numbering: satellite.gnssId), number: satellite.svId,
          elevationDegrees: Satellite.elevation(Int16(satellite.elev)),
          azimuthDegrees: Satellite.azimuth(satellite.azim),
          signalDecibelHertz: satellite.cno, isUsed: satellite.flags_svUsed))
    }
    fix.satellitesInView = sky.count
  }

  private mutating func apply(_ message: borrowing NavSVINFO) {
    startUBXSky()
    for index in 0..<message.channelCount {
      let channel = message.channel(index)
      guard let (system, number) = Satellite.from(legacyUBX: channel.svid) else { continue }
      sky.add(
        Satellite(
          system: system, number: number,
          elevationDegrees: Satellite.elevation(Int16(channel.elev)), azimuthDegrees: Satellite.azimuth(channel.azim),
          signalDecibelHertz: channel.cno, isUsed: channel.flags_svUsed))
    }
    fix.satellitesInView = sky.count
  }

  /// Signals without angles: they complete the satellites of NAV-SAT, or replace them if NAV-SAT is disabled.
  private mutating func apply(_ message: borrowing NavSIG) {
    if !(satelliteSource.isUBX && skyState != .earlier) { startUBXSky() }
    skyState = .unmarked
    for index in 0..<message.signalCount {
      let signal = message.signal(index)
      guard Satellite.isNumbered(gnssId: signal.gnssId, svId: signal.svId) else { continue }
      sky.add(
        Satellite(
          system: Satellite.System(numbering: signal.gnssId), number: signal.svId,
          signalDecibelHertz: signal.cno, isUsed: signal.sigFlags_prUsed))
    }
    fix.satellitesInView = sky.count
  }

  private mutating func startUBXSky() {
    satelliteSource.useUBX()
    sky.removeAll()
    skyState = .unmarked
  }

  // MARK: Credible values

  mutating func reject() { rejectedFields += 1 }

  /// A receiver with kind "time only" has a position if it is a timing receiver with a surveyed antenna. Otherwise its
  /// accuracy is beyond all limits; 100 m is the default limit of the receivers.
  private mutating func settleSurveyed(accuracyMetres: Double) {
    guard fix.kind == .timeOnly, fix.isWithinLimits, accuracyMetres < 100 else { return }
    fix.kind = .surveyed
    fix.velocityMetresPerSecond = SIMD3()
    fix.climbMetresPerSecond = 0
    fix.speedMetresPerSecond = 0
  }

  private mutating func setKind(_ fixType: UInt8, isOK: Bool) {
    fix.reportsKind = true
    fix.isWithinLimits = isOK
    switch fixType {
    case 1: fix.kind = .deadReckoning
    case 2: fix.kind = .twoD
    case 3: fix.kind = .threeD
    case 4: fix.kind = .combined
    case 5: fix.kind = .timeOnly
    default: fix.kind = .none
    }
  }

  private mutating func setQuality(differential: Bool, carrier: UInt8) {
    fix.quality =
      switch carrier {
      case 2: .rtkFixed
      case 1: .rtkFloat
      default: differential ? .differential : .autonomous
      }
  }

  /// Sets a position unless a better source has set one.
  mutating func setPosition(lat: Double, lon: Double, source: Fix.Source, height: Double?, seaLevel: Double?) {
    guard source >= fix.source else { return }
    guard abs(lat) <= 90, abs(lon) <= 180 else { return reject() }
    fix.latitudeDegrees = lat
    fix.longitudeDegrees = lon
    fix.source = source
    let (height, seaLevel) = (Self.plausibleHeight(height), Self.plausibleHeight(seaLevel))
    fix.heightAboveEllipsoidMetres = height
    fix.heightAboveSeaLevelMetres = seaLevel
    if let height, let seaLevel { fix.geoidSeparationMetres = height - seaLevel }
  }

  /// A height in metres, nil if it is not credible: a receiver without a height sends −2³¹ mm. The deepest sea is 11 km
  /// deep, and receivers in satellites are below 2000 km.
  static func plausibleHeight(_ metres: Double?) -> Double? {
    metres.flatMap { $0 > -20_000 && $0 < 2_000_000 ? $0 : nil }
  }

  /// Sets the accuracies. An accuracy of 0 counts as unknown: no position of a satellite receiver is exact.
  private mutating func setAccuracy(horizontal: Double?, vertical: Double?, source: Fix.Source) {
    guard source >= fix.source, let horizontal, horizontal > 0 else { return }
    fix.horizontalAccuracyMetres = horizontal
    fix.verticalAccuracyMetres = vertical.flatMap { $0 > 0 ? $0 : nil }
    fix.accuracySource = .receiver
  }

  private mutating func setVelocity(_ velocity: SIMD3<Double>, speed: Double, course: Double) {
    fix.velocityMetresPerSecond = velocity
    fix.climbMetresPerSecond = -velocity.z
    setSpeed(speed, course: course)
  }

  /// Sets an earth-centred position, unless NAV-HPPOSECEF has set it to the tenth of a millimetre.
  private mutating func setECEF(_ metres: SIMD3<Double>, accuracyMetres: Double?, isPrecise: Bool = false) {
    guard isPrecise || !hasPreciseECEF else { return }
    hasPreciseECEF = isPrecise
    fix.ecefMetres = metres
    fix.ecefAccuracyMetres = accuracyMetres
  }

  /// Sets an earth-centred velocity and its accuracy in centimetres per second.
  private mutating func setECEFVelocity(_ x: Int32, _ y: Int32, _ z: Int32, accuracy: UInt32) {
    let velocity = SIMD3(Double(x), Double(y), Double(z)) / 100
    guard (velocity * velocity).sum() < 10_000 * 10_000 else { return reject() }
    fix.ecefMetresPerSecond = velocity
    if fix.speedAccuracyMetresPerSecond == nil {
      fix.speedAccuracyMetresPerSecond = self.accuracy(accuracy, 1e-2)
    }
  }

  private mutating func setSpeed(_ speed: Double, course degrees: Double) {
    // Export control limits satellite receivers to a lower speed.
    guard speed >= 0, speed < 10_000 else { return reject() }
    fix.speedMetresPerSecond = speed
    fix.courseDegrees = course(degrees)
  }

  /// Sets a heading in 1e-5 degrees. The last one of an epoch is used.
  private mutating func setHeading(_ heading: Int32, accuracy: UInt32) {
    guard let degrees = course(Double(heading) / 1e5) else { return reject() }
    fix.headingDegrees = degrees
    fix.headingAccuracyDegrees = angleAccuracy(accuracy)
    fix.magneticHeadingDegrees = nil
    fix.headingSource = .ubx
  }

  /// A direction in 0…360.
  func course(_ degrees: Double) -> Double? {
    guard degrees.isFinite, abs(degrees) <= 720 else { return nil }
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    return rest < 0 ? rest + 360 : rest
  }

  /// An accuracy; the largest values mean no value.
  private func accuracy(_ raw: UInt32, _ scale: Double) -> Double? {
    raw >= 0xFFFF_FFF0 ? nil : Double(raw) * scale
  }

  /// The standard deviation of a variance.
  private func deviation(_ variance: Float) -> Double? {
    variance >= 0 && variance.isFinite ? Double(variance).squareRoot() : nil
  }

  private func angleAccuracy(_ raw: UInt32) -> Double? {
    raw > 36_000_000 ? nil : Double(raw) / 1e5
  }

  /// A dilution of precision; 99.99 means no value.
  private func dilution(_ raw: UInt16) -> Double? {
    raw >= 9999 || raw == 0 ? nil : Double(raw) / 100
  }
}
