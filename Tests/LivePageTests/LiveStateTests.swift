// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import ReceiverStream
import TestSupport
import Testing
import sextant

/// A live state in virtual time, with its events as JSON.
private struct Scene: ~Copyable {
  var live = LiveState()
  var assembler = EpochAssembler()
  var now = Instant(nanoseconds: 1_000_000_000)

  mutating func receive(_ bytes: [UInt8]) {
    live.receive(bytes.raw, at: now)
    var stream = FrameStream()
    var assembler = EpochAssembler()
    swap(&assembler, &self.assembler)
    stream.receive(bytes.raw) { frame in
      assembler.receive(frame) { report, sky in live.receive(report, sky, at: now) }
    }
    swap(&assembler, &self.assembler)
  }

  mutating func second() -> [LiveEvent.Kind: JSON] {
    now += Milliseconds(1000)
    live.tick(at: now, baud: 9600)
    return events()
  }

  mutating func events() -> [LiveEvent.Kind: JSON] {
    Dictionary(uniqueKeysWithValues: live.takeEvents().map { ($0.kind, (try? JSON(parsing: $0.json)) ?? .null) })
  }
}

private let epoch = [
  "GPRMC,120000.00,A,4717.00000,N,00833.00000,E,1.00,90.00,241126,,,A",
  "GPGGA,120000.00,4717.00000,N,00833.00000,E,1,05,1.20,400.0,M,48.0,M,,",
  "GPGSA,A,3,05,07,09,11,13,,,,,,,,2.10,1.20,1.70", "GPGSV,1,1,02,05,45,180,42,30,10,020,",
].flatMap { Wire.nmea($0) }

private let next = Wire.nmea("GPRMC,120001.00,V,,,,,,,241126,,,N")

@Suite struct LiveStateTests {
  @Test("An epoch becomes a fix and a sky; what is not known is absent")
  func fixAndSky() {
    var scene = Scene()
    scene.receive(epoch + next)
    let events = scene.events()
    let fix = events[.fix]
    #expect(fix?["mode"] == 3 && fix?["status"] == "3D")
    #expect(fix?["time"] == "2026-11-24T12:00:00.000Z")
    #expect(fix?["satellitesUsed"] == 5)
    #expect(fix?["altitudeMSL"] != nil && fix?["tdop"] == nil && fix?["latencySeconds"] == nil)
    guard case .array(let satellites)? = events[.sky]?["satellites"] else {
      Issue.record("no satellites")
      return
    }
    #expect(satellites[0]["id"] == "G05" && satellites[0]["gnss"] == "GPS" && satellites[0]["used"] == true)
    #expect(satellites[0]["signals"] == [["name": "strongest", "cn0": 42, "used": true]])
    #expect(satellites[1]["signals"] == [] && satellites[1]["elevation"] == 10)
  }

  @Test("A simulated fix, an estimated one, and one outside of the receiver's limits are named")
  func doubtful() {
    for (quality, word) in [("6", "dead reckoning"), ("7", "surveyed"), ("8", "simulated")] {
      var scene = Scene()
      scene.receive(
        Wire.nmea("GPGGA,120000.00,4717.00000,N,00833.00000,E,\(quality),05,1.20,400.0,M,48.0,M,,") + next)
      #expect(scene.events()[.fix]?["status"] == .string(word))
    }
    var fix = Fix()
    (fix.kind, fix.isWithinLimits, fix.latitudeDegrees, fix.longitudeDegrees) = (.threeD, false, 48, 11)
    var scene = Scene()
    scene.live.receive(EpochAssembler.Report(fix: fix), Sky(), at: scene.now)
    #expect(scene.events()[.fix]?["status"] == "outside limits")
  }

  @Test("An epoch gives the rows of the history, with null for what is not known; without a time it gives none")
  func historyRows() {
    var scene = Scene()
    scene.receive(epoch + next)
    let rows = scene.live.takeEvents().compactMap { event in event.row.map { (event.kind, $0) } }
    #expect(rows.map(\.0) == [.fix, .sky])
    #expect(rows.allSatisfy { $0.1.second == 1_795_521_600 })
    #expect(
      String(decoding: rows[0].1.json, as: UTF8.self)
        == "[1795521600,\"3D\",47.283333333,8.550000000,400.000,448.000,6.000,8.500,0.514,90.00,2.10,1.20,1.70,5]")
    #expect(
      String(decoding: rows[1].1.json, as: UTF8.self)
        == "[1795521600,[[\"G05\",180,45,\"strongest\",42],[\"G30\",20,10]]]")
    var timeless = Scene()
    timeless.receive(Wire.nmea("GPGLL,4717.00000,N,00833.00000,E,,A,A") + next)
    #expect(timeless.live.takeEvents().allSatisfy { $0.row == nil || $0.row?.second == 1_795_521_601 })
  }

  @Test("Messages are counted with their rate, and the line with its errors")
  func messages() {
    var scene = Scene()
    scene.receive(Wire.ubx(0x01, 0x61, [UInt8](repeating: 0, count: 4)) + [0, 1, 2])
    scene.receive(epoch)
    let events = scene.second()
    guard case .array(let messages)? = events[.messages]?["messages"] else {
      Issue.record("no messages")
      return
    }
    #expect(
      messages.map { $0["name"]?.string } == ["NMEA-GPGGA", "NMEA-GPGSA", "NMEA-GPGSV", "NMEA-GPRMC", "UBX-NAV-EOE"])
    #expect(messages[4]["count"] == 1 && messages[4]["bytes"] == 12)
    #expect(messages[0]["last"]?.string?.hasPrefix("$GPGGA,") == true)
    #expect(messages[4]["last"]?.string?.split(separator: " ").count == 4)
    #expect(events[.line]?["frames"] == 5 && events[.line]?["unknownBytes"] == 3 && events[.line]?["baud"] == 9600)
  }

  @Test("The time without a page is not counted in the rates")
  func pause() {
    var scene = Scene()
    scene.receive(epoch)
    _ = scene.second()
    scene.receive(epoch + epoch)
    scene.now += Milliseconds(60_000)
    let events = scene.second()
    #expect(events[.line]?["bytesPerSecond"] == .double(0) && events[.line]?["frames"] == 12)
  }

  @Test("The fields of an opened message are sent, at most each 90 ms")
  func opened() {
    var scene = Scene()
    scene.live.opened = ["UBX-NAV-EOE"]
    let frame = Wire.ubx(0x01, 0x61, [1, 0, 0, 0])
    scene.receive(frame)
    let event = scene.events()[.message]
    #expect(event?["name"] == "UBX-NAV-EOE")
    #expect(event?["hex"]?.string?.hasPrefix("b56201610400") == true)
    #expect(event?["fields"] == ["iTOW": 1])
    scene.receive(frame)
    #expect(scene.events()[.message] == nil)
    scene.now += Milliseconds(90)
    scene.receive(frame)
    #expect(scene.events()[.message] != nil)
  }

  @Test("The signals of NAV-SIG are shown at their satellite, until none has come for 5 s")
  func signals() {
    var scene = Scene()
    func signal(_ id: UInt8, _ cno: UInt8) -> [UInt8] { [0, 5, id, 0, 0, 0, cno, 7, 0, 0, 0x08, 0, 0, 0, 0, 0] }
    scene.receive(Wire.ubx(0x01, 0x43, [0, 0, 0, 0, 0, 2, 0, 0] + signal(0, 42) + signal(3, 38)))
    scene.receive(epoch + next)
    guard case .array(let satellites)? = scene.events()[.sky]?["satellites"] else {
      Issue.record("no satellites")
      return
    }
    #expect(
      satellites[0]["signals"] == [
        ["name": "L1 C/A", "cn0": 42, "used": true], ["name": "L2 CL", "cn0": 38, "used": true],
      ])
    #expect(satellites[0]["quality"] == 7)
  }

  @Test("MON-RF gives jamming and antenna of each block")
  func radio() {
    var scene = Scene()
    let block: [UInt8] = [1, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 80, 0, 0, 16, 9] + [UInt8](repeating: 0, count: 7)
    scene.receive(Wire.ubx(0x0A, 0x38, [0, 1, 0, 0] + block))
    #expect(
      scene.events()[.rf] == [
        "blocks": [
          [
            "id": 1, "jamming": "warning", "antenna": "ok", "antennaPower": "on", "jammingIndicator": 9, "noise": 80,
            "agc": 4096,
          ]
        ]
      ])
  }

  @Test("The trust in the signals is an event when it or a reason changes")
  func trust() {
    var scene = Scene()
    func secSIG(_ flags: UInt8) -> [UInt8] { Wire.ubx(0x27, 0x09, [2, flags, 0, 0]) }
    // Both detectors are on and find nothing; then jamming, and spoofing as well.
    scene.receive(secSIG(0b0001_1011))
    #expect(scene.events()[.trust] == ["trust": "ok", "reasons": []])
    scene.receive(secSIG(0b0001_1011))
    #expect(scene.events()[.trust] == nil)
    scene.receive(secSIG(0b0001_1101))
    let warning = "SEC-SIG: the receiver warns of jamming"
    #expect(scene.events()[.trust] == ["trust": "suspect", "reasons": [.string(warning)]])
    scene.receive(secSIG(0b0010_1101))
    #expect(
      scene.events()[.trust]
        == ["trust": "spoofed", "reasons": [.string("SEC-SIG: spoofing is indicated"), .string(warning)]])
  }

  @Test("MON-SPAN gives the spectrum")
  func spectrum() {
    var scene = Scene()
    let block = [UInt8](repeating: 7, count: 256) + [0, 0x24, 0xF4, 0, 0, 1, 0, 0, 0xB0, 0, 0, 0, 44, 0, 0, 0]
    scene.receive(Wire.ubx(0x0A, 0x31, [0, 1, 0, 0] + block))
    guard case .array(let blocks)? = scene.events()[.spectrum]?["blocks"], case .array(let bins)? = blocks[0]["bins"]
    else {
      Issue.record("no spectrum")
      return
    }
    #expect(bins.count == 256 && bins[0] == 7)
    #expect(blocks[0]["spanHz"] == 16_000_000 && blocks[0]["pgaDB"] == 44)
  }

  @Test("Ten minutes of bytes at random leaves one event of each kind")
  func noise() {
    var scene = Scene()
    var random = SeededRandomNumberGenerator(seed: 3)
    for _ in 0..<600 {
      scene.receive(MixedStream.frame(&random) + random.bytes(20))
      scene.now += Milliseconds(1000)
      scene.live.tick(at: scene.now)
    }
    #expect(scene.live.takeEvents().count <= LiveEvent.Kind.allCases.count)
    #expect(scene.live.takeEvents().isEmpty)
  }

  @Test(
    "The power timeline has the states with their times, and the charge beside the charge of an always-on receiver")
  func power() throws {
    var power = PowerTimeline()
    let start = Instant(nanoseconds: 0)
    func utc(_ seconds: Int64) -> UTCTime {
      UTCTime(nanosecondsSince1970: 1_764_547_200_000_000_000 + seconds * 1_000_000_000)
    }
    #expect(power.event(at: start) == nil)
    power.set("awake", isAwake: true, reason: "a page is open", milliamperes: (20, 20), utc: utc(0), at: start)
    power.set(
      "asleep", isAwake: false, reason: nil, milliamperes: (0.5, 20), utc: utc(10), at: start + Milliseconds(10_000))
    power.demands = [.init(who: "a", what: "full rate")]
    let first = power.event(at: start + Milliseconds(20_000))
    let json = try JSON(parsing: try #require(first).json)
    #expect(json["state"] == "asleep" && json["awake"] == false && json["reason"] == nil && json["estimated"] == true)
    #expect(
      json["chargeMilliampereSeconds"] == .double(205) && json["alwaysOnChargeMilliampereSeconds"] == .double(400))
    #expect(json["demands"] == [["who": "a", "what": "full rate"]])
    #expect(
      json["timeline"] == [
        ["from": "2025-12-01T00:00:00.000Z", "to": "2025-12-01T00:00:10.000Z", "state": "awake"],
        ["from": "2025-12-01T00:00:10.000Z", "state": "asleep"],
      ])
    for index in 0..<1000 {
      power.set(
        "\(index)", isAwake: true, reason: nil, milliamperes: nil, utc: utc(20), at: start + Milliseconds(20_000))
    }
    let last = power.event(at: start + Milliseconds(20_000))
    let later = try JSON(parsing: try #require(last).json)
    guard case .array(let spans)? = later["timeline"] else { return }
    #expect(spans.count == 200)
  }
}
