// SPDX-License-Identifier: Apache-2.0
import CByteMask
import NMEA
import WireBytes

// The satellites of GSA, GSV, PQGSA and PQGSV.
extension EpochAssembler {
  mutating func apply(_ content: GSA, _ talker: Talker) {
    if let mode = content.fixMode { untimed.fixMode = max(untimed.fixMode ?? 0, Int8(truncatingIfNeeded: mode)) }
    if let pdop = dilution(content.pdop) { untimed.pdop = pdop }
    if let hdop = dilution(content.hdop) {
      untimed.hdop = hdop
      order.add(untimedHDOP: hdop, isAhead: !state.isOfEpoch)
    }
    if let vdop = dilution(content.vdop) { untimed.vdop = vdop }
    let system = Satellite.system(talker: talker, systemID: content.systemID.map(Int.init))
    let isUnmatched = system == nil && talker == .combined
    if let numbering = SatelliteNumbering(first: content.satellites.first, of: system, beiDou),
      !isUnmatched || numbering.system == .glonass
    {
      let numbers = content.satellites.numbers(after: numbering.base, most: numbering.most)
      if !numbers.hasOthers {
        if numbers.bits != 0 { shifted.note(numbering.system, isShifted: numbering.base != 0) }
        return use(numbers.bits, of: numbering.system)
      }
    }
    useEach(content.satellites, of: system, isUnmatched: isUnmatched)
  }

  /// The slow path: adds used satellites whose ids need an individual lookup.
  @inline(never)
  private mutating func useEach(_ ids: GSA.SatelliteIDs, of system: Satellite.System?, isUnmatched: Bool) {
    for id in ids { beiDou.learn(from: Int(id), of: system) }
    var unmatched: UInt64 = 0
    for id in ids {
      if isUnmatched, id >= 1, id <= 63, beiDou != .comNav || id < 38 {
        unmatched |= 1 &<< UInt64(id)
      } else if let (system, number) = Satellite.from(id: Int(id), of: system, beiDou) {
        shifted.note(system, id: Int(id), number: number)
        if untimed.used.insert(system, number) {
          untimed.usedCount &+= 1
          markLater()
        }
      } else if Satellite.isAmbiguous(id: Int(id), of: system) {
        reject()
      }
    }
    untimed.unmatched.append(unmatched)
    untimed.usedCount &+= UInt16(truncatingIfNeeded: unmatched.nonzeroBitCount)
    if unmatched != 0 { markLater() }
  }

  /// Adds used satellites of a system: a bit for each number.
  @inline(__always)
  private mutating func use(_ numbers: UInt64, of system: Satellite.System) {
    untimed.usedCount &+= UInt16(truncatingIfNeeded: (numbers & ~untimed.used.numbers(of: system)).nonzeroBitCount)
    if untimed.used.insert(system, numbers) { markLater() }
  }

  /// Another satellite is used. Later satellites are marked when they are added, those in the sky at the report.
  @inline(__always)
  private mutating func markLater() {
    if skyState != .earlier { skyState = .unmarked }
  }

  @inline(__always)
  mutating func apply(_ content: GSV, _ talker: Talker) {
    guard satelliteSource.acceptSentence() else { return }
    let signal = UInt32(truncatingIfNeeded: content.signalID ?? 0) &<< SatelliteGroup.signalShift
    startSky(content.number, of: content.sentences, sender: UInt32(talker.code) | signal)
    let system = Satellite.system(talker)
    defer { if !group.isIncomplete { fix.satellitesInView = sky.count } }
    #if !SMALL_CODE
      if fastAdd(content, of: system) { return }
    #endif
    for satellite in content.present { beiDou.learn(from: Int(satellite.raw(0)), of: system) }
    for satellite in content.present { add(satellite, of: system) }
  }

  mutating func apply(_ content: PQGSV) {
    guard satelliteSource.acceptSentence() else { return }
    // A talker has 16 bits.
    let sender = UInt32(truncatingIfNeeded: content.systemID ?? 0) | 1 << 16
    startSky(content.number, of: content.sentences, sender: sender)
    let system = Satellite.system(talker: .proprietary, systemID: content.systemID.map(Int.init))
    for index in 0..<content.satelliteCount {
      let satellite = content.satellites[index]
      guard let id = satellite.id, let (system, number) = Satellite.from(id: Int(id), of: system, beiDou) else {
        continue
      }
      sky.add(
        Satellite(
          system: system, number: number,
          elevationDegrees: Satellite.elevation(Int16(satellite.elevation ?? Int32(Int16.min))),
          azimuthDegrees: Satellite.azimuth(Int16(satellite.azimuth ?? Int32(Int16.min))),
          signalDecibelHertz: UInt8(satellite.signal ?? 0), isUsed: untimed.used.contains(system, number)))
    }
    if !group.isIncomplete { fix.satellitesInView = sky.count }
  }

  /// The fast path: adds the satellites of a sentence, if all are numbered in one way and different; otherwise adds
  /// none. Implemented in C (`satellites.h`), because Swift would process the lanes of its vectors one by one.
  @inline(__always)
  private mutating func fastAdd(_ content: GSV, of system: Satellite.System?) -> Bool {
    let (first, second) = (content.satellites[0].numbers, content.satellites[1].numbers)
    let (third, fourth) = (content.satellites[2].numbers, content.satellites[3].numbers)
    let isShared = Satellite.isSharedGLONASS(Int(content.satellites[0].raw(0)), system, beiDou)
    let system = isShared ? .glonass : system ?? .gps
    let packed = c_satellites_of(
      first, second, third, fourth, content.satelliteCount,
      isShared ? Int32(C_SHARED_NUMBERING) : Int32(system.rawValue),
      untimed.used.numbers(of: system))
    guard packed.wrong == 0 else { return false }
    if packed.numbers != 0 { shifted.note(system, isShifted: isShared) }
    let satellites = (
      Satellite(word: packed.first), Satellite(word: packed.second), Satellite(word: packed.third),
      Satellite(word: packed.fourth)
    )
    sky.add(satellites, count: content.satelliteCount, numbers: packed.numbers, of: system)
    return true
  }

  /// The slow path: adds a satellite of GSV whose id needs an individual lookup.
  @inline(never)
  private mutating func add(_ satellite: GSV.Satellite, of system: Satellite.System?) {
    // Absent numbers are Int16.min.
    let id = satellite.raw(0)
    guard id >= 0 else { return }
    guard let (system, number) = Satellite.from(id: Int(id), of: system, beiDou) else {
      if Satellite.isAmbiguous(id: Int(id), of: system) { reject() }
      return
    }
    shifted.note(system, id: Int(id), number: number)
    sky.add(Satellite(system, number, satellite, isUsed: untimed.used.contains(system, number)))
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
