// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ReceiverStream

@Suite("Sentences without a time, and what sentences say nothing about")
struct BurstTests {
  /// The fixes of new epochs.
  private func epochs(_ sentences: [String]) -> [Fix] {
    var playback = Playback()
    for sentence in sentences { playback.receive(sentence) }
    playback.finish()
    return playback.reports.filter { !$0.isUpdate }.map(\.fix)
  }

  private let place = "4717.11437,N,00833.91522,E"

  @Test(
    "A GGA whose quality is out of range or unreadable leaves the fix of RMC",
    arguments: ["10", "77", "DGNSS fix", "", "-1"])
  func unreadableQuality(quality: String) {
    for isFirst in [true, false] {
      let gga = "GPGGA,101112,\(place),\(quality),08,1.0,499.6,M,48.0,M,,"
      let found = epochs(isFirst ? [gga, rmc("101112")] : [rmc("101112"), gga])
      #expect(found.map(\.hasPosition) == [true])
      #expect(found.first?.kind == .twoD)
    }
  }

  @Test("An RMC or GLL with an unreadable status says nothing; V and N do")
  func unreadableStatus() {
    let unreadable = "GPRMC,101112,X,\(place),1.0,2.0,091225,,,A"
    #expect(epochs([unreadable, gll("101112")]).map(\.hasPosition) == [true])
    #expect(epochs([unreadable]).map(\.reportsKind) == [false])
    #expect(epochs(["GPRMC,101112,A,\(place),1.0,2.0,091225,,,N"]).map(\.hasPosition) == [false])
    #expect(epochs(["GPRMC,101112,V,\(place),1.0,2.0,091225,,,A"]).map(\.reportsKind) == [true])
    #expect(epochs(["GPGLL,\(place),101112,A,N"]).map(\.hasPosition) == [false])
  }

  @Test("GNS of single systems with null fields keep the position of the combined one", arguments: [true, false])
  func nullGNS(isFirst: Bool) {
    let combined = "GNGNS,101112,\(place),RRN,19,0.7,499.6,48.0,1.0,0021"
    let single = ["GAGNS,101112,,,,,,7,,,,1.0,0021", "GBGNS,101112,,,,,,9,,,,1.0,0021"]
    let found = epochs(isFirst ? [combined] + single : single + [combined])
    #expect(found.count == 1)
    #expect(found.first?.quality == .rtkFixed && found.first?.kind == .threeD && found.first?.satellitesUsed == 19)
    #expect(epochs(["GNGNS,101112,,,,,NNN,00,,,,,"]).map(\.reportsKind) == [true])
  }

  @Test("A claim of a fix without a position is not known, and not no fix")
  func claims() {
    #expect(epochs([gsa3D]).map(\.reportsKind) == [false])
    #expect(epochs(["GPGSA,A,1,,,,,,,,,,,,,,,"]).map(\.reportsKind) == [true])
    #expect(epochs(["GPGGA,101112,,,,1,08,1.0,,M,,M,,"]).map(\.reportsKind) == [false])
  }

  @Test("The default position of a receiver without a fix is none; the Gulf of Guinea is a place")
  func zero() {
    func rmc(_ date: String) -> String { "GPRMC,101112,A,0000.0000,N,00000.0000,E,0.0,0.0,\(date),,,A" }
    #expect(epochs([rmc("060180")]).map(\.hasPosition) == [false])
    #expect(epochs([rmc("")]).map(\.hasPosition) == [false])
    #expect(epochs([rmc("091225")]).map(\.hasPosition) == [true])
  }

  @Test("ZDA with a time of its own is not an epoch", arguments: [20, 180, 900], [true, false])
  func outputTime(milliseconds: Int, isFirst: Bool) {
    var sentences: [String] = []
    for second in 10..<16 {
      let fraction = milliseconds < 100 ? "0\(milliseconds / 10)" : "\(milliseconds / 10)"
      let output = zda("1011\(second).\(fraction)")
      let burst = [rmc("1011\(second).00"), gga("1011\(second).00")]
      sentences += isFirst ? [output] + burst : burst + [output]
    }
    let found = epochs(sentences)
    #expect(found.map(\.time) == (10..<16).map { UTCTime(2025, 12, 9, 10, 11, $0) })
    #expect(found.allSatisfy { $0.hasPosition })
  }

  @Test("A stream of ZDA alone has its times")
  func onlyZDA() {
    let found = epochs((10..<15).map { zda("1011\($0)") })
    #expect(found.map(\.time) == (11..<15).map { UTCTime(2025, 12, 9, 10, 11, $0) })
    #expect(found.allSatisfy { !$0.hasPosition && !$0.reportsKind })
  }

  @Test("A stream of ZDA, PUBX,04 and satellites has one report for each time, with its satellites")
  func onlyOutputTimes() {
    var playback = Playback()
    for second in 10..<15 {
      playback.receive(zda("1011\(second)"), "PUBX,04,1011\(second),091225,209490.00,2396,18,1930035,-2660.664,43")
      playback.receive("GPGSV,1,1,01,05,40,083,\(second)")
    }
    playback.finish()
    #expect(
      playback.fixes.map(\.time) == (11..<15).map { UTCTime(2025, 12, 9, 10, 11, $0) } + [
        UTCTime(2025, 12, 9, 10, 11, 14)
      ])
    #expect(playback.reports.map { $0.satellites.map(\.signalDecibelHertz) } == (10..<15).map { [UInt8($0)] })
  }

  @Test("GLL in local time is not an epoch, first or last in the burst", arguments: [true, false])
  func localTime(isFirst: Bool) {
    var sentences: [String] = []
    for second in 10..<15 {
      let burst = [rmc("1011\(second)"), gga("1011\(second)")]
      sentences += isFirst ? [gll("1541\(second)")] + burst : burst + [gll("1541\(second)")]
    }
    let found = epochs(sentences)
    #expect(found.map(\.time) == (10..<15).map { UTCTime(2025, 12, 9, 10, 11, $0) })
  }

  @Test("Sentences without a time that come first belong to the burst behind them, also without a pause")
  func leading() {
    var sentences: [String] = []
    for second in 10..<18 {
      sentences += [
        "GPGSV,1,1,01,05,\(second),083,46", "GPGSA,A,3,05,,,,,,,,,,,,2.\(second),1.\(second),3.\(second)",
        "GPVTG,\(second).0,T,,M,\(second).0,N,,K,A", gga("1011\(second)", hdop: ""),
      ]
    }
    var playback = Playback()
    for sentence in sentences { playback.receive(sentence) }
    playback.finish()
    let reports = playback.reports.filter { !$0.isUpdate }
    #expect(reports.count == 8)
    for (report, second) in zip(reports, 10..<18) {
      #expect(report.fix.courseDegrees == Double(second))
      #expect(report.fix.pdop == 2 + Double(second) / 100)
      #expect(report.satellites.map(\.elevationDegrees) == [Int8(second)] && report.fix.satellitesInView == 1)
    }
  }

  @Test(
    "Times that are rounded to milliseconds and to hundredths are one epoch, with the milliseconds", arguments: 0..<3)
  func roundedTimes(place: Int) {
    let times = [("12.44", "12.437"), ("13.45", "13.451"), ("59.99", "59.987"), ("12.44", "12.443")]
    for (hundredths, milliseconds) in times {
      var burst = [rmc("1011\(hundredths)"), gga("1011\(hundredths)")]
      burst.insert(gll("1011\(milliseconds)"), at: place)
      let found = epochs(burst)
      let thousandths = Int64(milliseconds.suffix(3))!
      #expect(found.count == 1)
      #expect(found.first?.time?.nanosecondsOfDay.isMultiple(of: 1_000_000_000) == false)
      #expect(
        found.first?.time.map { $0.nanosecondsOfDay / 1_000_000 % 1000 } == thousandths, "\(milliseconds) at \(place)")
    }
    // Hundredths of a second of a fast receiver are separate epochs.
    #expect(epochs(["00", "01", "02", "03"].map { rmc("101112.\($0)") }).count == 4)
  }

  @Test("Times that are rounded across midnight are one epoch of the new day")
  func roundedMidnight() {
    let found = epochs(["GPGLL,\(place),235959.997,A,A", rmc("000000.00", date: "101225"), gga("000000.00")])
    #expect(found.map(\.time) == [UTCTime(2025, 12, 10, 0, 0, 0)])
  }

  @Test("A burst that the receiver writes twice is reported once")
  func repeatedBurst() {
    var playback = Playback()
    for second in 10..<20 {
      for _ in 0..<2 { playback.receive(rmc("1011\(second)"), gga("1011\(second)")) }
      for _ in 0..<2 { playback.receive(gga("1012\(second)"), gll("1012\(second)"), rmc("1012\(second)")) }
    }
    playback.finish()
    let changed = playback.reports.filter(\.fixChanged).compactMap(\.fix.time)
    #expect(Set(changed).count == 20 && changed.count <= 22, "\(changed.count)")
  }

  @Test(
    "A source that never had a position does not end the fix of another",
    arguments: [
      "IIRMC,,V,,,,,,,,,,N", "ECRMC,101112,V,,,,,,,091225,,,N", "SNGLL,,,,,101230.4,V,N", "07GGA,,,,,,0,,,,,,,,",
    ])
  func otherSource(sentence: String) {
    var playback = Playback()
    for second in 10..<16 {
      playback.receive(rmc("1011\(second)"), gga("1011\(second)"), sentence)
      playback.idle()
      playback.receive(sentence)
      playback.idle()
    }
    playback.finish()
    #expect(playback.reports.filter(\.fixChanged).map(\.fix.time) == (10..<16).map { UTCTime(2025, 12, 9, 10, 11, $0) })
    #expect(playback.fixes.allSatisfy { $0.hasPosition })
  }

  @Test("A source with a position ends its fix, by any talker of the receiver; another one speaks once it is alone")
  func ownSource() {
    #expect(epochs([rmc("101112"), "GNRMC,101113,V,,,,,,,091225,,,N"]).map(\.hasPosition) == [true, false])
    #expect(
      epochs([rmc("101112", talker: "II"), rmc("101112"), "IIRMC,101113,V,,,,,,,091225,,,N"]).map(\.hasPosition)
        == [true, false])
    #expect(epochs(["IIRMC,101111,V,,,,,,,091225,,,N", rmc("101112")]).map(\.hasPosition) == [false, true])
    let alone = (10..<40).map { "IIRMC,1012\($0),V,,,,,,,091225,,,N" }
    #expect(epochs([rmc("101112")] + alone).count == 11)
  }

  /// RMC and GGA of other equipment with its own antenna, 15 m away.
  private func rmcElsewhere(_ time: String, talker: String = "AI") -> String {
    "\(talker)RMC,\(time),A,4717.12200,N,00833.91522,E,0.1,200.0,091225,2.0,E,A"
  }
  private func ggaElsewhere(_ time: String, talker: String = "AI") -> String {
    "\(talker)GGA,\(time),4717.12200,N,00833.91522,E,1,05,3.0,480.0,M,48.0,M,,"
  }

  @Test(
    "A fix is from one source: the receiver, not a transponder or plotter with positions of its own",
    arguments: ["AI", "II", "IN", "EC", "SN"], [true, false])
  func twoReceivers(talker: String, isFirst: Bool) {
    let times = (10..<50).map { "1011\($0)" }
    // A receiver whose talker depends on the satellites in use is one source.
    func own(_ time: String) -> [String] {
      let talker = time < "101120" ? "GP" : time < "101130" ? "GN" : "GL"
      return [rmc(time, talker: talker), gga(time, talker: talker)]
    }
    let expected = epochs(times.flatMap(own))
    for others in [[rmcElsewhere], [ggaElsewhere, rmcElsewhere], [ggaElsewhere]] {
      let found = epochs(
        times.flatMap { time in
          let other = others.map { $0(time, talker) }
          return isFirst ? other + own(time) : own(time) + other
        })
      #expect(found.count == times.count)
      #expect(Array(found.dropFirst()) == Array(expected.dropFirst()))
      if !isFirst { #expect(found.first == expected.first) }
    }
  }

  @Test("Of two sources that are not receivers the first one is used")
  func twoPlotters() {
    let times = (10..<50).map { "1011\($0)" }
    let found = epochs(
      times.flatMap { [rmc($0, talker: "II"), rmcElsewhere($0, talker: "EC"), gga($0, talker: "II")] })
    #expect(found == epochs(times.flatMap { [rmc($0, talker: "II"), gga($0, talker: "II")] }))
  }

  @Test(
    "Other equipment supplies the sentences that the receiver lacks, and its positions after a loss of the receiver's")
  func otherEquipment() {
    let found = epochs((10..<20).flatMap { [gga("1011\($0)"), rmcElsewhere("1011\($0)")] })
    let reversed = epochs((10..<20).flatMap { [rmcElsewhere("1011\($0)"), gga("1011\($0)")] })
    #expect(reversed == found)
    #expect(
      found.allSatisfy { $0.time != nil && $0.heightAboveSeaLevelMetres == 499.6 && $0.speedMetresPerSecond != nil })
    #expect(Set(found.map(\.latitudeDegrees)) == [epochs([gga("101110")])[0].latitudeDegrees])
    let lost = epochs(
      (10..<20).flatMap { second in
        let time = "1011\(second)"
        return [rmc(time, status: second < 15 ? "A" : "V"), rmcElsewhere(time)]
      })
    #expect(lost.map(\.magneticVariationDegrees) == (10..<20).map { $0 < 15 ? nil : 2 })
    let gone = epochs((10..<15).map { rmc("1011\($0)") } + (15..<50).map { rmcElsewhere("1011\($0)") })
    #expect(gone.filter { $0.magneticVariationDegrees == 2 }.count == 15)
  }

  @Test("A sentence without a time takes no speed and course from RMC", arguments: [true, false])
  func ownMotion(isFirst: Bool) {
    let vtg = "GPVTG,300.0,T,,M,44.0,N,,K,A"
    let found = epochs(isFirst ? [vtg, rmc("101112"), gga("101112")] : [rmc("101112"), gga("101112"), vtg])
    #expect(found.map(\.courseDegrees) == [77.5])
  }

  @Test("A lone sentence after a silence begins no epoch and updates none")
  func lone() {
    for sentence in ["HCHDG,91.0,,,2.0,W", "GPGSA,A,1,,,,,,,,,,,,,,,", "GPVTG,,T,,M,,N,,K,N", "IIMWV,71.7,R,13.0,N,A"] {
      var playback = Playback()
      for second in 10..<15 {
        playback.receive(rmc("1011\(second)"), gga("1011\(second)"))
        playback.idle()
        for _ in 0..<3 {
          playback.receive(sentence)
          playback.idle()
        }
      }
      playback.finish()
      let changed = playback.reports.filter(\.fixChanged)
      #expect(changed.map(\.fix.time) == (10..<15).map { UTCTime(2025, 12, 9, 10, 11, $0) }, "\(sentence)")
      #expect(changed.allSatisfy { $0.fix.hasPosition && $0.fix.courseDegrees == 77.5 && !$0.isUpdate })
    }
  }

  @Test("A heading between bursts belongs to the next epoch")
  func nextHeading() {
    var playback = Playback()
    for second in 12...17 {
      playback.receive(rmc("1011\(second)"))
      playback.idle()
      guard second == 12 || second == 16 else { continue }
      playback.receive("HEHDT,\(second).0,T")
      playback.idle()
    }
    // Before the order is known, the heading may be a late one of the previous epoch.
    #expect(playback.fixes.map(\.headingDegrees) == [nil, nil, nil, nil, nil, 16])
  }

  @Test(
    "Headings of two antennas, and those that are not valid",
    arguments: [
      ("PQTMTAR,1,101112.000,5,,0.812,1.25,0.00,301.50,0.020,0.030,0.250,19", 301.5),
      ("PQTMTAR,1,101112.000,0,,0.812,1.25,0.00,301.50,0.020,0.030,0.250,19", nil),
      ("PQTMTAR,1,101113.000,4,,0.812,1.25,0.00,301.50,0.020,0.030,0.250,19", nil),
      ("PSTI,036,101112.000,091225,191.69,-16.35,0.00,R", 191.69),
      ("PSTI,036,101112.000,091225,191.69,-16.35,0.00,N", nil),
      ("PTNL,AVR,101112.00,-52.25,Yaw,-0.0806,Tilt,,,12.575,3,1.4,16", 307.75),
      ("PTNL,AVR,101112.00,+52.25,Yaw,-0.0806,Tilt,,,12.575,1,1.4,16", nil),
      ("PSSN,HRP,101112.00,091225,152.323,,-0.781,0.027,,0.108,21,2,2.1,E", 152.323),
      ("PSSN,HRP,101112.00,091225,,,,,,,,0,,", nil),
      ("GNHPR,101112.00,211.55,-2.50,0.00,4,18,0.00,0999", 211.55),
      ("GNHPR,101112.00,211.55,-2.50,0.00,0,18,0.00,0999", nil),
      ("KSXT,20251209101112.00,8.56525,47.28524,499.6,99.25,-1.0,77.5,9.3,,3,3,20,18,,,,,,,,", 99.25),
      ("KSXT,20251209101112.00,8.56525,47.28524,499.6,99.25,-1.0,77.5,9.3,,3,0,20,18,,,,,,,,", nil),
    ] as [(String, Double?)])
  func antennas(sentence: String, degrees: Double?) {
    for isFirst in [true, false] {
      let burst = [rmc("101112.00"), gga("101112.00")]
      let found = epochs(isFirst ? [sentence] + burst : burst + [sentence])
      #expect(found.map(\.headingDegrees) == [degrees])
      #expect(found.map(\.hasPosition) == [true])
    }
  }

  @Test("UNIHEADING in its text form belongs to the epoch of its time of week")
  func uniHeading() {
    for (solution, degrees) in [("SOL_COMPUTED,NARROW_INT", 67.0255), ("INSUFFICIENT_OBS,NONE", nil)]
      as [(String, Double?)]
    {
      let content =
        "UNIHEADINGA,97,GPS,FINE,2396,\(timeOfWeek(10, 11, 12)),0,0,18,12;\(solution),0.3718,67.0255,-0.7974,0.0000,0.8065,0.9930,\"999\",31,21,21,18,3,00,1,51"
      var crc: UInt32 = 0
      for byte in content.utf8 {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 0 ? 0 : 0xEDB8_8320) }
      }
      let digits = String(crc, radix: 16)
      let line = "#\(content)*\(String(repeating: "0", count: 8 - digits.count))\(digits)\r\n"
      var playback = Playback()
      playback.receive(navPVT(12), Array(line.utf8))
      playback.finish()
      #expect(playback.lastFix?.headingDegrees == degrees)
      #expect(playback.counters.nmeaFrames == 1)
    }
  }
}

@Suite("Numbers of satellites")
struct NumberingTests {
  private func satellites(_ sentences: [String]) -> [Satellite] {
    var playback = Playback()
    for sentence in [rmc("101112")] + sentences { playback.receive(sentence) }
    playback.finish()
    return playback.last?.satellites ?? []
  }

  private func names(_ sentences: [String]) -> [String] {
    let codes: [Satellite.System: String] = [.gps: "G", .sbas: "S", .glonass: "R", .galileo: "E", .beiDou: "C"]
    return satellites(sentences).map { (codes[$0.system] ?? "?") + "\($0.number)" + ($0.isUsed ? "+" : "") }
  }

  private func gsv(_ talker: String, _ ids: Int...) -> String {
    "\(talker)GSV,1,1,0\(ids.count)," + ids.map { "\($0),40,083,46" }.joined(separator: ",")
  }

  @Test("ComNav numbers GLONASS from 38, Galileo from 71 and BeiDou from 141 on, and its GSA have no system id")
  func comNav() {
    let sky = [gsv("BD", 141, 147, 158, 183), gsv("GL", 51, 60, 38, 61), gsv("GA", 89, 81, 101, 74)]
    let found = ["C1", "C7", "C18", "C43", "R14", "R23", "R1", "R24", "E19", "E11", "E31", "E4"]
    #expect(names(sky) == found)
    let used = [
      "GNGSA,M,3,141,183,,,,,,,,,,,1.6,0.8,1.4", "GNGSA,M,3,51,61,,,,,,,,,,,1.6,0.8,1.4",
      "GNGSA,M,3,89,74,,,,,,,,,,,1.6,0.8,1.4",
    ]
    let marked = ["C1+", "C7", "C18", "C43+", "R14+", "R23", "R1", "R24+", "E19+", "E11", "E31", "E4+"]
    #expect(names(sky + [rmc("101113")] + used + sky) == marked)
    // The evidence is another system's.
    #expect(names([gsv("GL", 45), gsv("BD", 141, 150)]) == ["R8", "C1", "C10"])
    #expect(names([gsv("GA", 100), gsv("BD", 161, 164)]) == ["E30", "C21", "C24"])
    // GPS and its SBAS keep their numbers.
    #expect(names([gsv("GL", 45), gsv("GP", 5, 40, 51)]) == ["R8", "G5", "S127", "S138"])
  }

  @Test("The talker of Galileo or the system id 3 is not GLONASS, and the talker of GLONASS is not SBAS")
  func talkerDecides() {
    #expect(names([gsv("GA", 89, 81, 74)]) == ["E19", "E11", "E4"])
    #expect(names([gsv("GA", 65, 70)]) == [] && names([gsv("GL", 33, 62, 120, 141)]) == [])
    let used = "GNGSA,M,3,89,74,,,,,,,,,,,1.6,0.8,1.4,3"
    #expect(names([used, gsv("GL", 89, 74), gsv("GA", 89, 74)]) == ["R25", "R10", "E19+", "E4+"])
  }

  @Test("BeiDou from 141 to 160 is not shown before the receiver has ids of one manufacturer")
  func beiDouFrom141() {
    #expect(names([gsv("BD", 141, 149)]).isEmpty)
    #expect(names([gsv("BD", 141, 149, 164)]) == ["C1", "C9", "C24"])
    #expect(names([gsv("BD", 141, 149, 101)]) == ["C41", "C49", "C1"])
    #expect(names([gsv("BD", 141, 149), rmc("101113"), gsv("BD", 166, 149)]) == ["C26", "C9"])
    #expect(names([gsv("BD", 166), rmc("101113"), gsv("BD", 166, 149)]) == ["C26", "C9"])
  }

  @Test("BeiDou is numbered from 101 by Trimble and from 161 by Unicore; without evidence 159 to 163 are not shown")
  func beiDou() {
    #expect(satellites(["GBGSV,1,1,03,101,40,083,46,158,17,308,41,163,07,344,39"]).map(\.number) == [1, 58, 63])
    #expect(satellites(["BDGSV,1,1,03,161,40,083,46,163,17,308,41,170,07,344,39"]).map(\.number) == [1, 3, 10])
    #expect(satellites(["BDGSV,1,1,02,161,40,083,46,163,17,308,41"]).isEmpty)
    #expect(satellites(["BDGSV,1,1,02,201,40,083,46,237,17,308,41"]).map(\.number) == [1, 37])
    #expect(satellites(["GBGSV,1,1,02,401,40,083,46,437,17,308,41"]).map(\.number) == [1, 37])
  }

  @Test("NavIC is 901 to 918")
  func navIC() {
    let found = satellites(["GIGSV,1,1,02,901,40,083,46,918,17,308,41"])
    #expect(found.map(\.system) == [.navIC, .navIC] && found.map(\.number) == [1, 18])
  }

  @Test("Ids of GN without a system belong to the only system that has them in view")
  func matched() {
    let inView = [
      "GPGSV,1,1,03,04,40,100,41,09,50,200,42,16,20,300,36", "GAGSV,1,1,03,04,30,050,38,11,60,150,44,12,15,250,33",
      "GBGSV,1,1,02,06,30,050,38,21,60,150,44",
    ]
    func used(_ lists: [String]) -> [String] {
      lists.map { list in
        "GNGSA,A,3," + list + String(repeating: ",", count: 12 - list.split(separator: ",").count) + ",1.8,1.0,1.5"
      }
    }
    for isFirst in [true, false] {
      let sentences = used(["04,09,16", "11,12", "06,21"])
      let found = satellites(isFirst ? sentences + inView : inView + sentences)
      #expect(found.filter(\.isUsed).map(\.number) == [4, 9, 16, 11, 12, 6, 21])
    }
    // 4 is in view of two systems.
    #expect(satellites(inView + used(["04"])).allSatisfy { !$0.isUsed })
  }
}
