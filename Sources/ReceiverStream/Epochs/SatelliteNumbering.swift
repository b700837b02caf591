// SPDX-License-Identifier: Apache-2.0
import NMEA

extension Satellite {
  /// The system and number for a satellite id of NMEA.
  ///
  /// Up to 4.0 all ids are in one number space, with a range for each system (1–32 GPS, 33–64 SBAS, 65–96 GLONASS,
  /// 193–202 QZSS, 301–336 Galileo, 401–463 BeiDou). Since 4.10 the numbers of each system start at 1, and the talker,
  /// or the system id of GSA, selects the system. u-blox interface descriptions, "Satellite numbering".
  ///
  /// - Parameters:
  ///   - system: the result of `system(talker:systemID:)` for the sentence.
  ///   - beiDou: the numbering that the receiver uses for BeiDou.
  /// - Returns: nil for an id that is invalid or ambiguous.
  @inline(__always)
  static func from(
    id: Int, of system: System?, _ beiDou: BeiDouNumbering = .unknown
  ) -> (system: System, number: UInt8)? {
    // Nearly all ids: the number is the same in its system.
    if id >= 1, id <= 32 {
      switch system ?? .gps {
      case .qzss, .navIC, .sbas, .imes, .unknown: break
      case let known: return (known, UInt8(truncatingIfNeeded: id))
      }
    }
    if isSharedGLONASS(id, system, beiDou) { return (.glonass, UInt8(truncatingIfNeeded: id &- 64)) }
    return fromRange(id: id, of: system, beiDou)
  }

  /// Whether an id is GLONASS in the old numbering, which talkers of other systems share. Only ComNav's numbers of Galileo
  /// overlap with it.
  @inline(__always)
  static func isSharedGLONASS(_ id: Int, _ system: System?, _ beiDou: BeiDouNumbering) -> Bool {
    id >= 65 && id <= 96 && system != .galileo && (system != nil || beiDou != .comNav)
  }

  @inline(never)
  private static func fromRange(
    id: Int, of system: System?, _ beiDou: BeiDouNumbering
  ) -> (system: System, number: UInt8)? {
    switch (system, id) {
    // The talker of Galileo decides, including for the numbers of some vendors (ComNav starts at 71, Quectel at 101).
    case (.galileo?, 1...36): return (.galileo, UInt8(id))
    case (.galileo?, 71...100): return (.galileo, UInt8(id - 70))
    case (.galileo?, 101...106) where beiDou == .comNav: return (.galileo, UInt8(id - 70))
    case (.galileo?, 101...136): return (.galileo, UInt8(id - 100))
    case (.galileo?, 211...246): return (.galileo, UInt8(id - 210))
    case (.galileo?, 301...336): return (.galileo, UInt8(id - 300))
    case (.beiDou?, 1...63): return (.beiDou, UInt8(id))
    // Trimble numbers C01 … C63 from 101 on, ComNav and Teseo from 141 on, Unicore's UM220 from 161 on.
    case (.beiDou?, 101...140): return (.beiDou, UInt8(id - 100))
    case (.beiDou?, 141...163) where beiDou == .from101: return (.beiDou, UInt8(id - 100))
    case (.beiDou?, 141...200) where beiDou.isFrom141: return (.beiDou, UInt8(id - 140))
    case (.beiDou?, 161...200) where beiDou == .from161: return (.beiDou, UInt8(id - 160))
    // MediaTek, older Chinese receivers. Without the talker the range overlaps with QZSS.
    case (.beiDou?, 201...263): return (.beiDou, UInt8(id - 200))
    case (.beiDou?, 401...463): return (.beiDou, UInt8(id - 400))
    case (.qzss?, 1...10): return (.qzss, UInt8(id))
    case (.qzss?, 193...202): return (.qzss, UInt8(id - 192))
    case (.navIC?, 1...14): return (.navIC, UInt8(id))
    case (.navIC?, 901...918), (nil, 901...918): return (.navIC, UInt8(id - 900))
    case (.galileo?, _), (.beiDou?, _), (.qzss?, _), (.navIC?, _): return nil
    case (.glonass?, 1...32): return (.glonass, UInt8(id))
    // ComNav's slots. A receiver does not write SBAS with the talker of GLONASS.
    case (.glonass?, 38...61): return (.glonass, UInt8(id - 37))
    case (.glonass?, 33...64), (.glonass?, 120...158): return nil
    // ComNav's GSA has the talker GN and no system id.
    case (nil, 38...61) where beiDou == .comNav: return (.glonass, UInt8(id - 37))
    case (nil, 71...106) where beiDou == .comNav: return (.galileo, UInt8(id - 70))
    case (nil, 141...200) where beiDou == .comNav: return (.beiDou, UInt8(id - 140))
    case (_, 1...32): return (.gps, UInt8(id))
    case (_, 33...64): return (.sbas, UInt8(id + 87))
    case (_, 65...96): return (.glonass, UInt8(id - 64))
    case (_, 120...158): return (.sbas, UInt8(id))
    case (_, 173...182): return (.imes, UInt8(id - 172))
    case (_, 193...202): return (.qzss, UInt8(id - 192))
    case (_, 211...246): return (.galileo, UInt8(id - 210))
    case (_, 301...336): return (.galileo, UInt8(id - 300))
    case (_, 401...463): return (.beiDou, UInt8(id - 400))
    default: return nil
    }
  }

  /// Whether an id is ambiguous: a BeiDou id in the numberings of different manufacturers.
  static func isAmbiguous(id: Int, of system: System?) -> Bool {
    (system ?? .beiDou) == .beiDou && id >= 141 && id <= 163
  }

  /// The system of a sentence's ids, from the system id of GSA or otherwise from the talker.
  @inline(__always)
  static func system(talker: Talker, systemID: Int?) -> System? {
    switch systemID {
    case 1: .gps
    case 2: .glonass
    case 3: .galileo
    case 4: .beiDou
    case 5: .qzss
    case 6: .navIC
    default: system(talker)
    }
  }

  /// The system of a sentence's ids, from the talker.
  @inline(__always)
  static func system(_ talker: Talker) -> System? {
    switch talker.code {
    case Talker.gps.code: .gps
    case Talker.glonass.code: .glonass
    case Talker.galileo.code: .galileo
    case Talker.beiDou.code, Talker.beiDouOld.code: .beiDou
    case Talker.qzss.code, Talker.qzssOld.code: .qzss
    case Talker.navIC.code: .navIC
    default: nil
    }
  }

  /// The system and number for the one-byte id of UBX messages before M8 (NAV-SVINFO): the reference, 1.8. Nil for an
  /// empty channel and for a GLONASS satellite whose slot is not known yet (255).
  static func from(legacyUBX id: UInt8) -> (system: System, number: UInt8)? {
    switch id {
    case 1...32: (.gps, id)
    case 33...64: (.beiDou, id - 27)
    case 65...96: (.glonass, id - 64)
    case 120...158: (.sbas, id)
    case 159...163: (.beiDou, id - 158)
    case 173...182: (.imes, id - 172)
    case 193...202: (.qzss, id - 192)
    case 211...246: (.galileo, id - 210)
    case 247...253: (.navIC, id - 246)
    default: nil
    }
  }

  /// Whether the two numbers of NAV-SAT or NAV-SIG identify a satellite of a documented system: the reference, 1.8. A GLONASS slot that is
  /// not known is 255.
  static func isNumbered(gnssId: UInt8, svId: UInt8) -> Bool {
    switch System(numbering: gnssId) {
    case .gps, .glonass: 1...32 ~= svId
    case .sbas: 120...158 ~= svId
    case .galileo: 1...36 ~= svId
    case .beiDou: 1...63 ~= svId
    case .imes, .qzss: 1...10 ~= svId
    case .navIC: 1...14 ~= svId
    case .unknown: false
    }
  }
}

/// The numbering of a sentence's satellites, if they are of one system and numbered in one way, as in nearly all
/// sentences: ids from `base` + 1 to `base` + `most` are the numbers from 1 on of `system`, as in
/// `Satellite.from(id:of:)`.
struct SatelliteNumbering {
  var system: Satellite.System
  var base: Int16
  /// Below 64.
  var most: UInt16

  /// - Parameters:
  ///   - id: the first id of the sentence; negative if there are none.
  ///   - system: the result of `Satellite.system(talker:systemID:)` for the sentence.
  ///   - beiDou: the numbering that the receiver uses for BeiDou.
  /// - Returns: nil for systems whose ids need `Satellite.from(id:of:)` one by one.
  @inline(__always)
  init?(first id: Int16, of system: Satellite.System?, _ beiDou: BeiDouNumbering) {
    if Satellite.isSharedGLONASS(Int(id), system, beiDou) {
      (self.system, base, most) = (.glonass, 64, 32)
      return
    }
    base = 0
    self.system = system ?? .gps
    switch self.system {
    case .gps, .glonass: most = 32
    case .galileo: most = 36
    case .beiDou: most = 63
    case .qzss, .navIC, .sbas, .imes, .unknown: return nil
    }
  }
}

/// The numbering that a receiver uses for BeiDou in addition to the standard's, derived from its ids.
enum BeiDouNumbering: UInt8, Sendable {
  /// Not known yet. Ids that differ between the other cases are not used.
  case unknown
  /// C01 is 101 or 141: only ids from 141 to 160 were seen.
  case from101Or141
  /// C01 is 101 (Trimble).
  case from101
  /// C01 is 141 (ST Teseo).
  case from141
  /// C01 is 161 (Unicore UM220).
  case from161
  /// C01 is 141, E01 is 71 and the GLONASS slot 1 is 38 (ComNav).
  case comNav

  var isFrom141: Bool { self == .from141 || self == .comNav }

  /// Learns from an id that not all manufacturers use.
  ///
  /// - Parameter system: the result of `Satellite.system(talker:systemID:)` for its sentence.
  mutating func learn(from id: Int, of system: Satellite.System?) {
    switch (system, id) {
    case (.glonass?, 38...61), (.galileo?, 71...100): self = .comNav
    case (.beiDou?, 101...140): self = .from101
    // No numbering from 161 on has these ids, so that the higher ones were numbered from 141 on.
    case (.beiDou?, 141...160):
      if self == .unknown { self = .from101Or141 } else if self == .from161 { self = .from141 }
    case (.beiDou?, 164...200):
      if self == .from101Or141 { self = .from141 } else if !isFrom141 { self = .from161 }
    default: break
    }
  }
}

/// The systems whose satellites have ids of their own in a receiver's sentences, such as GLONASS from 65: such a system has none of the ids
/// from 1 on, which all systems share.
struct ShiftedSystems: Sendable {
  private var bits: UInt16 = 0

  func contains(_ system: Satellite.System) -> Bool { bits >> UInt16(system.rawValue) & 1 != 0 }

  /// Records the ids of a system's satellites.
  @inline(__always)
  mutating func note(_ system: Satellite.System, isShifted: Bool) {
    let bit: UInt16 = 1 &<< UInt16(system.rawValue)
    if isShifted { bits |= bit } else { bits &= ~bit }
  }

  /// Records the id of a satellite. SBAS shares the ids from 33 on.
  mutating func note(_ system: Satellite.System, id: Int, number: UInt8) {
    note(system, isShifted: system == .sbas ? id > 64 : id != Int(number))
  }
}

/// The used satellites of GSA sentences that have neither a system's talker nor a system id. Each system's numbers start at 1, so
/// they are matched with the satellites in view. A wrong identity is worse than a satellite that is not marked.
struct UnmatchedSatellites: Sendable {
  private static var capacity: Int { 8 }
  /// A bit for each number, 1…63, of each sentence.
  private var sentences = InlineArray<8, UInt64>(repeating: 0)
  private var length: UInt8 = 0
  private var uncertainCount: UInt16 = 0

  var count: Int { Int(length) }
  /// The number of satellites whose system was not certain at the last report.
  var uncertain: Int { Int(uncertainCount) }

  /// Adds the numbers of a sentence. Sentences beyond `capacity` are dropped.
  mutating func append(_ numbers: UInt64) {
    guard numbers != 0, count < Self.capacity else { return }
    sentences[count] = numbers
    length &+= 1
  }

  mutating func append(_ other: UnmatchedSatellites) {
    for index in 0..<other.count { append(other.sentences[index]) }
  }

  /// Adds each sentence's satellites to `used`, if only one system has them in view. A system assigned to one sentence
  /// is excluded for the others, as are the systems of `shifted`.
  mutating func match(_ sky: inout Sky, _ used: inout SatelliteSet, but shifted: ShiftedSystems) {
    var taken = shifted
    var isProgress = true
    while isProgress {
      isProgress = false
      for index in 0..<count where sentences[index] != 0 {
        guard let system = onlySystem(of: sentences[index], but: taken, &sky) else { continue }
        taken.note(system, isShifted: true)
        used.insert(system, system == .gps ? sentences[index] & 0x1_FFFF_FFFE : sentences[index])
        if system == .gps { used.insert(.sbas, sentences[index] >> 32 & ~1) }
        sentences[index] = 0
        isProgress = true
      }
    }
    uncertainCount = 0
    for index in 0..<count { uncertainCount &+= UInt16(truncatingIfNeeded: sentences[index].nonzeroBitCount) }
  }

  /// The only system with at least three of four of the numbers in view.
  private func onlySystem(of numbers: UInt64, but taken: ShiftedSystems, _ sky: inout Sky) -> Satellite.System? {
    var found: Satellite.System?
    for number in UInt8(0)...7 {
      let system = Satellite.System(numbering: number)
      guard system != .sbas, system != .imes, !taken.contains(system) else { continue }
      var inView = sky.numbers(of: system)
      // GPS shares its sentences with SBAS, whose numbers are 33 to 64.
      if system == .gps, !taken.contains(.sbas) { inView |= sky.numbers(of: .sbas) << 32 }
      guard (numbers & inView).nonzeroBitCount * 4 >= numbers.nonzeroBitCount * 3 else { continue }
      if found != nil { return nil }
      found = system
    }
    return found
  }
}
