// SPDX-License-Identifier: Apache-2.0
import GPSD
import TestSupport
import Testing

@testable import ReceiverStream
@testable import sextant

/// Fields of bits, the most significant bit first.
private struct BitWriter {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  mutating func put(_ value: Int64, _ width: Int) {
    for bit in (0..<width).reversed() {
      if count % 8 == 0 { bytes.append(0) }
      if value >> Int64(bit) & 1 != 0 { bytes[count / 8] |= 0x80 >> UInt8(count % 8) }
      count += 1
    }
  }
}

private func little(_ value: some FixedWidthInteger) -> [UInt8] {
  (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

@Suite("RINEX observations")
struct RINEXTests {
  /// A measurement of RXM-RAWX.
  private struct Measurement {
    var range = 20_000_000.0
    var phase = 105_000_000.25
    var gnssId: UInt8 = 0
    var svId: UInt8 = 5
    var sigId: UInt8 = 0
    var lock: UInt16 = 1000
    var deviation: UInt8 = 1
    var state: UInt8 = 0b0111

    var bytes: [UInt8] {
      little(range.bitPattern) + little(phase.bitPattern) + little(Float(-1234.5).bitPattern)
        + [gnssId, svId, sigId, gnssId == 6 ? 9 : 0] + little(lock) + [45, 0, deviation, 0, state, 0]
    }
  }

  private static func rawx(_ second: Double, week: UInt16 = 2100, _ list: [Measurement]) -> [UInt8] {
    let head = little(second.bitPattern) + little(week) + [18, UInt8(list.count), 1, 1, 0, 0]
    return Wire.ubx(0x02, 0x15, head + list.flatMap(\.bytes))
  }

  private static func file(
    _ bytes: [UInt8], date: Day? = nil, station: Int? = nil, range: TimeRange = TimeRange(),
    _ header: RINEXHeader = RINEXHeader()
  ) -> (text: String, content: RINEXObservations) {
    var content = RINEXObservations(date: date, station: station, range: range)
    var stream = FrameStream()
    stream.receive(bytes.raw) { content.receive($0) }
    stream.finish { content.receive($0) }
    var text = JSONLine()
    let file = RINEXObservationFile(content, header)
    file.writeHeader(&text)
    for index in 0..<file.epochs { file.writeEpoch(index, &text) }
    return (text.text, content)
  }

  /// The lines behind the header.
  private static func body(_ text: String) -> [String] {
    let lines = text.split(separator: "\n").map(String.init)
    let end = lines.firstIndex { $0.hasSuffix("END OF HEADER") } ?? 0
    return Array(lines[(end + 1)...])
  }

  @Test("An epoch of RXM-RAWX: time of GPS, satellites in order, codes, phases with their flags")
  func ubx() {
    let bytes = Self.rawx(
      436_761.998,
      [
        Measurement(gnssId: 2, svId: 12, sigId: 6), Measurement(), Measurement(sigId: 3, state: 0b0001),
        Measurement(gnssId: 6, svId: 3, sigId: 2, state: 0b0011),
      ])
    let (text, _) = Self.file(bytes)
    let value = "  20000000.000   105000000.2501      -1234.500          45.000  "
    #expect(
      Self.body(text) == [
        "> 2020 04 10 01 19 21.9980000  0  3",
        "G05" + value + "  20000000.000                       -1234.500          45.000  ",
        "R03" + value.replacing("2501", with: "2503"),
        "E12" + value,
      ])
    #expect(text.contains("G    8 C1C L1C D1C S1C C2L L2L D2L S2L                      SYS / # / OBS TYPES\n"))
    #expect(text.contains("  1 R03  2                                                  GLONASS SLOT / FRQ #\n"))
    #expect(text.contains("  2020     4    10     1    19   21.9980000     GPS         TIME OF FIRST OBS\n"))
    for line in text.split(separator: "\n").prefix(while: { !$0.contains("END OF HEADER") }) {
      #expect(line.utf8.count > 60 && line.utf8.count <= 80, "\(line)")
    }
  }

  @Test("A lost lock is written once with the next phase, also when no phase was written meanwhile")
  func locks() {
    let states: [(lock: UInt16, state: UInt8, deviation: UInt8, flag: String)] = [
      (1000, 7, 1, "1"), (2000, 7, 1, " "), (100, 7, 1, "1"), (200, 7, 1, " "),
      // Lost without a phase; the phase comes later, with a longer time of lock.
      (0, 1, 1, "-"), (300, 7, 15, "-"), (500, 7, 1, "1"), (600, 7, 1, " "),
      // Half a cycle is not resolved, then subtracted.
      (700, 3, 1, "2"), (800, 15, 1, "1"), (900, 15, 1, " "),
    ]
    let bytes = states.enumerated().flatMap { index, state in
      Self.rawx(
        1000 + Double(index), [Measurement(lock: state.lock, deviation: state.deviation, state: state.state)])
    }
    let lines = Self.body(Self.file(bytes).text).filter { $0.hasPrefix("G05") }
    #expect(lines.count == states.count)
    for (line, state) in zip(lines, states) {
      let cell = Array(line)[19..<35]
      #expect(String(cell) == (state.flag == "-" ? String(repeating: " ", count: 16) : " 105000000.250\(state.flag) "))
    }
  }

  @Test("Values that are not valid are blank, and unknown satellites, signals and times are left out")
  func invalid() {
    let bad = [
      Measurement(range: .nan, phase: .infinity), Measurement(range: 1e300, svId: 6), Measurement(svId: 0),
      Measurement(gnssId: 6, svId: 255), Measurement(gnssId: 9), Measurement(sigId: 14),
    ]
    let (text, content) = Self.file(
      Self.rawx(10, bad) + Self.rawx(11, week: 0, [Measurement()]) + Self.rawx(.nan, [Measurement()])
        + Self.rawx(-1, [Measurement()]) + Self.rawx(1, week: 65_535, [Measurement()]))
    #expect(content.epochs.count == 1 && content.observations.count == 2)
    #expect(Self.body(text)[1].dropFirst(3).prefix(32).allSatisfy { $0 == " " })
    #expect(Self.file([]).content.isEmpty)
  }

  @Test("Epochs outside of the requested times are left out")
  func range() throws {
    let bytes = (0..<5).flatMap { Self.rawx(436_762 + Double($0), [Measurement()]) }
    let range = TimeRange(
      from: UTCTime(iso8601: "2020-04-10T01:19:05Z"), to: UTCTime(iso8601: "2020-04-10T01:19:06Z"))
    let (text, _) = Self.file(bytes, range: range)
    #expect(Self.body(text).filter { $0.hasPrefix(">") }.count == 2)
    #expect(text.contains("  2020     4    10     1    19   23.0000000     GPS         TIME OF FIRST OBS\n"))
  }

  /// MSM7 of one satellite with one signal, or MSM4.
  private static func msm(
    _ number: Int64, epoch: Int64, satellite: Int, signal: Int, station: Int64 = 7, hasMore: Bool = false,
    lock: Int64 = 100, half: Int64 = 0, extended: Int64 = 0
  ) -> [UInt8] {
    var bits = BitWriter()
    let isFine = number % 10 == 7
    for (value, width) in [
      (number, 12), (station, 12), (epoch, 30), (hasMore ? 1 : 0, 1), (0, 18),
    ] as [(Int64, Int)] { bits.put(value, width) }
    bits.put(Int64(bitPattern: UInt64(1) << UInt64(64 - satellite)), 64)
    bits.put(1 << Int64(32 - signal), 32)
    bits.put(1, 1)
    // 70 ms and a half.
    bits.put(70, 8)
    if isFine { bits.put(extended, 4) }
    bits.put(512, 10)
    if isFine { bits.put(-500, 14) }
    bits.put(isFine ? 1000 : 100, isFine ? 20 : 15)
    bits.put(isFine ? -2000 : -200, isFine ? 24 : 22)
    bits.put(isFine ? lock : min(lock, 15), isFine ? 10 : 4)
    bits.put(half, 1)
    bits.put(isFine ? 720 : 45, isFine ? 10 : 6)
    if isFine { bits.put(2500, 15) }
    return Wire.rtcm3(bits.bytes)
  }

  @Test("MSM7 and MSM4: ranges, phases, Doppler and strength; the day is stated")
  func msm() throws {
    let date = try #require(UTCTime(iso8601: "2020-12-31")).day
    let tow: Int64 = (4 * 86_400 + 8 * 3600) * 1000
    let fine = Self.file(Self.msm(1077, epoch: tow, satellite: 5, signal: 2), date: date)
    // 70.5 ms + 1000 × 2⁻²⁹ ms, and −2000 × 2⁻³¹ ms in wavelengths of L1.
    #expect(
      Self.body(fine.text) == [
        "> 2020 12 31 08 00 00.0000000  0  1",
        "G05  21135368.847   111067108.5331       2626.204          45.000  ",
      ])
    let coarse = Self.file(Self.msm(1074, epoch: tow, satellite: 5, signal: 2), date: date)
    #expect(coarse.content.observations.count == 1)
    #expect(Self.body(coarse.text)[1].hasPrefix("G05  21135370.076"))
    #expect(coarse.content.observations.first?.doppler == nil)
  }

  @Test("Messages of one epoch are one epoch; GLONASS and BeiDou have times of their own")
  func epochs() throws {
    let date = try #require(UTCTime(iso8601: "2020-12-31")).day
    let tow: Int64 = (4 * 86_400 + 8 * 3600) * 1000
    // 08:00:00 of GPS is 07:59:42 UTC and 10:59:42 in Moscow, on Thursday.
    let glonass: Int64 = 4 << 27 | (10 * 3600 + 59 * 60 + 42) * 1000
    let bytes =
      Self.msm(1077, epoch: tow, satellite: 5, signal: 2, hasMore: true)
      + Self.msm(1087, epoch: glonass, satellite: 3, signal: 2, hasMore: true, extended: 12)
      + Self.msm(1127, epoch: tow - 14_000, satellite: 8, signal: 2)
      + Self.msm(1077, epoch: tow + 1000, satellite: 5, signal: 2)
    let (text, content) = Self.file(bytes, date: date)
    #expect(Self.body(text).filter { $0.hasPrefix(">") }.map { $0.suffix(3) } == ["  3", "  1"])
    #expect(content.channels == [3: 5])
    #expect(Self.file(bytes).content.isEmpty && Self.file(bytes).content.undated == 4)
  }

  @Test("MSM4 of GLONASS has no phase before the channel is known")
  func channels() throws {
    let date = try #require(UTCTime(iso8601: "2020-12-31")).day
    let time: Int64 = 4 << 27 | 40_000_000
    let coarse = Self.msm(1084, epoch: time, satellite: 3, signal: 2)
    #expect(Self.file(coarse, date: date).content.observations.first?.phase == nil)
    let known = Self.file(Self.msm(1087, epoch: time, satellite: 3, signal: 2, extended: 12) + coarse, date: date)
    #expect(known.content.observations.last?.phase != nil)
  }

  @Test("The observations of another station are left out and counted; --station selects one")
  func stations() throws {
    let date = try #require(UTCTime(iso8601: "2020-12-31")).day
    let bytes =
      Self.msm(1077, epoch: 1000, satellite: 5, signal: 2)
      + Self.msm(1077, epoch: 1000, satellite: 6, signal: 2, station: 8)
    #expect(Self.file(bytes, date: date).content.otherStations == 1)
    let chosen = Self.file(bytes, date: date, station: 8).content
    #expect(chosen.observations.map(\.satellite.number) == [6])
  }

  @Test("The header has what the options state, cut to its fields")
  func header() {
    var header = RINEXHeader()
    header.marker = "ROOF"
    header.observer = String(repeating: "o", count: 40)
    header.agency = "Agency"
    header.antenna = "LEIAX1202GG"
    header.antennaHeightMetres = 1.25
    header.created = UTCTime(iso8601: "2026-11-28T15:59:36Z")
    let (text, _) = Self.file(Self.rawx(10, [Measurement()]), header)
    for line in [
      "sextant                                 20261128 155936 UTC PGM / RUN BY / DATE\n",
      "ROOF                                                        MARKER NAME\n",
      "ooooooooooooooooooooAgency                                  OBSERVER / AGENCY\n",
      "                    LEIAX1202GG                             ANT # / TYPE\n",
      "        1.2500        0.0000        0.0000                  ANTENNA: DELTA H/E/N\n",
    ] { #expect(text.contains(line)) }
  }
}
