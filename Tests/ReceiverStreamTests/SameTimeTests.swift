// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import TestSupport
import Testing
import UBX

/// Epochs that their times do not distinguish: the receiver lost its time, never sends one, or repeats it.
@Suite("Epochs without a distinct time")
struct SameTimeTests {
  private let lost = ["GPVTG,,T,,M,,N,,K,N", "GPGSA,A,1,,,,,,,,,,,,,,,", "GPGGA,,,,,,0,,,,,,,,", "GPRMC,,V,,,,,,,,,,N"]

  @Test("A fix remains when the receiver loses its time, and each epoch without a time is an epoch")
  func losesTime() {
    var playback = Playback()
    for second in 12...14 { playback.receive(gga("1011\(second)"), rmc("1011\(second)"), gsa3D) }
    for _ in 0..<3 { for sentence in lost { playback.receive(sentence) } }
    for second in 30...31 { playback.receive(gga("1011\(second)"), rmc("1011\(second)"), gsa3D) }
    playback.finish()
    let new = playback.reports.filter { !$0.isUpdate }.map(\.fix)
    #expect(new.map(\.hasPosition) == [true, true, true, false, false, false, true, true])
    #expect(new.map { $0.time == nil } == [false, false, false, true, true, true, false, false])
    // No message contradicts the reported fix.
    for second in 12...14 {
      let time = UTCTime(2025, 12, 9, 10, 11, second)
      #expect(playback.fixes.last { $0.time == time }?.hasPosition == true, "\(second)")
    }
  }

  @Test("The epochs of a receiver that never had a time are reported", arguments: ["GP", "GN"])
  func coldStart(talker: String) {
    var playback = Playback()
    for _ in 0..<4 {
      playback.receive(
        "\(talker)RMC,,V,,,,,,,,,,N", "\(talker)VTG,,,,,,,,,N", "\(talker)GGA,,,,,,0,00,99.99,,,,,,",
        "\(talker)GSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99", "\(talker)GLL,,,,,,V,N")
    }
    playback.receive(rmc("101112"), gga("101112"))
    playback.finish()
    #expect(playback.reports.filter { !$0.isUpdate }.map(\.fix.hasPosition) == [false, false, false, false, true])
  }

  @Test("Two receivers without a time on one line make one epoch")
  func twoTalkers() {
    var playback = Playback()
    for _ in 0..<3 { playback.receive("GPGGA,,,,,,0,00,99.99,,,,,,", "GNGGA,,,,,,0,00,99.99,,,,,,") }
    playback.finish()
    #expect(playback.epochs == 3)
  }

  @Test(
    "A plotter without a fix says nothing beside a receiver that has one, for however long",
    arguments: ["GP", "GN", "GA"])
  func plotter(talker: String) {
    var playback = Playback()
    for second in 10..<59 {
      playback.receive(
        rmc("1011\(second)", talker: talker), "IIGGA,,,,,,0,,,,,,,,", gga("1011\(second)", talker: talker),
        "IIRMC,,V,,,,,,,,,,N")
    }
    playback.finish()
    let fixes = playback.reports.filter { !$0.isUpdate }.map(\.fix)
    #expect(fixes.count == 49 && fixes.allSatisfy(\.hasPosition))
  }

  @Test("Positions without a time are reported one by one")
  func positionsAlone() {
    var playback = Playback()
    for minute in 14...16 { playback.receive("GPGLL,47\(minute).11437,N,00833.91522,E,,A,A") }
    playback.finish()
    #expect(playback.fixes.count == 3 && playback.fixes.allSatisfy { $0.hasPosition && $0.time == nil })
    #expect(Set(playback.fixes.map(\.latitudeDegrees)).count == 3)
  }

  @Test("The same time on another day is another epoch", arguments: [true, false])
  func daily(hasGGA: Bool) {
    var playback = Playback()
    for day in 10...14 {
      if hasGGA { playback.receive(gga("120000", latitude: "47\(day).11437")) }
      let place = "47\(day).11437,N,00833.91522,E,5.0,77.5"
      playback.receive("GPRMC,120000,A,\(place),\(day)1225,,,A")
    }
    playback.finish()
    #expect(playback.epochs == 5)
    #expect(playback.fixes.map(\.time) == (10...14).map { UTCTime(2025, 12, $0, 12, 0, 0) })
    #expect(Set(playback.fixes.map(\.latitudeDegrees)).count == 5)
  }

  @Test("The same time of week in another week is another epoch")
  func weekly() {
    var playback = Playback()
    for day in [9, 16, 23] {
      playback.receive(
        navPVT(10, 11, 12, day: 9) {
          $0.day(UInt8(day))
          $0.lat(470_000_000 + Int32(day) * 1000)
        })
    }
    playback.finish()
    #expect(playback.fixes.map(\.time) == [9, 16, 23].map { UTCTime(2025, 12, $0, 10, 11, 12) })
  }

  @Test("Several positions within a whole second are reported one by one, and a repeated sentence counts once")
  func wholeSeconds() {
    var playback = Playback()
    for tenth in 0..<6 {
      let latitude = "4717.1\(tenth)437"
      playback.receive(gga("101112", latitude: latitude))
      playback.receive("GPRMC,101112,A,\(latitude),N,00833.91522,E,5.0,77.5,091225,,,A")
    }
    playback.finish()
    #expect(playback.epochs == 6 && Set(playback.fixes.map(\.latitudeDegrees)).count == 6)

    var twice = Playback()
    twice.receive(gga("101112"), gga("101112"), rmc("101112"), rmc("101112"))
    twice.finish()
    #expect(twice.epochs == 1)
  }

  @Test("After a silence the same sentence with the same time is another epoch: of another day")
  func afterSilence() {
    var playback = Playback()
    for _ in 0..<3 {
      playback.receive(gga("101112"), gsa3D)
      playback.idle()
    }
    #expect(playback.epochs == 3)
  }

  @Test("The week advances if the date is sent less often than the position")
  func rareDate() throws {
    var playback = Playback()
    for second in 0..<12 {
      let iTOW = timeOfWeek(10, 11, second)
      playback.receive(
        ubx {
          NavPOSLLH.encode(into: &$0) {
            $0.iTOW(iTOW)
            $0.lat(472_852_395)
            $0.lon(85_652_537)
            $0.hAcc(1500)
          }
        },
        ubx {
          NavSTATUS.encode(into: &$0) {
            $0.iTOW(iTOW)
            $0.gpsFix(3)
            $0.flags(1)
          }
        })
      guard second % 5 == 1 else { continue }
      playback.receive(
        ubx {
          NavTIMEUTC.encode(into: &$0) {
            $0.iTOW(iTOW)
            $0.year(2025)
            $0.month(12)
            $0.day(9)
            $0.hour(10)
            $0.min(11)
            $0.sec(UInt8(second))
            $0.valid(7)
          }
        })
    }
    playback.finish()
    let last = (0..<12).map { second in
      playback.fixes.last { $0.time == UTCTime(2025, 12, 9, 10, 11, second) }?.hasPosition
    }
    #expect(last == [nil] + Array(repeating: true, count: 11))
    #expect(playback.epochs == 12)
  }

  @Test("The next week begins at the end of a week")
  func weekEnd() throws {
    func second(_ iTOW: UInt32, _ date: (Int, Int)? = nil) -> [UInt8] {
      ubx {
        NavPVT.encode(into: &$0) {
          $0.iTOW(iTOW)
          $0.fixType(3)
          $0.flags(1)
          $0.lat(472_852_395)
          $0.hAcc(1500)
          guard let date else { return }
          $0.year(2025)
          $0.month(12)
          $0.day(UInt8(date.0))
          $0.hour(23)
          $0.min(59)
          $0.sec(UInt8(date.1))
          $0.valid(3)
        }
      }
    }
    var playback = Playback()
    // GPS − UTC is 18 s: the week starts at 23:59:42 UTC.
    playback.receive(second(604_798_000, (13, 40)), second(604_799_000), second(0), second(1000))
    playback.finish()
    #expect(playback.fixes.map(\.time) == (40...43).map { UTCTime(2025, 12, 13, 23, 59, $0) })
  }
}
