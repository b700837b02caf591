// SPDX-License-Identifier: Apache-2.0

/// The command families of other makers' receivers. Crash-recovery records contain the names.
///
/// A family is the language of the receiver, not its label: Quectel's L76B is MediaTek, its LC76G Airoha, its L76K CASIC and
/// its LG290P Quectel.
public enum ReceiverFamily: String, Sendable, CaseIterable {
  /// PMTK sentences: MT3329 … MT3339.
  case mediaTek = "MediaTek"
  /// PAIR sentences: AG3335, AG3352.
  case airoha = "Airoha"
  /// PCAS sentences and binary frames: AT6558, AT6668 and relatives.
  case casic = "CASIC"
  /// PQTM sentences: LG290P.
  case quectel = "Quectel"
  /// Unicore's Nebulas: UM980.
  case unicore = "Unicore"
  /// Unicore's Firebird: UC6580.
  case firebird = "Firebird"
  /// PSTM sentences: Teseo.
  case teseo = "STMicroelectronics"
  case skyTraq = "SkyTraq"
  case allystar = "Allystar"
  case septentrio = "Septentrio"
  /// Known by its sentences only.
  case siRF = "SiRF"

  /// The vendor of `sextant probe --json`: Unicore has two families.
  public var vendor: String { self == .firebird ? Self.unicore.rawValue : rawValue }

  /// How the family identifies itself and takes commands; nil for one that is only listened to.
  var language: (any FamilyLanguage)? {
    switch self {
    case .mediaTek: MediaTek()
    case .airoha: Airoha()
    case .casic: CASIC()
    case .quectel: Quectel()
    case .unicore: Unicore()
    case .firebird: Firebird()
    case .teseo: Teseo()
    case .skyTraq: SkyTraq()
    case .allystar: Allystar()
    case .septentrio: Septentrio()
    case .siRF: nil
    }
  }

  /// The order of the probes at a rate, the likely ones first. Default rates: the makers' documents.
  static func probed(at rate: UInt32?) -> [ReceiverFamily] {
    switch rate {
    case nil: [.septentrio, .mediaTek, .quectel, .airoha, .casic, .unicore, .firebird, .allystar, .teseo, .skyTraq]
    case .some(...57_600):
      [.mediaTek, .casic, .airoha, .teseo, .quectel, .unicore, .firebird, .allystar, .skyTraq, .septentrio]
    case .some(...115_200):
      [.airoha, .quectel, .mediaTek, .casic, .unicore, .firebird, .allystar, .septentrio, .teseo, .skyTraq]
    default: [.quectel, .airoha, .unicore, .firebird, .septentrio, .allystar, .mediaTek, .casic, .teseo, .skyTraq]
    }
  }

  /// The polls of a receiver that sends nothing: a UM980 and a mosaic send nothing before they get a command, and a user may have
  /// switched the output of the others off.
  ///
  /// - Parameter isUsual: whether the families that usually have the rate are polled, or the others that can have it.
  static func silentPolls(at rate: UInt32, isUsual: Bool) -> [[UInt8]] {
    probed(at: rate).compactMap(\.language).filter {
      $0.rates.usual.contains(rate) ? isUsual : !isUsual && $0.rates.others.contains(rate)
    }.flatMap { $0.silentPolls.map(\.bytes) }
  }

  /// Returns the family that a sentence without a request proves; nil if it proves none.
  ///
  /// - Parameters:
  ///   - address: the address behind the `$`, such as PMTK011.
  ///   - text: the rest of the sentence.
  static func shown(by address: String, _ text: String) -> ReceiverFamily? {
    // A poll has no field: on a line with an echo it is not the receiver's.
    if text.includes(",") { for (prefix, family) in addresses where address.hasPrefix(prefix) { return family } }
    // The refusal of a poll has no field either.
    if address == "PSTMGETSWVERERROR" { return .teseo }
    // Any make sends the antenna's state.
    if address.hasSuffix("TXT"), texts.contains(where: { text.includes($0) }) { return .casic }
    if address.hasSuffix("TXT"), text.includes("ALLYSTAR") { return .allystar }
    // It repeats each command, also those of other makers.
    let echo = "\(address),01,01,00,"
    if address.hasSuffix("TXT"), text.hasPrefix(echo),
      commands.contains(where: { text.dropFirst(echo.utf8.count).hasPrefix($0.0) })
    {
      return .firebird
    }
    return nil
  }

  /// The beginnings of addresses. PQTM sentences belong to two families and decide nothing alone.
  private static let addresses: [(String, ReceiverFamily)] = [
    ("PMTK0", .mediaTek), ("PMTK5", .mediaTek), ("PMTK7", .mediaTek), ("PMTKCHN", .mediaTek), ("PMTKLO", .mediaTek),
    ("PGTOP", .mediaTek), ("PQVERNO", .mediaTek), ("PAIR", .airoha), ("PDTINFO", .firebird), ("SNRSTAT", .firebird),
    ("GYOACC", .firebird), ("PSTMVER", .teseo), ("PSTMCPU", .teseo), ("PSTMANTENNASTATUS", .teseo), ("PSTI", .skyTraq),
    ("SkyTraq", .skyTraq), ("PSRF", .siRF),
  ]

  /// Returns the family that a sentence addresses which proves none: it is a program's request, which waits in the line or comes back as
  /// an echo. Nil for another sentence.
  ///
  /// - Parameter text: the sentence behind the `$`.
  static func addressed(by text: String) -> ReceiverFamily? {
    // Two families send PQTM sentences with fields.
    if text.hasPrefix("PQTM"), text.includes(",") { return nil }
    return commands.first { text.hasPrefix($0.0) }?.1
  }

  /// The beginnings of the commands that identify the families of sentences.
  private static let commands: [(String, ReceiverFamily)] = [
    ("PQTM", .quectel), ("PAIR", .airoha), ("PMTK", .mediaTek), ("PCAS", .casic), ("PSTM", .teseo),
    ("PDTINFO", .firebird),
  ]

  private static let texts = ["MA=CASIC", "IC=AT6", "SW=URANUS", "HW=ATGM"]
}
