// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

@Suite("The messages of an epoch")
struct EpochTests {
  @Test(
    "Whatever the order, one epoch a second comes out, whole",
    arguments: [
      ["RMC", "GGA", "GSA", "GSV"], ["GGA", "RMC", "VTG", "GSA"], ["ZDA", "GGA", "RMC", "GSV"],
      ["GGA", "GSA", "GSV", "RMC"], ["RMC", "GLL", "GGA", "ZDA", "VTG", "GSA", "GSV"], ["GLL", "RMC"],
    ])
  func order(names: [String]) {
    for isSilentBetween in [true, false] { inOrder(names, isSilentBetween) }
  }

  private func inOrder(_ names: [String], _ isSilentBetween: Bool) {
    var playback = Playback()
    for second in 10...15 {
      for name in names { playback.receiveSentence(name, at: "1011\(second)") }
      if isSilentBetween { playback.idle() }
    }
    playback.finish()
    #expect(playback.reports.count == 6)
    #expect(playback.epochs == 6)
    #expect(playback.fixes.map(\.time) == (10...15).map { UTCTime(2025, 12, 9, 10, 11, $0) })
    #expect(playback.fixes.allSatisfy { $0.hasPosition })
    #expect(playback.fixes.allSatisfy { ($0.heightAboveSeaLevelMetres == 499.6) == names.contains("GGA") })
  }

  @Test("Time and satellites do not imply that there is no position")
  func unreportedKind() {
    for (sentences, tells) in [
      ([zda("101112")] + gsv, false), ([rmc("101112", status: "V")], true), ([gga("101112", quality: 0)], true),
      (["GPGSA,A,1,,,,,,,,,,,,,,,"], true), ([rmc("101112")], true),
    ] {
      var playback = Playback()
      for sentence in sentences { playback.receive(sentence) }
      playback.finish()
      #expect(playback.lastFix?.reportsKind == tells, "\(sentences)")
    }
    var playback = Playback()
    playback.receive(navPVT(12) { $0.fixType(0) })
    playback.finish()
    #expect(playback.lastFix?.reportsKind == true)
  }

  @Test("The first message of the next epoch completes the epoch")
  func nextCloses() {
    var playback = Playback()
    playback.receive(rmc("101112"), gga("101112"))
    #expect(playback.reports.isEmpty)
    #expect(playback.isOpen == true)
    playback.receive(rmc("101113"))
    #expect(playback.reports.count == 1)
    #expect(playback.lastFix?.time == UTCTime(2025, 12, 9, 10, 11, 12))
  }

  @Test("Silence completes an epoch, and later messages without a time belong to the next one")
  func idle() {
    var playback = Playback()
    playback.receive(rmc("101112"), gga("101112"))
    playback.idle()
    #expect(playback.reports.count == 1)
    playback.idle()
    #expect(playback.reports.count == 1)
    playback.receive(vtg, rmc("101113"))
    playback.idle()
    #expect(playback.epochs == 2)
    #expect(playback.lastFix?.time == UTCTime(2025, 12, 9, 10, 11, 13))
    #expect(playback.lastFix?.courseDegrees == 77.5)
  }

  @Test("The end of the stream completes an epoch")
  func finish() {
    var playback = Playback()
    playback.receive(gga("101112"))
    playback.finish()
    #expect(playback.reports.count == 1)
  }

  @Test("From the third epoch on the learned last sentence completes an epoch at once")
  func learned() {
    var playback = Playback()
    for second in 12...13 { playback.receive(rmc("1011\(second)"), gga("1011\(second)"), gsa3D) }
    playback.receive(rmc("101114"), gga("101114"))
    #expect(playback.reports.count == 2)
    playback.receive(gsa3D)
    #expect(playback.reports.count == 3)
    #expect(playback.lastFix?.time == UTCTime(2025, 12, 9, 10, 11, 14))
  }

  @Test("A receiver of one message an epoch is learned like any other", arguments: ["RMC", "GLL", "GGA"])
  func learnedSingle(name: String) {
    var playback = Playback()
    for second in 12...14 { playback.receiveSentence(name, at: "1011\(second)") }
    #expect(playback.reports.count == 3)
    playback.receiveSentence(name, at: "101115")
    #expect(playback.reports.count == 4)
  }

  @Test("A receiver with only NAV-PVT completes at once too")
  func learnedPVT() {
    var playback = Playback()
    for second in 12...15 { playback.receive(navPVT(second)) }
    #expect(playback.reports.count == 4)
    #expect(playback.lastFix?.time == UTCTime(2025, 12, 9, 10, 11, 15))
  }

  @Test("A GSV group of varying length is still recognized as the end")
  func learnedGroup() {
    var playback = Playback()
    for second in 12...17 {
      let sentences = second % 2 == 0 ? 2 : 3
      playback.receive(rmc("1011\(second)"))
      for number in 1...sentences {
        #expect(second < 14 || playback.epochs == second - 12)
        playback.receive("GPGSV,\(sentences),\(number),01,0\(number),40,083,46")
      }
      #expect(second < 14 || playback.epochs == second - 11)
    }
  }

  @Test("The last GSV of a signal is not confused with another signal's")
  func learnedSignals() {
    var playback = Playback()
    for second in 12...17 {
      playback.receive(rmc("1011\(second)"))
      for signal in [1, 6] {
        for number in 1...2 {
          #expect(playback.reports.count == second - 12)
          playback.receive("GPGSV,2,\(number),02,0\(number),40,083,46,\(signal)")
        }
      }
      #expect(second < 14 || playback.reports.count == second - 11)
    }
  }

  @Test("A sentence after the learned end is reported as an update, and the end is learned again")
  func late() {
    var playback = Playback()
    for second in 12...14 { playback.receive(rmc("1011\(second)"), gsa3D) }
    #expect(playback.reports.map(\.isUpdate) == [false, false, false])
    playback.receive(gga("101114"))
    #expect(playback.reports.map(\.isUpdate) == [false, false, false, true])
    #expect(playback.lastFix?.heightAboveSeaLevelMetres == 499.6)
    for second in 15...17 { playback.receive(rmc("1011\(second)"), gsa3D, gga("1011\(second)")) }
    #expect(playback.epochs == 6)
    #expect(playback.reports.filter(\.isUpdate).count == 1)
  }

  @Test("A late sentence without new data is not an update")
  func lateAndEqual() {
    var playback = Playback()
    playback.receive(rmc("101112"), gga("101112"))
    playback.idle()
    playback.receive(gga("101112"))
    #expect(playback.reports.count == 1)
  }

  @Test("NAV-EOE completes an epoch at once")
  func endOfEpoch() {
    var playback = Playback()
    playback.receive(navPVT(12), navEOE(12))
    #expect(playback.reports.count == 1)
    playback.receive(navPVT(13))
    #expect(playback.reports.count == 1)
    playback.receive(navEOE(13))
    #expect(playback.reports.count == 2)
  }

  @Test("HNR-PVT is a fix at once, and does not split an epoch")
  func highRate() {
    var playback = Playback()
    for second in 12...15 {
      for tenth in 0...4 { playback.receive(hnrPVT(second, nano: tenth * 100_000_000)) }
      playback.receive(
        navPVT(second), hnrPVT(second, nano: 500_000_000), navSAT([5, 9], second: second), navEOE(second))
      for tenth in 6...9 { playback.receive(hnrPVT(second, nano: tenth * 100_000_000)) }
    }
    playback.finish()
    #expect(playback.reports.count == 44)
    #expect(playback.fixes.allSatisfy { $0.hasPosition })
    #expect(playback.reports.allSatisfy { !$0.isUpdate })
    // The epoch with its satellites follows the fix within it.
    let epochs = playback.reports.indices.filter { playback.reports[$0].skyChanged }
    #expect(epochs == [6, 17, 28, 39])
    #expect(epochs.map { playback.fixes[$0].time } == (12...15).map { UTCTime(2025, 12, 9, 10, 11, $0) })
    #expect(epochs.allSatisfy { playback.fixes[$0].satellitesUsed == 12 })
  }

  @Test("HNR-PVT without a fix has no position, and does not use the epoch's position")
  func highRateWithoutFix() {
    var playback = Playback()
    playback.receive(rmc("101112.00"), gga("101112.00"))
    playback.receive(hnrPVT(12, nano: 0) { $0.gpsFix(0) })
    #expect(playback.fixes.map(\.hasPosition) == [false])
    playback.finish()
    #expect(playback.fixes.map(\.hasPosition) == [false, true])
  }

  @Test("NMEA and UBX of one epoch are one epoch, with the position of UBX")
  func mixed() {
    var playback = Playback()
    for second in 12...14 {
      playback.receive(navPVT(second))
      playback.receive(rmc("1011\(second).00"), gga("1011\(second).00", latitude: "4717.2"), gsa3D)
      playback.idle()
    }
    #expect(playback.epochs == 3)
    #expect(playback.fixes.allSatisfy { $0.latitudeDegrees == 47.2852395 })
    #expect(playback.fixes.allSatisfy { $0.vdop == 1.5 })
    #expect(playback.fixes.map(\.time) == (12...14).map { UTCTime(2025, 12, 9, 10, 11, $0) })
  }

  @Test("This also holds around midnight and the beginning of the week, with NMEA first too")
  func mixedMidnight() {
    var playback = Playback()
    for second in 58...59 {
      playback.receive(rmc("2359\(second).00"))
      playback.receive(navPVT(23, 59, second))
      playback.idle()
    }
    playback.receive(rmc("000000.00", date: "101225"))
    playback.receive(navPVT(0, 0, 0, day: 10))
    playback.idle()
    #expect(playback.epochs == 3)
    #expect(playback.lastFix?.time == UTCTime(2025, 12, 10))
  }

  @Test("GGA of two talkers belong to one epoch")
  func talkers() {
    var playback = Playback()
    playback.receive(gga("101112", talker: "GP"), gga("101112", talker: "GL"), rmc("101112", talker: "GN"))
    playback.finish()
    #expect(playback.reports.count == 1)
  }

  @Test("10 Hz and 25 Hz: each epoch is one", arguments: [(100, 10), (40, 25)])
  func fast(milliseconds: Int, count: Int) {
    var playback = Playback()
    for index in 0..<count {
      let hundredths = index * milliseconds / 10
      let time = "101112.\(hundredths < 10 ? "0" : "")\(hundredths)"
      playback.receive(rmc(time), gga(time))
    }
    playback.finish()
    #expect(playback.epochs == count)
    #expect(playback.reports.count == count)
    let times = playback.fixes.compactMap { $0.time?.nanosecondsSince1970 }
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == milliseconds * 1_000_000 })
  }

  @Test(
    "The leap seconds follow from a UBX message with UTC and time of week, as before the almanac",
    arguments: [15, 16, 19], [true, false])
  func mixedOtherLeapSeconds(leapSeconds: Int, isResolved: Bool) {
    func frame(_ second: Int) -> [UInt8] {
      navPVT(second) {
        $0.iTOW(UInt32(Int(timeOfWeek(10, 11, second)) + (leapSeconds - 18) * 1000))
        $0.valid(isResolved ? 0b111 : 0b011)
      }
    }
    for isUBXFirst in [true, false] {
      var playback = Playback()
      for second in 12...15 {
        if isUBXFirst { playback.receive(frame(second)) }
        playback.receive(rmc("1011\(second)"), gga("1011\(second)"))
        if !isUBXFirst { playback.receive(frame(second)) }
      }
      playback.finish()
      #expect(playback.epochs == 4)
      #expect(playback.fixes.allSatisfy { $0.source == .ubx })
      // The receiver did not send its leap seconds.
      #expect(playback.fixes.allSatisfy { $0.leapSeconds == nil })
    }
  }

  @Test("The last statement of the leap seconds counts, and a time of week without UTC is none")
  func changedLeapSeconds() {
    func frame(_ second: Int, leapSeconds: UInt32, valid: UInt8 = 3) -> [UInt8] {
      navPVT(second) {
        $0.iTOW(timeOfWeek(10, 11, second) - (18 - leapSeconds) * 1000)
        $0.valid(valid)
      }
    }
    var playback = Playback()
    let messages: [(Int, UInt32, UInt8)] = [(12, 16, 3), (13, 16, 0), (14, 18, 3), (15, 18, 3)]
    for (second, leapSeconds, valid) in messages {
      playback.receive(rmc("1011\(second)"))
      playback.receive(frame(second, leapSeconds: leapSeconds, valid: valid))
    }
    playback.finish()
    #expect(playback.epochs == 4)
  }

  @Test("A leap second of NMEA and UBX mixed")
  func mixedLeapSecond() {
    var playback = Playback()
    // GPS − UTC was 17 s up to the leap second, and 18 s after it. 2017-01-01 was a Sunday.
    let epochs = [(31, "235959", 16), (31, "235960", 17), (1, "000000", 18), (1, "000001", 19)]
    for (day, time, timeOfWeek) in epochs {
      let isOld = day == 31
      playback.receive(rmc(time, date: isOld ? "311216" : "010117"), gga(time))
      playback.receive(
        navPVT(0) {
          $0.iTOW(UInt32(timeOfWeek) * 1000)
          $0.year(isOld ? 2016 : 2017)
          $0.month(isOld ? 12 : 1)
          $0.day(UInt8(day))
          $0.hour(isOld ? 23 : 0)
          $0.min(isOld ? 59 : 0)
          $0.sec(UInt8(time.suffix(2))!)
        })
    }
    playback.finish()
    let newYear = UTCTime(2017, 1, 1)
    #expect(playback.fixes.filter { $0.source == .ubx }.map(\.time) == [newYear + -1, newYear, newYear, newYear + 1])
    #expect(playback.epochs == 4)
  }

  @Test("25 Hz of NMEA and UBX mixed")
  func fastMixed() {
    var playback = Playback()
    for index in 0..<25 {
      let hundredths = index * 4
      playback.receive(navPVT(10, 11, 12, nano: index * 40_000_000))
      playback.receive(gga("101112.\(hundredths < 10 ? "0" : "")\(hundredths)"))
    }
    playback.finish()
    #expect(playback.epochs == 25)
  }

  @Test("A preview equals the report of the end, and the last fix without new messages; it changes nothing")
  func preview() {
    var playback = Playback()
    #expect(!playback.preview().fix.hasPosition)
    for second in 10...14 {
      playback.receive(rmc("1011\(second)"))
      let early = playback.preview()
      #expect(early.fix.time == UTCTime(2025, 12, 9, 10, 11, second))
      #expect(early.fix.heightAboveSeaLevelMetres == nil)
      playback.receive(gga("1011\(second)"))
      let whole = playback.preview()
      #expect(playback.preview() == whole)
      playback.idle()
      #expect(playback.lastFix == whole.fix)
      #expect(playback.preview().fix == whole.fix)
    }
    #expect(playback.epochs == 5)
    #expect(playback.reports.allSatisfy { !$0.isUpdate })
  }

  @Test(
    "How the stream is cut changes no report, nor does a preview at each cut", arguments: 1...6 as ClosedRange<UInt64>)
  func splitInvariance(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    var bytes: [UInt8] = []
    for second in 10...40 {
      for sentence in [rmc("1011\(second)"), gga("1011\(second)"), gsa3D] + gsv { bytes += Wire.nmea(sentence) }
      if random.oneIn(2) { bytes += navPVT(second) + navEOE(second) }
      if random.oneIn(4) { bytes[random.int(0...bytes.count - 1)] ^= random.byte() }
    }
    var whole = Playback()
    whole.receive(bytes)
    whole.finish()
    var cut = Playback()
    while !bytes.isEmpty {
      let count = min(bytes.count, random.int(1...90))
      cut.receive(Array(bytes[..<count]))
      bytes.removeFirst(count)
      _ = cut.preview()
    }
    cut.finish()
    #expect(cut.reports == whole.reports)
    #expect(cut.counters == whole.counters)
  }

  @Test("A step back in time is a new epoch and no fault")
  func backwards() {
    var playback = Playback()
    for second in [12, 13, 14, 11, 12] {
      playback.receive(rmc("1011\(second)"))
      playback.idle()
    }
    #expect(playback.fixes.map(\.time) == [12, 13, 14, 11, 12].map { UTCTime(2025, 12, 9, 10, 11, $0) })
  }

  @Test("RTCM does not affect epochs")
  func rtcm() {
    var playback = Playback()
    playback.receive(Wire.rtcm3([0x3E, 0xD0, 0, 1, 2]))
    playback.finish()
    #expect(playback.reports.isEmpty)
    playback.receive(rmc("101112"))
    playback.receive(Wire.rtcm3([0x3E, 0xD0, 0, 1, 2]))
    playback.finish()
    #expect(playback.reports.count == 1)
  }

  @Test("Unknown sentences and messages change nothing and complete nothing")
  func unknown() {
    var playback = Playback()
    for second in 12...15 {
      playback.receive(rmc("1011\(second)"), gsa3D, "GPTXT,01,01,02,hello", "PXYZ,1")
      playback.receive(Wire.ubx(0x0A, 0x09, [1, 2, 3]))
    }
    #expect(playback.reports.count == 4)
    #expect(playback.rejectedFields == 0)
  }
}

extension Playback {
  mutating func receiveSentence(_ name: String, at time: String) {
    switch name {
    case "RMC": receive(rmc(time))
    case "GGA": receive(gga(time))
    case "GLL": receive(gll(time))
    case "ZDA": receive(zda(time))
    case "VTG": receive(vtg)
    case "GSA": receive(gsa3D)
    default: for sentence in gsv { receive(sentence) }
    }
  }
}
