// SPDX-License-Identifier: Apache-2.0
import NMEA
import TestSupport
import Testing

let standardSentences: [any SentenceContent.Type] = [
  GGA.self, GNS.self, GLL.self, RMC.self, VTG.self, GSA.self, GST.self, GSV.self, ZDA.self,
  GBS.self, GRS.self, DTM.self, HDT.self, HDG.self, HDM.self, THS.self, ROT.self, VBW.self, VHW.self, VLW.self,
  DPT.self, DBT.self, MTW.self, MWD.self, MWV.self, XDR.self, RLM.self, TXT.self,
]
let vendorSentences: [any SentenceContent.Type] = [
  PGRMV.self, PGRME.self, PGRMF.self, PQGSA.self, PQGSV.self, PQTMEPE.self, PSTI030.self, PUBX00.self, PUBX03.self,
  PUBX04.self,
  PUBX40.self,
  PUBX41.self,
]
let talkers: [Talker] = [
  .gps, .glonass, .galileo, .beiDou, .beiDouOld, .qzss, .qzssOld, .navIC, .combined,
]

@Suite("Written sentences are read again")
struct ContentTests {
  @Test("A sentence with any contents is the same after writing and reading", arguments: standardSentences)
  func standard(type: any SentenceContent.Type) { roundTrips(type, talkers) }

  @Test("A manufacturer's own sentence is read again", arguments: vendorSentences)
  func vendor(type: any SentenceContent.Type) { roundTrips(type, [.proprietary]) }

  private func roundTrips<Content: SentenceContent>(_: Content.Type, _ talkers: [Talker]) {
    for seed in 0..<UInt64(200) {
      var random = SeededRandomNumberGenerator(seed: seed)
      let content = Content.random(&random)
      let talker = random.element(of: talkers)
      let bytes = content.encoded(talker)
      let line = String(decoding: bytes, as: UTF8.self)
      let again = decoded(Content.self, bytes)
      #expect(again?.content == content, "seed \(seed): \(line)")
      #expect(again?.rejected == 0, "seed \(seed): \(line)")
      #expect(Wire.isFrame(bytes), "seed \(seed): \(line)")
      #expect(Address(bytes)?.talker == talker, "seed \(seed): \(line)")
    }
  }

  @Test("A sentence of empty fields has none, and none is rejected", arguments: standardSentences + vendorSentences)
  func empty(type: any SentenceContent.Type) { isEmpty(type) }

  private func isEmpty<Content: SentenceContent>(_: Content.Type) {
    let isVendor = vendorSentences.contains { $0 == Content.self }
    let bytes = Content().encoded(isVendor ? .proprietary : .combined)
    let again = decoded(Content.self, bytes)
    #expect(again?.content == Content())
    #expect(again?.rejected == 0)
  }

  @Test("A sentence that ends early has what it has")
  func short() throws {
    let rmc = try #require(decoded(RMC.self, "GPRMC,101112.5,A,4717.11437,N"))
    #expect(rmc.content.time == TimeOfDay(hour: 10, minute: 11, second: 12, nanosecond: 500_000_000, fractionDigits: 1))
    #expect(rmc.content.latitude?.hemisphere == UInt8(ascii: "N"))
    #expect(rmc.content.longitude == nil)
    #expect(rmc.content.date == nil)
    #expect(rmc.rejected == 0)
    let bare = try #require(decoded(RMC.self, "GPRMC"))
    #expect(bare.content == RMC())
  }

  /// From the interface descriptions of u-blox and SkyTraq.
  @Test(
    "A receiver's sentence comes out as it went in, with its leading zeros",
    arguments: [
      (GGA.self, "GPGGA,092725.00,4717.11399,N,00833.91590,E,1,08,1.01,499.6,M,48.0,M,,"),
      (GGA.self, "GPGGA,092725.00,4717.11399,N,00833.91590,E,2,08,1.01,499.6,M,48.0,M,1.0,0120"),
      (GNS.self, "GNGNS,103600.01,5114.51176,N,00012.29380,W,ANNN,07,1.18,111.5,45.6,,,V"),
      (GLL.self, "GPGLL,4717.11364,N,00833.91565,E,092321.00,A,A"),
      (RMC.self, "GPRMC,083559.00,A,4717.11437,N,00833.91522,E,0.004,77.52,091202,,,A,V"),
      (VTG.self, "GPVTG,77.52,T,,M,0.004,N,0.008,K,A"), (ZDA.self, "GPZDA,082710.00,06,09,2002,00,00"),
      (ZDA.self, "GPZDA,082710.00,06,09,2002,-05,30"), (GST.self, "GPGST,082356.00,1.8,,,,1.7,1.3,2.2"),
      (GSA.self, "GPGSA,A,3,23,29,07,08,09,18,26,28,,,,,1.94,1.18,1.54,1"),
      (GSV.self, "GPGSV,3,1,09,09,,,17,10,,,40,12,,,49,13,,,35,1"), (GSV.self, "GPGSV,3,3,09,25,,,40,1"),
      (GSV.self, "GPGSV,3,1,10,23,08,038,44,120,05,007,,02,01,359,09,03,90,000,00"),
      (GBS.self, "GPGBS,235458.00,1.4,1.3,3.1,03,,-21.4,3.8,1,0"), (DTM.self, "GPDTM,W84,,0.0,N,0.0,E,0.0,W84"),
      (THS.self, "GPTHS,77.52,E"), (VLW.self, "GPVLW,,N,,N,15.8,N,1.2,N"),
      (
        PUBX00.self,
        "PUBX,00,081350.00,4717.113210,N,00833.915187,E,546.589,G3,2.1,2.0,0.007,77.52,0.007,,0.92,1.19,0.77,9,0,0"
      ),
      (PUBX03.self, "PUBX,03,03,23,-,,,45,010,07,-,,,42,015,18,U,067,08,39,026"),
      (PUBX04.self, "PUBX,04,073731.00,091202,113851.00,1196,15D,1930035,-2660.664,43"),
      (PQGSV.self, "PQGSV,4,4,14,29,,,,30,21,144,,0,4"),
      (PQGSV.self, "PQGSV,2,1,08,02,20,116,,03,,,,05,34,137,,07,06,045,21,0,4"),
      (PQGSA.self, "PQGSA,A,3,12,,,,,,,,,,,,1.2,0.9,0.9,4"), (PUBX40.self, "PUBX,40,GLL,1,0,0,0,0,0"),
      (PUBX41.self, "PUBX,41,1,0007,0003,19200,0"),
      (
        PSTI030.self,
        "PSTI,030,034151.000,A,2447.0895508,N,12100.5234656,E,94.615,0.00,-0.01,0.04,120517,R,0.999,3.724"
      ),
    ] as [(any SentenceContent.Type, String)])
  func asWritten(type: any SentenceContent.Type, line: String) { comesOutAsItWentIn(type, line) }

  private func comesOutAsItWentIn<Content: SentenceContent>(_ type: Content.Type, _ line: String) {
    let bytes = Wire.nmea(line)
    let content = decoded(type, bytes)
    #expect(content?.rejected == 0)
    let written = Address(bytes).flatMap { address in content?.content.encoded(address.talker) } ?? []
    #expect(String(decoding: written, as: UTF8.self) == String(decoding: bytes, as: UTF8.self))
  }

  @Test("The numbers of a TXT are written with two digits")
  func numberedText() throws {
    let bytes = Wire.nmea("GPTXT,01,01,02,u-blox ag - www.u-blox.com")
    let content = try #require(decoded(TXT.self, bytes)).content
    let again = written(room: 100) { content.encode(talker: .gps, texts: bytes.raw, into: &$0) }
    #expect(again == bytes)
  }

  @Test("A sentence is no other")
  func formatter() {
    #expect(decoded(GGA.self, "GPRMC,,V,,,,,,,,,,N") == nil)
    #expect(decoded(PGRME.self, "PGRMV,1,2,3") == nil)
  }
}

@Suite("Numbers as they were written")
struct NumberTests {
  private func fixed(_ mantissa: Int64, _ digits: UInt8) -> FixedPoint { FixedPoint(mantissa, fractionDigits: digits) }

  @Test(
    "A number keeps its digits",
    arguments: [
      ("0.0", 0, 1), ("545.4", 5454, 1), ("-12.34", -1234, 2), ("+7", 7, 0), (".5", 5, 1), ("12.", 12, 0),
      ("007.10", 710, 2), ("123456789012345678", 123_456_789_012_345_678, 0), ("-0.5", -5, 1),
    ] as [(String, Int64, UInt8)])
  func decimal(text: String, mantissa: Int64, digits: UInt8) {
    let gga = decoded(GGA.self, "GPGGA,,,,,,1,04,1.0,\(text),M,,M,,")
    #expect(gga?.content.altitude == FixedPoint(mantissa, fractionDigits: digits))
    #expect(gga?.rejected == 0)
  }

  @Test(
    "A field that is not a number is absent and counted",
    arguments: [
      "-", "1.2.3", "1e3", "--1", "12x", ".", "1234567890123456789", "9223372036854775808", "12345678901234567890",
      "1.2345678901234567890",
    ])
  func noNumber(text: String) {
    let gga = decoded(GGA.self, "GPGGA,,,,,,1,04,1.0,\(text),M,,M,,")
    #expect(gga?.content.altitude == nil)
    #expect(gga?.content.quality == 1)
    #expect(gga?.rejected == 1)
  }

  @Test("Degrees are the minutes' nearest double")
  func degrees() throws {
    let gll = try #require(decoded(GLL.self, "GNGLL,4717.11437,S,00833.91522,W,101112.00,A,A")).content
    #expect(gll.latitude?.minutes == fixed(283_711_437, 5))
    #expect(gll.latitude?.degrees == -283_711_437.0 / 6_000_000)
    #expect(gll.longitude?.degrees == -51_391_522.0 / 6_000_000)
  }

  @Test(
    "A coordinate is written with the digits with which it was read",
    arguments: [
      "4717.11437,S,00833.91522,W", "717.1,N,833.9,E", "0007.1,N,7.1,E", "7,N,00000,E", "12.5,S,08,W",
      "04717.5,N,100.5,E",
    ])
  func digitsAsWritten(fields: String) throws {
    let gll = try #require(decoded(GLL.self, "GPGLL,\(fields),101112.00,A,A"))
    #expect(gll.rejected == 0)
    #expect(gll.content.encoded() == Wire.nmea("GPGLL,\(fields),101112.00,A,A"))
  }

  @Test("Minutes with more than 11 decimals are cut after the eleventh")
  func excessDecimals() throws {
    for decimals in ["03812345678", "038123456789", "0381234567891234567", "03812345678912345678901234567890"] {
      let gll = try #require(decoded(GLL.self, "GPGLL,4807.\(decimals),N,01131.\(decimals),W,101112.00,A"))
      #expect(gll.rejected == 0)
      #expect(gll.content.latitude?.minutes == fixed(288_703_812_345_678, 11))
      #expect(gll.content.longitude?.minutes == fixed(69_103_812_345_678, 11))
    }
    let wrong = try #require(decoded(GLL.self, "GPGLL,4807.038123456789123456789x,N,01131.0,W,101112.00,A"))
    #expect(wrong.content.latitude == nil && wrong.rejected == 1)
  }

  @Test("Spaces around a number are not part of it")
  func spaces() {
    let gga = decoded(GGA.self, "GPGGA,,,,,, 1, 4,1.0,  5.5 ,M,,M,,")?.content
    #expect(gga?.altitude == fixed(55, 1))
    #expect(gga?.quality == 1)
  }

  @Test("A whole number may be written with a point")
  func wholeWithPoint() {
    let gsv = decoded(GSV.self, "GPGSV,1,1,01,05,40.0,270.0,33")?.content
    #expect(gsv?.satellites[0].azimuth == 270)
    #expect(gsv?.satellites[0].elevation == 40)
  }
}

@Suite("A value out of its range is absent and counted")
struct RangeTests {
  private func latitude(_ fields: String) -> (value: Coordinate?, rejected: Int)? {
    decoded(GLL.self, "GPGLL,\(fields),00833.9,E,101112.00,A").map { ($0.content.latitude, $0.rejected) }
  }

  @Test(
    "Latitude: beyond 90 degrees, more than 60 minutes, without hemisphere, with another's, with alphabetic characters",
    arguments: [
      "9100.0,N", "9000.0001,N", "4760.1,N", "4761.0,N", "9060.0,N", "4717.1,", "4717.1,E", "47a7.1,N", "-4717.1,N",
      "4717.1.2,S",
    ])
  func latitudes(fields: String) {
    #expect(latitude(fields)?.value == nil)
    #expect(latitude(fields)?.rejected == 1)
  }

  @Test("Latitude: the poles and the equator", arguments: ["9000.0,N", "9000.0,S", "0000.0,N", "0.5,S"])
  func limits(fields: String) {
    #expect(latitude(fields)?.value != nil)
    #expect(latitude(fields)?.rejected == 0)
  }

  @Test(
    "60 minutes of receivers that round are the next degree", arguments: [("4160.0000,N", 42.0), ("8960.00,S", -90)])
  func rounded(fields: String, degrees: Double) {
    #expect(latitude(fields)?.value?.degrees == degrees)
    #expect(latitude(fields)?.rejected == 0)
  }

  @Test("Longitude: beyond 180 degrees", arguments: ["18000.001,E", "18100.0,W", "27000.0,E"])
  func longitudes(fields: String) {
    let gll = decoded(GLL.self, "GPGLL,4717.1,N,\(fields),101112.00,A")
    #expect(gll?.content.longitude == nil)
    #expect(gll?.content.latitude != nil)
    #expect(gll?.rejected == 1)
  }

  @Test(
    "Time: hour 24, minute 60, second 61, five digits",
    arguments: ["240000", "236000", "235961", "10111", "1011122", "1011x2"])
  func times(field: String) {
    let zda = decoded(ZDA.self, "GPZDA,\(field),09,12,2002,00,00")
    #expect(zda?.content.time == nil)
    #expect(zda?.content.year == 2002)
    #expect(zda?.rejected == 1)
  }

  @Test("Time: a leap second, and digits behind the point that no type stores")
  func leapSecond() {
    #expect(decoded(ZDA.self, "GPZDA,235960.00,,,,,")?.content.time?.second == 60)
    #expect(decoded(ZDA.self, "GPZDA,000000.12345678912,,,,,")?.content.time?.nanosecond == 123_456_789)
  }

  @Test(
    "Date: month 13, day 0, 30 February, 29 February of a common year",
    arguments: ["091302", "001202", "300204", "290203"])
  func dates(field: String) {
    let rmc = decoded(RMC.self, "GPRMC,101112.00,A,4717.1,N,00833.9,E,0.0,,\(field),,,A")
    #expect(rmc?.content.date == nil)
    #expect(rmc?.rejected == 1)
  }

  @Test("Date: a leap day; years of two digits begin in 1980, like GPS")
  func leapDay() {
    #expect(decoded(RMC.self, "GPRMC,,V,,,,,,,290204,,,N")?.content.date?.fullYear == 2004)
    #expect(decoded(RMC.self, "GPRMC,,V,,,,,,,060180,,,N")?.content.date?.fullYear == 1980)
  }

  @Test("Whole numbers: a quality of 10, an azimuth of 361")
  func integers() {
    let gga = decoded(GGA.self, "GPGGA,101112,,,,,10,04,1.0,5,M,,M,,")
    #expect(gga?.content.quality == nil)
    #expect(gga?.rejected == 1)
    let gsv = decoded(GSV.self, "GPGSV,1,1,01,05,40,361,33")
    #expect(gsv?.content.satellites[0].azimuth == nil)
    #expect(gsv?.content.satellites[0].signal == 33)
    #expect(gsv?.rejected == 1)
  }
}
