// SPDX-License-Identifier: Apache-2.0

/// The rows of receivers that are not u-blox ones. Figures without a document are marked as assumed.
extension ReceiverModel {
  /// The receivers whose commands are not u-blox's.
  public static let ofOtherMakers: [ReceiverModel] = allCases.filter { $0.traits.family != nil }
  /// The others: u-blox receivers, their copy, and the one that never replies.
  ///
  /// ZED-F9R is not among them: apart from its sensor fusion it is the ZED-F9P.
  public static let ofUBlox: [ReceiverModel] = allCases.filter { $0.traits.family == nil && $0 != .f9r }

  private static let usualRates: [UInt32] = [4800, 9600, 14_400, 19_200, 38_400, 57_600, 115_200]
  private static let fastRates: [UInt32] = [9600, 115_200, 230_400, 460_800, 921_600, 3_000_000]

  private static func traits(
    _ family: FamilyTraits, software: StaticString, hardware: StaticString, baud: UInt32, systems: SatelliteSystems,
    enabled: SatelliteSystems? = nil, fastest: UInt32, firstFix: ModelTraits.FirstFix, boot: UInt64, wake: UInt64,
    latency: UInt64, buffer: Int, currents: Currents
  ) -> ModelTraits {
    ModelTraits(
      software: software, hardware: hardware, defaultBaudRate: baud, baudRates: 4800...3_000_000, nmeaVersion: 0x41,
      systems: systems, defaultSystems: enabled ?? systems, fastestMilliseconds: fastest, firstFix: firstFix,
      bootMilliseconds: boot, wakeMilliseconds: wake, latencyMilliseconds: latency, transmitBufferBytes: buffer,
      currents: currents, family: family)
  }

  // GlobalTop FGPMMOPA6H data sheet: first fixes and currents. Standby as measured with the board (Adafruit forum
  // 45252). The size of the buffer is assumed.
  static let mt3339Traits = traits(
    FamilyTraits(
      language: .mediaTek,
      format: SentenceFormat(
        order: ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA"],
        defaults: ["GGA": 1, "GSA": 1, "GSV": 5, "RMC": 1, "VTG": 1], minuteDecimals: 4, hasNumbers: false),
      baudRates: usualRates, restartMilliseconds: 800),
    software: "AXN_2.31_3339_13101700", hardware: "5632", baud: 9600, systems: .gps, fastest: 100,
    firstFix: ModelTraits.FirstFix(cold: 35, warm: 33, hot: 1, aided: 5), boot: 800, wake: 200, latency: 100,
    buffer: 1024, currents: .mt3339)

  // CDtop PA1010D data sheet and shop page: the current of tracking; acquisition is not listed, and taken as the same.
  static let mt3333Traits = mt3339Traits.with {
    ($0.software, $0.hardware) = ("AXN_5.1.7_3333_19020118", "0027")
    $0.systems = [.gps, .glonass]
    $0.defaultSystems = $0.systems
    $0.currents = .mt3333
  }

  // Quectel LC26G(AB)&LC76G&LC86G GNSS Protocol Specification; Waveshare: the cold start.
  static let ag3352Traits = traits(
    FamilyTraits(
      language: .airoha,
      format: SentenceFormat(
        order: ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "GST"],
        defaults: ["GGA": 1, "GLL": 1, "GSA": 1, "GSV": 1, "RMC": 1, "VTG": 1], minuteDecimals: 6,
        altitudeDecimals: 3, hasNumbers: true),
      baudRates: [9600, 115_200, 230_400, 460_800, 921_600], restartMilliseconds: 600),
    software: "LC76GABNR02A01S,2022/09/14,11:47:03", hardware: "AG3352Q_V2.3.0.AG3352_20220914", baud: 115_200,
    systems: .all, fastest: 100, firstFix: ModelTraits.FirstFix(cold: 26, warm: 20, hot: 1, aided: 5), boot: 600,
    wake: 300, latency: 50, buffer: 4096, currents: .ag3352)

  // CASIC protocol specification V4.2; AT6558R data sheet: currents. The recorded replies that lag by 5.9 s at 9600 baud
  // give the size of the buffer.
  static let at6558Traits = traits(
    FamilyTraits(
      language: .casic,
      format: SentenceFormat(
        order: ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "GST", "TXT"],
        defaults: ["GGA": 1, "GLL": 1, "GSA": 1, "GSV": 1, "RMC": 1, "VTG": 1, "ZDA": 1, "TXT": 1],
        minuteDecimals: 5, dopDecimals: 1, beiDou: "BD", hasNumbers: false, antennaText: "ANTENNA OK"),
      baudRates: [4800, 9600, 19_200, 38_400, 57_600, 115_200], restartMilliseconds: 400),
    software: "URANUS5,V5.3.0.0", hardware: "ATGM336H,0009101407754", baud: 9600,
    systems: [.gps, .beiDou, .glonass], enabled: [.gps, .beiDou], fastest: 100,
    firstFix: ModelTraits.FirstFix(cold: 30, warm: 28, hot: 5.5, aided: 5.5), boot: 400, wake: 400, latency: 70,
    buffer: 5760, currents: .at6558)

  static let at6668Traits = at6558Traits.with {
    ($0.software, $0.hardware) = ("URANUS6,V6.3.0.0", "AT362-AT6668-6T-30")
    $0.family?.format.hasNumbers = true
    $0.systems = .all
    $0.latencyMilliseconds = 7
  }

  // Recordings of the LG290P (firmware LG290P03AANR02A01S); SparkFun: first fixes and currents. The time from the supply
  // to the first byte is assumed; a restart by command was recorded.
  static let lg290pTraits = traits(
    FamilyTraits(
      language: .quectel,
      format: SentenceFormat(
        order: ["GGA", "RMC", "GLL", "VTG", "GSA", "GSV", "ZDA", "GST"],
        defaults: ["GGA": 1, "RMC": 1, "GLL": 1, "VTG": 1, "GSA": 1, "GSV": 1], minuteDecimals: 6, hasNumbers: true),
      periodMilliseconds: 100, baudRates: fastRates, restartMilliseconds: 20_187),
    software: "LG290P03AANR02A01S,2025/12/12,11:21:01", hardware: "", baud: 460_800, systems: .all, fastest: 50,
    firstFix: ModelTraits.FirstFix(cold: 28, warm: 28, hot: 1.7, aided: 1.7), boot: 1000, wake: 300, latency: 2,
    buffer: 16_384, currents: .lg290p)

  // Recordings of the UM980 (Build17548); SparkFun: 480 mW. As found it sends replies only.
  static let um980Traits = traits(
    FamilyTraits(
      language: .unicore,
      format: SentenceFormat(
        order: ["GGA", "RMC", "GLL", "VTG", "GSA", "GSV", "ZDA", "GST"], defaults: [:], minuteDecimals: 8,
        timeDecimals: 2, altitudeDecimals: 4, hasNumbers: true, marksBase: true),
      baudRates: [9600, 115_200, 230_400, 460_800, 921_600], restartMilliseconds: 4000),
    software: "R4.10Build17548", hardware: "UM980", baud: 115_200, systems: .all, fastest: 50,
    firstFix: ModelTraits.FirstFix(cold: 30, warm: 30, hot: 5, aided: 5), boot: 1500, wake: 300, latency: 20,
    buffer: 16_384, currents: .um980)

  // Recordings of the TAU1201 (firmware 3.018). First fixes and currents are assumed: no document was read.
  static let tau1201Traits = traits(
    FamilyTraits(
      language: .allystar,
      format: SentenceFormat(
        order: ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG", "ZDA", "TXT"],
        defaults: ["GGA": 1, "GSA": 5, "GSV": 5, "RMC": 5, "ZDA": 5, "TXT": 5], minuteDecimals: 5, beiDou: "BD",
        hasNumbers: true, padsViews: false, antennaText: "ANT_OPEN,D2,"),
      periodMilliseconds: 200, baudRates: [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800],
      restartMilliseconds: 700),
    software: "3.018.aab95e7", hardware: "HD8040D.9529b63f3", baud: 115_200, systems: .all, fastest: 100,
    firstFix: ModelTraits.FirstFix(cold: 30, warm: 30, hot: 2, aided: 2), boot: 700, wake: 700, latency: 5,
    buffer: 4096, currents: .tau1201)

  // ST UM2229 (commands), UM2231 and DS12821 (currents: 70 mW of a LIV3R in tracking).
  static let teseoTraits = traits(
    FamilyTraits(
      language: .teseo,
      format: SentenceFormat(
        order: ["RMC", "GGA", "VTG", "GSA", "GSV", "GLL", "ZDA", "GST"],
        defaults: ["RMC": 1, "GGA": 1, "VTG": 1, "GSA": 1, "GSV": 1, "GLL": 1], minuteDecimals: 5,
        dopDecimals: 1, altitudeDecimals: 2, hasNumbers: false),
      baudRates: [4800, 9600, 14_400, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600],
      restartMilliseconds: 2000),
    software: "STA8041_4.6.8.5.9_ARM", hardware: "GNSSLIB_8.4.8.13_ARM", baud: 9600, systems: [.gps, .glonass],
    fastest: 100, firstFix: ModelTraits.FirstFix(cold: 32, warm: 25, hot: 1.5, aided: 1.5), boot: 2000, wake: 2000,
    latency: 100, buffer: 4096, currents: .teseoLIV3)

  // Recordings of a mosaic-G5 (firmware 1.1.0) and their author's notes: 7 s after a soft reset. First fixes and currents are
  // assumed: no document was read. As found its port sends no sentences.
  static let mosaicTraits = traits(
    FamilyTraits(
      language: .septentrio,
      format: SentenceFormat(
        order: ["GGA", "RMC", "GLL", "VTG", "GSA", "GSV", "ZDA", "GST"], defaults: [:], minuteDecimals: 7,
        timeDecimals: 2, altitudeDecimals: 4, hasNumbers: true),
      baudRates: [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600], restartMilliseconds: 7000),
    software: "1.1.0", hardware: "mosaic-G5", baud: 115_200, systems: .all, fastest: 20,
    firstFix: ModelTraits.FirstFix(cold: 45, warm: 20, hot: 5, aided: 5), boot: 7000, wake: 300, latency: 10,
    buffer: 16_384, currents: .mosaic)
}

extension Currents {
  private static func one(
    _ acquisition: Double, _ tracking: Double, backup: Double, standby: Double, stopped: Double? = nil
  ) -> Currents {
    Currents(
      rows: [Row(systems: .all, acquisition: acquisition, tracking: tracking, cyclic: tracking)],
      hardwareBackup: backup, standby: standby, stopped: stopped)
  }

  // PA6H data sheet; standby as measured with the board.
  static let mt3339 = one(25, 20, backup: 0.007, standby: 2)
  // PA1010D shop page; standby of an L76 (Quectel L76 Hardware Design: 0.5 mA by command), the nearest with a document.
  static let mt3333 = one(30, 30, backup: 0.007, standby: 0.5)
  // No document was read: 14 mA acquiring, 12 mA tracking and 1 mA with the engine stopped are assumed. Backup of LC86G.
  static let ag3352 = one(14, 12, backup: 0.013, standby: 0.035, stopped: 1)
  // AT6558R data sheet.
  static let at6558 = one(23, 23, backup: 0.008, standby: 0.008)
  // SparkFun: 91 mA, backup 12 µA. The current with the engine stopped is not published.
  static let lg290p = one(91, 91, backup: 0.012, standby: 0.012)
  // 480 mW at 3.3 V.
  static let um980 = one(145, 145, backup: 0.02, standby: 0.02)
  static let mosaic = one(200, 200, backup: 0.02, standby: 0.02)
  static let tau1201 = one(30, 30, backup: 0.02, standby: 0.02)
  // 70 mW at 3.3 V; software standby below 20 µA, hardware standby below 15 µA.
  static let teseoLIV3 = one(26, 21, backup: 0.015, standby: 0.02)
}
