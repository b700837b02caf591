// SPDX-License-Identifier: Apache-2.0
import UBX

// Aiding data from the host, and the navigation database that the host stores.
extension VirtualReceiver {
  /// The results of assistance (interface descriptions, MGA-ACK).
  private enum Verdict: UInt8 {
    case used = 0
    case noTime = 1
    case version = 2
    case size = 3
    case notStored = 4
    case unknownType = 6
  }

  // MARK: - MGA

  mutating func receiveMGA(_ id: UInt8, _ payload: [UInt8]) {
    if id == 0x80, payload.isEmpty { return sendDatabase() }
    let verdict: Verdict
    switch id {
    case 0x40: verdict = receiveInitial(payload)
    case 0x00, 0x02, 0x03, 0x05, 0x06: verdict = receiveOrbit(id, payload)
    case 0x20: verdict = receivePrediction(payload)
    case 0x80: verdict = restore(payload)
    default: return
    }
    if verdict == .used { improveSearch() }
    guard settings.acknowledgesAiding else { return }
    let start = (0..<4).map { payload.count > $0 ? payload[$0] : 0 }
    answer(MessageIdentity(0x13, 0x60), [verdict == .used ? 1 : 0, 0, verdict.rawValue, id] + start)
  }

  private mutating func improveSearch() {
    engine.improve(currentStartKind, traits.firstFix, at: now)
  }

  private mutating func receiveInitial(_ payload: [UInt8]) -> Verdict {
    guard let type = payload.first else { return .size }
    switch type {
    case 0x00:
      guard payload.count == 20 else { return .size }
      let place = Earth.geodetic(
        Earth.Vector(
          x: Double(payload.i4(4)) / 100, y: Double(payload.i4(8)) / 100, z: Double(payload.i4(12)) / 100))
      return take(latitude: place.latitude, longitude: place.longitude)
    case 0x01:
      guard payload.count == 20 else { return .size }
      return take(latitude: Double(payload.i4(4)) * 1e-7, longitude: Double(payload.i4(8)) * 1e-7)
    case 0x10:
      guard payload.count == 24 else { return .size }
      let seconds = CivilTime.secondsSince1970(
        year: Int(payload.u2(4)), month: Int(payload[6]), day: Int(payload[7]), hour: Int(payload[8]),
        minute: Int(payload[9]), second: Int(payload[10]))
      return take(secondsSince1970: seconds)
    case 0x11:
      guard payload.count == 24 else { return .size }
      return take(
        secondsSince1970: GPSTime.epoch + Int64(payload.u2(6)) * 604_800 + Int64(payload.u4(8))
          - Int64(GPSTime.leapSeconds))
    case 0x20, 0x21: return payload.count == 12 ? .used : .size
    case 0x30: return payload.count == 72 ? .used : .size
    default: return .unknownType
    }
  }

  private mutating func take(latitude: Double, longitude: Double) -> Verdict {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else { return .notStored }
    if !engine.hasFix {
      let truth = truth(at: now)
      // A position that is far from the true one does not help; the receiver detects that by itself.
      let isNear = abs(latitude - truth.latitudeDegrees) < 3 && abs(longitude - truth.longitudeDegrees) < 5
      if memory.position == nil, isNear {
        memory.position = (latitude, longitude)
        memory.isPositionFromHost = true
      }
    }
    return .used
  }

  private mutating func take(secondsSince1970 seconds: Int64) -> Verdict {
    // Orbits need the time to about ten seconds; a time with a larger error does not help.
    if !memory.hasTime, abs(seconds - utcMilliseconds(at: now) / 1000) <= 10 {
      memory.hasTime = true
      memory.isTimeFromHost = true
    }
    return .used
  }

  /// MGA-ANO, which F9 and X20 lack.
  private mutating func receivePrediction(_ payload: [UInt8]) -> Verdict {
    guard !(2700..<3200).contains(traits.protocolVersion), traits.protocolVersion < 5000 else { return .unknownType }
    guard payload.count == 76 else { return .size }
    guard payload[0] == 0, payload[1] == 0 else { return .version }
    guard memory.hasTime else { return .noTime }
    let slot = Int(payload[3]) * 32 + Int(payload[2]) - 1
    guard 1...32 ~= payload[2], slot < VisibleSatellite.slots, 1...12 ~= payload[5], 1...31 ~= payload[6] else {
      return .notStored
    }
    memory.predictedDay[slot] =
      CivilTime.secondsSince1970(
        year: 2000 + Int(payload[4]), month: Int(payload[5]), day: Int(payload[6]), hour: 0, minute: 0, second: 0)
      / 86_400
    return .used
  }

  private mutating func receiveOrbit(_ id: UInt8, _ payload: [UInt8]) -> Verdict {
    guard payload.count >= 3 else { return .size }
    guard payload[0] == 1 else { return .used }
    guard memory.hasTime else { return .noTime }
    guard let gnss = Self.ephemerisSystems[id], 1...32 ~= payload[2] else { return .notStored }
    guard payload.count == gnss.size else { return .size }
    let slot = Int(gnss.system) * 32 + Int(payload[2]) - 1
    // The message has a time of the week or of the day: the nearest one counts, as with satellites.
    let now = utcMilliseconds(at: now)
    let reference = nearest(
      gnss.reference(payload) * 1000, of: gnss.periodSeconds * 1000, to: now + gnss.aheadOfUTC * 1000)
    let until = reference - gnss.aheadOfUTC * 1000 + gnss.usableSeconds * 1000
    let collected = min(now, until - NavigationMemory.validSeconds(ofSlot: slot) * 1000)
    guard collected > memory.ephemeris[slot] ?? .min else { return .used }
    memory.ephemeris[slot] = collected
    memory.isFromHost[slot] = true
    return .used
  }

  /// The ephemeris message of a system.
  private struct EphemerisSystem {
    var system: UInt8
    var size: Int
    /// Seconds of the period in the system's time.
    var reference: ([UInt8]) -> Int64
    var periodSeconds: Int64
    var aheadOfUTC: Int64
    /// Seconds of use after the reference time.
    var usableSeconds: Int64
  }

  private static var ephemerisSystems: [UInt8: EphemerisSystem] {
    let week: Int64 = 604_800
    let leap = Int64(GPSTime.leapSeconds)
    return [
      0x00: EphemerisSystem(
        system: 0, size: 68, reference: { Int64($0.u2(40)) * 16 }, periodSeconds: week, aheadOfUTC: leap,
        usableSeconds: 7200),
      0x02: EphemerisSystem(
        system: 2, size: 76, reference: { Int64($0.u2(50)) * 60 }, periodSeconds: week, aheadOfUTC: leap,
        usableSeconds: 4 * 3600),
      0x03: EphemerisSystem(
        system: 3, size: 88, reference: { Int64($0.u4(24)) * 8 }, periodSeconds: week, aheadOfUTC: leap - 14,
        usableSeconds: 7200),
      // The time of the day in Moscow.
      0x06: EphemerisSystem(
        system: 6, size: 48, reference: { Int64($0[35]) * 900 }, periodSeconds: 86_400, aheadOfUTC: 3 * 3600,
        usableSeconds: 1800),
    ]
  }

  /// The time with this remainder of a period that is nearest to another one. Both begin at GPS's epoch.
  private func nearest(_ remainder: Int64, of period: Int64, to time: Int64) -> Int64 {
    let epoch = GPSTime.epoch * 1000
    let difference = ((remainder - (time - epoch)) % period + period) % period
    return time + (difference > period / 2 ? difference - period : difference)
  }

  // MARK: - The navigation database

  // The simulator's own format: after twelve reserved bytes a mark, the kind and the index.
  private static let databaseMark: UInt8 = 0x5D

  private mutating func sendDatabase() {
    var records: [[UInt8]] = []
    for slot in 0..<VisibleSatellite.slots {
      guard let collected = memory.ephemeris[slot] else { continue }
      records.append(record(1, UInt32(slot), collected, padding: 76))
    }
    if let position = memory.position {
      let whole = { (degrees: Double) in Int32(nearest: (degrees * 1e7).rounded(.towardZero)) }
      let place =
        Int64(whole(position.latitude)) << 32 | Int64(UInt32(bitPattern: whole(position.longitude)))
      records.append(record(2, 0, place, padding: 8))
    }
    if memory.hasAlmanac { records.append(record(3, 0, 0, padding: 120)) }
    for record in records { spool.append(.frame(frameBytes(MessageIdentity(0x13, 0x80), record))) }
    guard settings.acknowledgesAiding else { return }
    var end: [UInt8] = [1, 0, 0, 0x80]
    end.append(u4: UInt32(records.count))
    spool.append(.frame(frameBytes(MessageIdentity(0x13, 0x60), end)))
  }

  private func record(_ kind: UInt8, _ index: UInt32, _ value: Int64, padding: Int) -> [UInt8] {
    var record = [UInt8](repeating: 0, count: 12)
    record += [Self.databaseMark, kind]
    record.append(u4: index)
    record.append(u4: UInt32(truncatingIfNeeded: value))
    record.append(u4: UInt32(truncatingIfNeeded: value >> 32))
    // A database is valid for this receiver only.
    record += uniqueID
    return record + [UInt8](repeating: 0, count: padding)
  }

  private mutating func restore(_ payload: [UInt8]) -> Verdict {
    guard payload.count >= 26 + uniqueID.count, payload[12] == Self.databaseMark,
      Array(payload[26..<26 + uniqueID.count]) == uniqueID
    else { return .notStored }
    let value = Int64(bitPattern: payload.u8(18))
    switch payload[13] {
    case 1:
      guard memory.hasTime else { return .noTime }
      let slot = Int(payload.u4(14))
      guard slot < VisibleSatellite.slots else { return .notStored }
      if memory.ephemeris[slot] ?? 0 < value {
        memory.ephemeris[slot] = value
        memory.isFromHost[slot] = true
      }
    case 2:
      if memory.position == nil {
        memory.position = (
          Double(Int32(truncatingIfNeeded: value >> 32)) * 1e-7, Double(Int32(truncatingIfNeeded: value)) * 1e-7
        )
        memory.isPositionFromHost = true
      }
    case 3: memory.hasAlmanac = true
    default: return .notStored
    }
    return .used
  }

  // MARK: - AID

  mutating func receiveAID(_ id: UInt8, _ payload: [UInt8]) {
    switch (id, payload.count) {
    case (0x01, 0): answer(MessageIdentity(0x0B, 0x01), initialAid)
    case (0x01, 48): receiveInitialAid(payload)
    case (0x31, 0):
      let aidEPH = MessageIdentity(0x0B, 0x31)
      for number in 1...32 { spool.append(.frame(frameBytes(aidEPH, orbit(number)))) }
    case (0x31, 1): if 1...32 ~= payload[0] { answer(MessageIdentity(0x0B, 0x31), orbit(Int(payload[0]))) }
    case (0x31, 104):
      let number = Int(payload.u4(0))
      guard 1...32 ~= number else { return acknowledgeAid(id, false) }
      memory.ephemeris[number - 1] = utcMilliseconds(at: now)
      memory.isFromHost[number - 1] = true
      improveSearch()
      acknowledgeAid(id, true)
    case (0x30, 40):
      memory.hasAlmanac = true
      acknowledgeAid(id, true)
    case (0x02, 72): acknowledgeAid(id, true)
    default: break
    }
  }

  private mutating func acknowledgeAid(_ id: UInt8, _ isUsed: Bool) {
    if settings.acknowledgesAiding { acknowledge(0x0B, id, isUsed) }
  }

  private mutating func receiveInitialAid(_ payload: [UInt8]) {
    let flags = payload.u4(44)
    if flags & 1 != 0 {
      if flags & 0x20 != 0 {
        _ = take(latitude: Double(payload.i4(0)) * 1e-7, longitude: Double(payload.i4(4)) * 1e-7)
      } else {
        let place = Earth.geodetic(
          Earth.Vector(x: Double(payload.i4(0)) / 100, y: Double(payload.i4(4)) / 100, z: Double(payload.i4(8)) / 100))
        _ = take(latitude: place.latitude, longitude: place.longitude)
      }
    }
    if flags & 2 != 0 {
      let (week, time) = (payload.u2(18), payload.u4(20))
      if flags & 0x400 != 0 {
        // wnoOrDate is yymm, towOrTime ddhhmmss, in decimal.
        let seconds = CivilTime.secondsSince1970(
          year: 2000 + Int(week) / 100, month: Int(week) % 100, day: Int(time / 1_000_000),
          hour: Int(time / 10_000 % 100), minute: Int(time / 100 % 100), second: Int(time % 100))
        _ = take(secondsSince1970: seconds)
      } else {
        _ = take(
          secondsSince1970: GPSTime.epoch + Int64(week) * 604_800 + Int64(time / 1000) - Int64(GPSTime.leapSeconds))
      }
    }
    improveSearch()
    acknowledgeAid(0x01, true)
  }

  private var initialAid: [UInt8] {
    var payload = [UInt8](repeating: 0, count: 48)
    var flags: UInt32 = 0
    if let position = memory.position {
      let place = Earth.ecef(
        latitude: position.latitude, longitude: position.longitude, height: solution.altitudeMetres)
      payload.set(u4: UInt32(bitPattern: Int32(nearest: (place.x * 100).rounded(.towardZero))), at: 0)
      payload.set(u4: UInt32(bitPattern: Int32(nearest: (place.y * 100).rounded(.towardZero))), at: 4)
      payload.set(u4: UInt32(bitPattern: Int32(nearest: (place.z * 100).rounded(.towardZero))), at: 8)
      payload.set(u4: 300_00, at: 12)
      flags |= 1
    }
    if memory.hasTime {
      let gps = GPSTime(utcMilliseconds: utcMilliseconds(at: now))
      payload.set(u2: UInt16(gps.week), at: 18)
      payload.set(u4: gps.millisecondOfWeek, at: 20)
      payload.set(u4: 20, at: 28)
      flags |= 2
    }
    payload.set(u4: flags, at: 44)
    return payload
  }

  /// AID-EPH of a GPS satellite: eight bytes without an orbit.
  private func orbit(_ number: Int) -> [UInt8] {
    var payload: [UInt8] = []
    payload.append(u4: UInt32(number))
    let hasOrbit = memory.hasEphemeris(number - 1, at: utcMilliseconds(at: now))
    payload.append(u4: (hasOrbit ? 0x0000_1234 : 0) as UInt32)
    if hasOrbit { payload += [UInt8](repeating: UInt8(number), count: 96) }
    return payload
  }

  // MARK: - Saving on shutdown

  /// UPD-SOS, which has a reply of its own.
  mutating func receiveSave(_ payload: [UInt8]) {
    guard traits.protocolVersion >= 1500 else { return }
    let identity = MessageIdentity(0x09, 0x14)
    if payload.isEmpty { return answer(identity, [3, 0, 0, 0, restoreResult == 0 ? 3 : restoreResult, 0, 0, 0]) }
    guard payload.count == 4 else { return }
    switch payload[0] {
    case 0:
      // Saving needs flash, and a search that is switched off.
      let isDone = traits.hasFlash && !engine.isRunning
      if isDone { savedMemory = memory }
      answer(identity, [2, 0, 0, 0, isDone ? 1 : 0, 0, 0, 0])
    case 1: savedMemory = nil
    default: break
    }
  }

  /// Restores orbits and position from flash after a start without a battery; the time is lost.
  mutating func restoreSavedMemory() {
    restoreResult = 0
    guard startCause == .power, let saved = savedMemory else { return }
    restoreResult = 2
    guard memory.position == nil else { return }
    memory = saved
    memory.hasTime = false
    memory.hasLeapSeconds = false
  }
}
