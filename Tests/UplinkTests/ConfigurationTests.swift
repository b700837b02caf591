// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream
import Testing

@testable import sextant_uplink

@Suite struct ConfigurationTests {
  private func read(_ text: String) throws -> UplinkConfiguration {
    try UplinkConfiguration(parsing: text, host: "board")
  }

  @Test("The contract's values with their units") func values() throws {
    let configuration = try read(
      """
      # the van
      server = mqtts://ann@mqtt.example.net
      client-id = van7   # a name
      interval = 10 s
      distance = 50 m
      accuracy = 100 m
      stationary = every 6 h
      queue = 4 MB, 7 d
      allow = reportLocation setWaypoints
      backlog = newest-first 5/s
      """)
    #expect(configuration.server.host == "mqtt.example.net" && configuration.server.port == 8883)
    #expect(configuration.topic == "owntracks/ann/van7" && configuration.clientID == "van7")
    #expect(configuration.schedule.intervalSeconds == 10 && configuration.schedule.distanceMetres == 50)
    #expect(configuration.schedule.stationarySeconds == 21_600)
    #expect(configuration.queueBytes == 4 << 20 && configuration.queueAgeSeconds == 604_800)
    #expect(configuration.allowed == [.reportLocation, .setWaypoints])
    #expect(configuration.backlogIsNewestFirst && configuration.backlogPerSecond == 5)
    #expect(configuration.keepsConnection)
  }

  @Test("Defaults: nothing is allowed, the connection of a long interval is not kept") func defaults() throws {
    let configuration = try read("server = https://traccar.example.net:5055/\nformat = traccar\ninterval = 15 min\n")
    #expect(configuration.allowed.isEmpty && !configuration.keepsConnection && configuration.clientID == "board")
    #expect(configuration.server.url == "https://traccar.example.net:5055/")
  }

  @Test(
    "A mistake names its line",
    arguments: [
      ("server = ftp://host", 1), ("server = mqtt://a:secret@host", 1), ("server = mqtt://host\ninterval = fast", 2),
      ("server = mqtt://host\ninterval = 1e400 s", 2), ("server = mqtt://host\nqueue = 1 kB, 7 d", 2),
      ("server = mqtt://host\nallow = reboot", 2), ("server = mqtt://host\nserver = mqtt://host", 2),
      ("server = mqtt://host\nformat = traccar", 2),
      ("server = mqtt://host\nformat = traccar-json", 2), ("server = mqtt://host\ncert = a", 2), ("colour = blue", 1),
      ("interval = 5 s", 0), ("server = mqtt://host\ntopic = a/#", 2), ("server = mqtt://host:70000", 1),
    ])
  func mistakes(text: String, line: Int) {
    do throws(UplinkConfiguration.Mistake) {
      _ = try UplinkConfiguration(parsing: text, host: "board")
      Issue.record("no mistake in \(text)")
    } catch { #expect(error.line == line, "\(error.text)") }
  }

  @Test("A file may begin with a byte order mark and end its lines with CR LF; it is divided by bytes") func bytes()
    throws
  {
    let text =
      "\u{FEFF}server = mqtt://h # ours\r\nclient-id = \u{301}van\r\ntopic = a/\u{301}{device}\u{301}\r\nallow = reportLocation,clearWaypoints\r\n"
    let configuration = try read(text)
    #expect(configuration.server.host == "h" && configuration.allowed == [.reportLocation, .clearWaypoints])
    #expect(Array(configuration.topic.utf8) == Array("a/\u{301}\u{301}van\u{301}".utf8))
    for topic in ["a/#\u{301}", "\u{600}+", "+\u{200D}/a"] {
      #expect(throws: UplinkConfiguration.Mistake.self, "\(topic)") {
        try read("server = mqtt://h\ntopic = \(topic)\n")
      }
    }
    #expect(
      ServerAddress("mqtt://a:\u{301}secret@h") == nil && ServerAddress("https://h/\u{301}x")?.path == "/\u{301}x")
  }

  @Test("The name of the board in a topic, with and without a template") func deviceInTopic() throws {
    let base = "server = mqtt://h\nclient-id = van 7\ntopic = fleet/{device}\nallow = reportLocation\n"
    #expect(try read(base).topic == "fleet/van 7")
    let template = try read(base + "format = template\npayload = {latitude}\n")
    #expect(template.topic == "fleet/van 7")
    for (topic, id, expected) in [
      ("{device}/{device}", "a", "a/a"), ("{x}/{{device}}/{", "b", "{x}/{b}/{"), ("{device", "c", "{device"),
      ("a/{device}/z", "{device}", "a/{device}/z"),
    ] {
      #expect(try read("server = mqtt://h\nclient-id = \(id)\ntopic = \(topic)\n").topic == expected)
    }
    #expect(throws: UplinkConfiguration.Mistake.self) { try read("server = mqtt://h\nclient-id = a+b\n") }
  }

  @Test("Addresses of IPv6 keep their brackets in a URL") func addressOfIPv6() throws {
    let address = try #require(ServerAddress("http://[::1]:8080/a"))
    #expect(address.host == "::1" && address.url == "http://[::1]:8080/a" && address.isLocal)
  }
}

@Suite struct ScheduleTests {
  private func location(_ second: Double, north: Double = 0, accuracy: Double = 3) -> Location {
    Location(
      Coordinate(latitudeDegrees: 48 + north / 111_195, longitudeDegrees: 11), horizontalAccuracyMetres: accuracy,
      timestamp: UTCTime(nanosecondsSince1970: 1_800_000_000_000_000_000 + Int64(second * 1e9)))
  }

  @Test("A fix is due when interval and distance are reached") func both() {
    var schedule = FixSchedule(FixSchedule.Settings(intervalSeconds: 10, distanceMetres: 50))
    var due: [Int] = []
    // 10 m/s for a minute, then a minute at rest with noise, then 2 m/s.
    var north = 0.0
    for second in 0..<240 {
      north += second < 60 ? 10 : second < 120 ? 0 : 2
      let noise = second % 2 == 0 ? 2.0 : -2.0
      if schedule.receive(location(Double(second), north: north + noise), at: Instant.zero.moved(by: Double(second)))
        != nil
      {
        due.append(second)
      }
    }
    #expect(due.prefix(7) == [0, 10, 20, 30, 40, 50, 60])
    #expect(!due.contains { (70..<120).contains($0) }, "noise at rest is not sent")
    #expect(due.last.map { $0 > 200 } ?? false)
  }

  @Test("A fast receiver does not shorten the interval") func fastReceiver() {
    var schedule = FixSchedule(FixSchedule.Settings(intervalSeconds: 1))
    let due = (0..<100).filter {
      schedule.receive(location(Double($0) / 10), at: Instant.zero.moved(by: Double($0) / 10)) != nil
    }
    // A receiver's period may be off by a tenth of the interval.
    #expect(due == Array(stride(from: 0, to: 100, by: 9)))
  }

  @Test("Fixes are due again after one with a time of the future") func wrongTime() {
    var schedule = FixSchedule(FixSchedule.Settings(intervalSeconds: 10))
    #expect(schedule.receive(location(1e8), at: .zero) == .schedule)
    let due = (1..<200).filter { schedule.receive(location(Double($0)), at: Instant.zero.moved(by: Double($0))) != nil }
    #expect(due.first == 60 && due.dropFirst().first == 70 && due.count == 14)
  }

  @Test("At rest a fix is due once in `stationary`") func stationary() {
    var schedule = FixSchedule(FixSchedule.Settings(intervalSeconds: 10, distanceMetres: 50, stationarySeconds: 3600))
    let due = (0..<10_000).filter {
      schedule.receive(location(Double($0)), at: Instant.zero.moved(by: Double($0))) != nil
    }
    #expect(due == [0, 3600, 7200])
  }

  @Test("Inaccurate, invalid, repeated and older locations are not due") func notDue() {
    var schedule = FixSchedule(FixSchedule.Settings(accuracyMetres: 50))
    #expect(schedule.receive(location(0, accuracy: 80), at: .zero) == nil)
    #expect(schedule.receive(location(0, accuracy: -1), at: .zero) == nil)
    #expect(schedule.receive(location(5), at: .zero) == .schedule)
    #expect(schedule.receive(location(5), at: .zero) == nil && schedule.receive(location(4), at: .zero) == nil)
  }

  @Test("A long interval asks for single locations, so that the receiver sleeps in between") func single() {
    var schedule = FixSchedule(FixSchedule.Settings(intervalSeconds: 900))
    #expect(schedule.demand == .single && schedule.startRequest(at: .zero) && !schedule.startRequest(at: .zero))
    #expect(schedule.receive(location(4), at: Instant.zero.moved(by: 4)) == .schedule)
    #expect(schedule.deadline == Instant.zero.moved(by: 904) && !schedule.startRequest(at: Instant.zero.moved(by: 900)))
    #expect(schedule.startRequest(at: Instant.zero.moved(by: 904)) == true)
    schedule.requestFailed(at: Instant.zero.moved(by: 960))
    #expect(schedule.deadline == Instant.zero.moved(by: 1860))
  }

  @Test("A receiver that had no position is given updates until it has a newer one; a refusal needs none") func search()
  {
    var schedule = FixSchedule(FixSchedule.Settings(intervalSeconds: 900))
    #expect(schedule.startRequest(at: .zero) == true)
    schedule.requestFailed(at: Instant.zero.moved(by: 30))
    #expect(schedule.demand == .updates && schedule.deadline == Instant.zero.moved(by: 930))
    #expect(schedule.receive(location(50), at: Instant.zero.moved(by: 50)) == .schedule)
    #expect(schedule.demand == .single && schedule.deadline == Instant.zero.moved(by: 950))
    #expect(schedule.startRequest(at: Instant.zero.moved(by: 950)) == true)
    schedule.requestFailed(at: Instant.zero.moved(by: 980))
    // Updates start with the newest location that the service has.
    #expect(schedule.receive(location(50), at: Instant.zero.moved(by: 980)) == nil && schedule.demand == .updates)
    #expect(schedule.receive(location(1000), at: Instant.zero.moved(by: 1000)) == .schedule)
    #expect(schedule.demand == .single && schedule.startRequest(at: Instant.zero.moved(by: 1900)))
    schedule.requestFailed(isSearch: false, at: Instant.zero.moved(by: 1900))
    #expect(schedule.demand == .single)
  }

  @Test("A request without a result is repeated after half a minute at the earliest, whatever requests it")
  func repeatedRequests() {
    typealias Settings = FixSchedule.Settings
    let settings = [
      Settings(intervalSeconds: 60), Settings(distanceMetres: 50, stationarySeconds: 10),
      Settings(distanceMetres: 50, stationarySeconds: 3600),
      Settings(intervalSeconds: 10, distanceMetres: 50, stationarySeconds: 120),
      Settings(intervalSeconds: 60, distanceMetres: 50, stationarySeconds: 3600),
    ]
    let answers: [(inout FixSchedule, Instant) -> Void] = [
      { $0.requestFailed(at: $1) }, { $0.requestFailed(isSearch: false, at: $1) },
      { _ = $0.receive(location(1, accuracy: 5000), at: $1) }, { _ = $0.receive(location(1, accuracy: -1), at: $1) },
      { _ = $0.receive(location(0), at: $1) },
    ]
    for settings in settings {
      for (number, answer) in answers.enumerated() {
        var schedule = FixSchedule(settings)
        #expect(schedule.receive(location(0), at: .zero) == .schedule)
        var requests: [Double] = []
        var now = Instant.zero
        while let due = schedule.deadline, due < Instant.zero.moved(by: 10_000), requests.count < 1000 {
          now = max(now, due)
          guard schedule.startRequest(at: now) else { break }
          requests.append(now.seconds(since: .zero))
          answer(&schedule, now)
        }
        let pauses = zip(requests, requests.dropFirst()).map { $1 - $0 }
        #expect(requests.count > 1 && pauses.allSatisfy { $0 >= 30 }, "\(settings), answer \(number): \(requests)")
      }
    }
  }

  @Test("A request of the server is answered with the next location, whatever its place") func request() {
    var schedule = FixSchedule(FixSchedule.Settings(distanceMetres: 1000))
    #expect(schedule.receive(location(0), at: .zero) == .schedule)
    #expect(schedule.receive(location(1), at: .zero) == nil)
    schedule.request()
    #expect(schedule.startRequest(at: .zero) == true)
    #expect(schedule.receive(location(2, accuracy: 500), at: .zero) == .request)
  }
}
