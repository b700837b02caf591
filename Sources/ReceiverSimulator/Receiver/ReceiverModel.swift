// SPDX-License-Identifier: Apache-2.0

/// The receivers that can be simulated. The raw values are their names on the command line.
public enum ReceiverModel: String, CaseIterable, Sendable {
  /// NEO-6M, firmware 7.03.
  case m6
  /// NEO-M8N, SPG 3.01, protocol version 18, with flash.
  case m8
  /// ZOE-M8B, SPG 3.51, protocol version 23.01: batching and Super-E.
  case m8Batching = "m8-batching"
  /// NEO-M9N, SPG 4.04.
  case m9
  /// SAM-M10Q, SPG 5.10.
  case m10
  /// ZED-F9P, HPG 1.32.
  case f9p
  /// ZED-F9R, HPS 1.30: dead reckoning with an odometer, otherwise as the ZED-F9P.
  case f9r
  /// NEO-F10N, SPG 6.00.
  case f10
  /// ZED-X20P, HPG 2.00.
  case x20
  /// A receiver of another vendor that sends NMEA at 4800 baud and never answers.
  case nmea
  /// A device that is sold as an M8, but stores no settings and loses bytes when its port changes.
  case clone
  /// MediaTek MT3339: PA6H.
  case mt3339
  /// MediaTek MT3333: PA1010D.
  case mt3333
  /// Airoha AG3352: LC76G.
  case ag3352
  /// CASIC AT6558, firmware V5: ATGM336H.
  case at6558
  /// CASIC AT6668, firmware V6: AT632.
  case at6668
  /// Quectel LG290P.
  case lg290p
  /// Unicore UM980.
  case um980
  /// Allystar TAU1201.
  case tau1201
  /// ST Teseo-LIV3F.
  case teseo
  /// Septentrio mosaic-G5.
  case mosaic
}

/// The satellite systems.
public struct SatelliteSystems: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let gps = SatelliteSystems(rawValue: 1)
  public static let galileo = SatelliteSystems(rawValue: 2)
  public static let glonass = SatelliteSystems(rawValue: 4)
  public static let beiDou = SatelliteSystems(rawValue: 8)
  public static let all: SatelliteSystems = [.gps, .galileo, .glonass, .beiDou]
}

/// The properties of a model.
struct ModelTraits: Sendable {
  /// The method of configuration.
  enum Configuration: Sendable {
    case none, legacy, items
    /// Items, and the old messages as an alternative.
    case itemsAndLegacy
  }

  /// The capacity of the batch in epochs, by the data that is kept of each.
  struct BatchCapacity: Sendable {
    var plain: Int
    var withOdometer: Int
    var withPVT: Int
    var withBoth: Int
  }

  /// Seconds to the first fix under an open sky.
  struct FirstFix: Sendable {
    var cold: Double
    var warm: Double
    var hot: Double
    var aided: Double
  }

  var software: StaticString
  var hardware: StaticString
  var extensions: [StaticString] = []
  /// Major version times 100 plus the minor one; 0 if the receiver reports none.
  var protocolVersion = 0
  /// The length of SEC-UNIQID's id in bytes; 0 if the receiver does not reply to it.
  var uniqueIDLength = 0
  var configuration = Configuration.none
  var defaultBaudRate: UInt32
  var baudRates: ClosedRange<UInt32>
  var hasFlash = false
  var hasUSB = false
  /// Whether battery-backed memory survives a power cycle.
  var hasBackup = true
  /// Whether CFG-PRT is replied to when it is polled, by firmware without the other messages for settings.
  var repliesToPortPoll = false
  /// Whether MON-COMMS lists three ports, and is sent with the receiver's next second.
  var hasSlowMonitor = false
  var hasSecondPulse = false
  /// Whether notices announce a restart of GNSS.
  var announcesRestart = false
  /// Milliseconds from a change of signals to the epoch out of step.
  var restartMilliseconds: UInt64 = 80
  /// Milliseconds until CFG-CFG without a mask of devices has loaded the saved settings.
  var loadMilliseconds: UInt64 = 0
  /// The number of major systems at a time, by MON-GNSS.
  var mostSystems: UInt8 = 4
  var signals = SignalItems()
  var batch: BatchCapacity?
  var hasPowerSave = false
  var hasShortSleepRequest = false
  var hasLongSleepRequest = false
  var hasAID = false
  var hasMGA = false
  var hasCorrections = false
  var hasHighPrecision = false
  var hasGeofence = false
  /// Whether it has dead reckoning: ESF messages.
  var hasSensorFusion = false
  /// The NMEA version as CFG-NMEA encodes it: 0x23 is 2.3, 0x4B is 4.11.
  var nmeaVersion: UInt8
  var systems: SatelliteSystems
  var defaultSystems: SatelliteSystems
  var fastestMilliseconds: UInt32
  var firstFix: FirstFix
  /// Milliseconds from the supply, or a reset, to the first byte.
  var bootMilliseconds: UInt64
  /// Milliseconds from the wake-up edge until the receiver reads; earlier bytes are lost.
  var wakeMilliseconds: UInt64
  /// Milliseconds from an epoch to its first byte.
  var latencyMilliseconds: UInt64
  var transmitBufferBytes: Int
  var currents: Currents
  /// The commands and sentences of a receiver that is not a u-blox one.
  var family: FamilyTraits?

  var hasEOE: Bool { protocolVersion >= 1800 }
  /// Whether the receiver has NAV-SOL, NAV-SVINFO and the other messages of u-blox 6 to 8.
  var hasOldNavigation: Bool { protocolVersion < 2700 && configuration != .none }
  var hasItems: Bool { configuration == .items || configuration == .itemsAndLegacy }
  /// Whether NAV-PVT has the short form of u-blox 6.
  var hasShortPVT: Bool { protocolVersion < 1400 }

  /// A model with other properties.
  func with(_ change: (inout ModelTraits) -> Void) -> ModelTraits {
    var traits = self
    change(&traits)
    return traits
  }
}

extension ReceiverModel {
  /// The model's row of the table. The strings come from real receivers (u-blox interface descriptions, MON-VER);
  /// the figures are from the data sheet that is named.
  var traits: ModelTraits {
    switch self {
    case .m6: Self.m6Traits
    case .m8: Self.m8Traits
    case .m8Batching: Self.m8BatchingTraits
    case .m9: Self.m9Traits
    case .m10: Self.m10Traits
    case .f9p: Self.f9pTraits
    case .f9r: Self.f9rTraits
    case .f10: Self.f10Traits
    case .x20: Self.x20Traits
    case .nmea: Self.nmeaTraits
    case .clone: Self.cloneTraits
    case .mt3339: Self.mt3339Traits
    case .mt3333: Self.mt3333Traits
    case .ag3352: Self.ag3352Traits
    case .at6558: Self.at6558Traits
    case .at6668: Self.at6668Traits
    case .lg290p: Self.lg290pTraits
    case .um980: Self.um980Traits
    case .tau1201: Self.tau1201Traits
    case .teseo: Self.teseoTraits
    case .mosaic: Self.mosaicTraits
    }
  }

  // NEO-6 data sheet.
  private static let m6Traits = ModelTraits(
    software: "7.03 (45969)", hardware: "00040007", protocolVersion: 1303, configuration: .legacy,
    defaultBaudRate: 9600, baudRates: 4800...115_200, hasUSB: true, hasPowerSave: true, hasShortSleepRequest: true,
    hasAID: true, nmeaVersion: 0x23, systems: .gps, defaultSystems: .gps, fastestMilliseconds: 200,
    firstFix: ModelTraits.FirstFix(cold: 27, warm: 27, hot: 1, aided: 3), bootMilliseconds: 350, wakeMilliseconds: 300,
    latencyMilliseconds: 80, transmitBufferBytes: 4096, currents: .neo6)

  // SAM-M8Q data sheet; strings of a NEO-M8N.
  private static let m8Traits = ModelTraits(
    software: "EXT CORE 3.01 (111141)", hardware: "00080000",
    extensions: [
      "ROM BASE 2.01 (75331)", "FWVER=SPG 3.01", "PROTVER=18.00", "FIS=0xEF4015 (200030)", "GPS;GLO;GAL;BDS",
      "SBAS;IMES;QZSS",
    ],
    protocolVersion: 1800, uniqueIDLength: 5, configuration: .legacy, defaultBaudRate: 9600, baudRates: 4800...460_800,
    hasFlash: true, hasUSB: true, mostSystems: 3, hasPowerSave: true, hasShortSleepRequest: true,
    hasLongSleepRequest: true, hasAID: true, hasMGA: true, hasGeofence: true, nmeaVersion: 0x40, systems: .all,
    defaultSystems: [.gps, .glonass], fastestMilliseconds: 100,
    firstFix: ModelTraits.FirstFix(cold: 26, warm: 26, hot: 1, aided: 3), bootMilliseconds: 300, wakeMilliseconds: 250,
    latencyMilliseconds: 60, transmitBufferBytes: 4096, currents: .samM8Q)

  // No data sheet of a ZOE-M8B was available; its times and currents are copied from the M8 above.
  private static let m8BatchingTraits = m8Traits.with {
    $0.software = "ROM SPG 3.51 (e69e84)"
    $0.extensions = ["FWVER=SPG 3.51", "PROTVER=23.01", "GPS;GLO;GAL;BDS", "SBAS;QZSS"]
    $0.protocolVersion = 2301
    $0.batch = ModelTraits.BatchCapacity(plain: 300, withOdometer: 221, withPVT: 156, withBoth: 132)
    ($0.hasFlash, $0.hasUSB, $0.hasAID) = (false, false, false)
  }

  // NEO-M9N data sheet. Its interface description gives the capacity of the batch as "up to 5 minutes" at 1 Hz.
  private static let m9Traits = ModelTraits(
    software: "EXT CORE 4.04 (7f89f7)", hardware: "00190000",
    extensions: [
      "ROM BASE 0x118B2060", "FWVER=SPG 4.04", "PROTVER=32.01", "MOD=NEO-M9N", "FIS=0xEF4015 (200030)",
      "GPS;GLO;GAL;BDS", "SBAS;QZSS",
    ],
    protocolVersion: 3201, uniqueIDLength: 5, configuration: .items, defaultBaudRate: 38400, baudRates: 4800...921_600,
    hasFlash: true, hasUSB: true, signals: .m9,
    batch: ModelTraits.BatchCapacity(plain: 300, withOdometer: 221, withPVT: 156, withBoth: 132), hasPowerSave: true,
    hasShortSleepRequest: true, hasLongSleepRequest: true, hasMGA: true, hasCorrections: true, hasGeofence: true,
    nmeaVersion: 0x41, systems: .all, defaultSystems: .all, fastestMilliseconds: 40,
    firstFix: ModelTraits.FirstFix(cold: 24, warm: 24, hot: 2, aided: 2), bootMilliseconds: 250, wakeMilliseconds: 200,
    latencyMilliseconds: 40, transmitBufferBytes: 8192, currents: .neoM9N)

  // SAM-M10Q data sheet; MAX-M10 modules ship at 9600 baud too. The default systems come from the data sheet's row
  // that allows power save mode.
  private static let m10Traits = ModelTraits(
    software: "ROM SPG 5.10 (7b202e)", hardware: "000A0000",
    extensions: ["FWVER=SPG 5.10", "PROTVER=34.10", "MOD=SAM-M10Q", "GPS;GLO;GAL;BDS", "SBAS;QZSS"],
    protocolVersion: 3410, uniqueIDLength: 6, configuration: .items, defaultBaudRate: 9600, baudRates: 9600...921_600,
    repliesToPortPoll: true, announcesRestart: true, restartMilliseconds: 32, loadMilliseconds: 143, mostSystems: 3,
    signals: .m10, batch: ModelTraits.BatchCapacity(plain: 600, withOdometer: 443, withPVT: 309, withBoth: 261),
    hasPowerSave: true, hasLongSleepRequest: true, hasMGA: true, nmeaVersion: 0x4B, systems: .all,
    defaultSystems: [.gps, .galileo], fastestMilliseconds: 55,
    firstFix: ModelTraits.FirstFix(cold: 23, warm: 23, hot: 1, aided: 1), bootMilliseconds: 200, wakeMilliseconds: 200,
    latencyMilliseconds: 40, transmitBufferBytes: 8192, currents: .samM10Q)

  // ZED-F9P data sheet.
  private static let f9pTraits = ModelTraits(
    software: "EXT CORE 1.00 (3fda8e)", hardware: "00190000",
    extensions: [
      "ROM BASE 0x118B2060", "FWVER=HPG 1.32", "PROTVER=27.31", "MOD=ZED-F9P", "GPS;GLO;GAL;BDS", "SBAS;QZSS",
    ],
    protocolVersion: 2731, uniqueIDLength: 5, configuration: .itemsAndLegacy, defaultBaudRate: 38400,
    baudRates: 9600...921_600, hasFlash: true, hasUSB: true, restartMilliseconds: 63, loadMilliseconds: 35,
    signals: .f9p, hasShortSleepRequest: true, hasLongSleepRequest: true, hasMGA: true, hasCorrections: true,
    hasHighPrecision: true, hasGeofence: true, nmeaVersion: 0x41, systems: .all, defaultSystems: .all,
    fastestMilliseconds: 40, firstFix: ModelTraits.FirstFix(cold: 25, warm: 25, hot: 2, aided: 2),
    bootMilliseconds: 300, wakeMilliseconds: 250, latencyMilliseconds: 50, transmitBufferBytes: 16384,
    currents: .zedF9P)

  // ZED-F9R data sheet, with the figures of the ZED-F9P.
  private static let f9rTraits = f9pTraits.with {
    $0.extensions[1] = "FWVER=HPS 1.30"
    $0.extensions[2] = "PROTVER=33.30"
    $0.extensions[3] = "MOD=ZED-F9R"
    $0.protocolVersion = 3330
    $0.configuration = .items
    $0.hasSensorFusion = true
  }

  // NEO-F10N data sheet.
  private static let f10Traits = ModelTraits(
    software: "ROM SPG 6.00 (8d8f8a)", hardware: "000A0000",
    extensions: ["FWVER=SPG 6.00", "PROTVER=40.00", "MOD=NEO-F10N", "GPS;GAL;BDS", "SBAS;QZSS;NAVIC"],
    protocolVersion: 4000, uniqueIDLength: 5, configuration: .items, defaultBaudRate: 38400, baudRates: 9600...921_600,
    announcesRestart: true, restartMilliseconds: 32, loadMilliseconds: 143, mostSystems: 3, signals: .f10,
    hasLongSleepRequest: true, hasMGA: true, nmeaVersion: 0x4B, systems: [.gps, .galileo, .beiDou],
    defaultSystems: [.gps, .galileo, .beiDou], fastestMilliseconds: 50,
    firstFix: ModelTraits.FirstFix(cold: 28, warm: 28, hot: 2, aided: 2), bootMilliseconds: 200, wakeMilliseconds: 200,
    latencyMilliseconds: 40, transmitBufferBytes: 8192, currents: .neoF10N)

  // ZED-X20P data sheet.
  private static let x20Traits = ModelTraits(
    software: "EXT HPG 2.00 (5b2b8a)", hardware: "000B0000",
    extensions: [
      "ROM BASE 0x00A9D329", "FWVER=HPG 2.00", "PROTVER=50.01", "MOD=ZED-X20P", "GPS;GLO;GAL;BDS", "SBAS;QZSS;NAVIC",
    ],
    protocolVersion: 5001, uniqueIDLength: 6, configuration: .items, defaultBaudRate: 38400,
    baudRates: 4800...8_000_000, hasFlash: true, hasUSB: true, hasSlowMonitor: true, hasSecondPulse: true,
    announcesRestart: true, restartMilliseconds: 200, loadMilliseconds: 35, signals: .x20, hasShortSleepRequest: true,
    hasLongSleepRequest: true, hasMGA: true, hasCorrections: true, hasHighPrecision: true, hasGeofence: true,
    nmeaVersion: 0x4B, systems: .all, defaultSystems: .all, fastestMilliseconds: 40,
    firstFix: ModelTraits.FirstFix(cold: 25, warm: 25, hot: 2, aided: 2), bootMilliseconds: 300, wakeMilliseconds: 250,
    latencyMilliseconds: 40, transmitBufferBytes: 16384, currents: .zedX20P)

  // The figures come from a NEO-6, as an example.
  private static let nmeaTraits = ModelTraits(
    software: "", hardware: "", defaultBaudRate: 4800, baudRates: 4800...4800, nmeaVersion: 0x23, systems: .gps,
    defaultSystems: .gps, fastestMilliseconds: 1000,
    firstFix: ModelTraits.FirstFix(cold: 35, warm: 34, hot: 2, aided: 2), bootMilliseconds: 500, wakeMilliseconds: 300,
    latencyMilliseconds: 100, transmitBufferBytes: 2048, currents: .neo6)

  // A counterfeit: no memory of any kind, and a port that is slow to change.
  private static let cloneTraits = ModelTraits(
    software: "ROM CORE 3.01 (107888)", hardware: "00080000",
    extensions: ["FWVER=SPG 3.01", "PROTVER=18.00", "GPS;GLO;GAL;BDS", "SBAS;IMES;QZSS"], protocolVersion: 1800,
    configuration: .legacy, defaultBaudRate: 9600, baudRates: 4800...115_200, hasBackup: false,
    hasShortSleepRequest: true, hasLongSleepRequest: true, nmeaVersion: 0x40, systems: [.gps, .glonass, .beiDou],
    defaultSystems: [.gps, .beiDou], fastestMilliseconds: 100,
    firstFix: ModelTraits.FirstFix(cold: 32, warm: 30, hot: 2, aided: 2), bootMilliseconds: 400, wakeMilliseconds: 400,
    latencyMilliseconds: 90, transmitBufferBytes: 2048, currents: .samM8Q)
}
