// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing
import UBX

@testable import ReceiverSimulator

@Suite("Scenarios beyond the limits of receivers are refused, and all others run")
struct ScenarioLimitTests {
  @Test(
    "Values beyond the limits are refused with the line and the correction",
    arguments: [
      ("start 48,11 2200km", "line 1: no receiver works there; a height is between -5km and 80km"),
      ("start 48,11 -2200km", "line 1: no receiver works there"), ("start 48,11 1e30km", "line 1: no receiver works"),
      ("start 48,11 infm", "line 1: a length has a unit"), ("start 48,11 nanm", "line 1: a length has a unit"),
      ("start 48,nan", "line 1: a place is"),
      (
        "start 48,11\ncircle 1km in 1ms for 10s",
        "line 2: that is 6283186 m/s, and no receiver works above 500 m/s; give it"
      ),
      ("start 48,11\neight 1km in 1ms for 10s", "line 2: that is 8885766 m/s"),
      ("start 48,11\ncircle 1m in 1ms for 10s", "line 2: that is 6284 m/s"),
      ("start 48,11\ncircle 1mm in 1ms for 10s", "line 2: a length has a unit"),
      (
        "start 48,11\ncircle 0.001m in 1ms for 10s",
        "line 2: that is 4026 times gravity, and no receiver follows above 4"
      ),
      ("start 48,11\ncircle 400km in 12h for 10s", "line 2: the place is more than 500 km from the start"),
      ("start 48,11\ndrive by 1km,0m at 2000km/h", "line 2: no receiver works above 500m/s; move slower"),
      ("start 48,11\ndrive by 1km,0m at infm/s", "line 2: no receiver works above 500m/s"),
      ("start 48,11\ndrive by 1km,0m at nanm/s", "line 2: a speed is above 0"),
      ("start 48,11\ndrive by 1km,0m at 1e-30m/s", "line 2: the movements take more than ten years"),
      ("start 48,11\ndrive by 600km,0m", "line 2: the place is more than 500 km"),
      ("start 88.9,11\ndrive by 100km,0m", "line 2: the place is beyond 89 degrees of latitude"),
      ("start 48,11\nerrand within 1e9m stops 2 pause 1s", "line 2: the place is more than 500 km"),
      ("start 48,11\nerrand within -5m stops 2 pause 1s", "line 2: the radius is more than 0 m"),
      ("start 48,11\nstay 99999999d", "line 2: a time is at most ten years"),
      ("start 48,11\nstay until 9999999999999999:00", "line 2: a time is at most ten years"),
      ("start 48,11\nat 99999999999999999999999999d sky none", "line 2: a time is at most ten years"),
      ("start 48,11\nat 5s fault lose-batch 9999999999", "line 2: `lose-batch` takes the number of epochs, 1 to 65535"),
    ])
  func refused(text: String, message: String) {
    do {
      _ = try Scenario(parsing: text)
      Issue.record("\(text) is taken")
    } catch { #expect(error.description.hasPrefix(message), "\(error)") }
  }

  @Test(
    "Values at a limit are accepted",
    arguments: [
      "start 48,11 80km", "start 48,11 -5km", "start 48,11\ndrive by 1km,0m at 500m/s",
      "start 48,11\ndrive by 1km,0m at 1800km/h",
      "start 48,11\ncircle 8km in 101s forever", "start 48,11\nstay 3650d",
    ])
  func taken(text: String) throws { _ = try Scenario(parsing: text) }

  @Test("The date line is crossed", arguments: [(179.999, 500.0), (-179.999, -500)])
  func dateLine(longitude: Double, east: Double) throws {
    let scenario = try Scenario(parsing: "start 0,\(longitude)\ndrive by 0m,\(east)m at 10m/s")
    let truth = scenario.truth(atSeconds: 1000)
    #expect(abs(truth.longitudeDegrees) < 180 && truth.longitudeDegrees * longitude < 0)
    let back = try Scenario(parsing: "start 0,\(longitude)\ndrive to 0,\(-longitude) at 10m/s")
    #expect(abs(back.durationSeconds - 22.26) < 0.1)
  }

  @Test("Windows line ends and a byte order mark are ignored")
  func lineEnds() throws {
    let text = "start 48,11 500m\nstay 1min\nwalk by 140m,0m\nstay forever\n"
    let scenario = try Scenario(parsing: text)
    #expect(try Scenario(parsing: "\u{FEFF}" + text.replacing("\n", with: "\r\n")) == scenario)
    #expect(throws: ScenarioError(line: 2, message: "the time is more than 0")) {
      try Scenario(parsing: "start 48,11\r\nstay 0s\r\n")
    }
  }

  /// Every message and sentence, from an impossible place.
  @Test(
    "Positions beyond any text are limited to the range of the fields",
    arguments: [1e30, -1e30, .infinity, 2.2e6, -2.2e6])
  func absurd(metres: Double) {
    for model in ReceiverModel.allCases {
      let place = Place(latitudeDegrees: 48, longitudeDegrees: 11, altitudeMetres: metres)
      Self.run(Scenario(stayingAt: place), model, seconds: 40)
    }
  }

  @Test("Every accepted scenario runs, on every receiver, with every message")
  func random() {
    var draw = Draw(random: SeededRandomNumberGenerator(seed: 2026))
    var taken = 0
    for round in 0..<3000 {
      guard let scenario = try? Scenario(parsing: draw.text()) else { continue }
      taken += 1
      let models = ReceiverModel.allCases
      Self.run(scenario, models[round % models.count], seconds: 4)
      for second in [0, 1, 59.5, 3600, 1e5, 1e8] {
        let truth = scenario.truth(atSeconds: second)
        #expect(abs(truth.latitudeDegrees) <= 90 && abs(truth.longitudeDegrees) <= 180)
        #expect(truth.speedMetresPerSecond <= 501 && truth.altitudeMetres <= 80_010)
      }
    }
    #expect(taken > 200, "\(taken)")
  }

  private static func run(_ scenario: Scenario, _ model: ReceiverModel, seconds: Double) {
    var scenario = scenario
    scenario.beginsHot = true
    var line = VirtualLine(model: model, scenario: scenario, startUTCSeconds: Host.start, hasRate: false)
    var now = Instant.zero
    for identity in messages { line.send(enabling(identity), at: now) }
    while now < Instant.zero + Milliseconds(seconds: seconds) {
      now = now + Milliseconds(200)
      line.advance(to: now)
      _ = line.takeReceived()
    }
  }

  private static let messages: [(UInt8, UInt8)] =
    [0x01, 0x02, 0x03, 0x04, 0x06, 0x07, 0x09, 0x11, 0x12, 0x14, 0x20, 0x21, 0x30, 0x35, 0x36].map { (0x01, $0) }
    + (0...0x0D).map { (0xF0, UInt8($0)) } + [(0xF1, 0x00)]

  /// CFG-MSG for each epoch.
  private static func enabling(_ identity: (UInt8, UInt8)) -> [UInt8] {
    var frame: [UInt8] = [0xB5, 0x62, 0x06, 0x01, 3, 0, identity.0, identity.1, 1]
    var (a, b) = (UInt8(0), UInt8(0))
    for byte in frame[2...] {
      a = a &+ byte
      b = b &+ a
    }
    frame += [a, b]
    return frame
  }

  /// Generates a random scenario: its words in valid positions, many of them with valid values.
  private struct Draw {
    var random: SeededRandomNumberGenerator

    mutating func one(_ words: [String]) -> String { words[random.next(below: words.count)] }

    mutating func length() -> String {
      one(["0m", "1m", "120m", "2.5km", "-3km", "499km", "80km", "1e30km", "infm", "nanm", "-0m", "1e-300m", "6400km"])
    }

    mutating func time() -> String {
      one(["1ms", "250ms", "1s", "90s", "5min", "1h30min", "2d", "3650d", "08:30", "0.0000001s", "99999999d", "infs"])
    }

    mutating func speed() -> String {
      one(["", "", " at 1.4m/s", " at 50km/h", " at 500m/s", " at 501m/s", " at 1e-9m/s", " at nankm/h"])
    }

    mutating func place() -> String {
      one(["48.1,11.6", "48.2,11.7", "89,180", "-89,-180", "0,179.99", "88.9,0", "90,0", "nan,5"])
    }

    mutating func line() -> String {
      one([
        "stay \(time())", "stay until \(time())", "walk by \(length()),\(length())\(speed())",
        "drive to \(place())\(speed())", "ride via \(place()) \(place()) to \(place())\(speed())",
        "drive home\(speed())",
        "circle \(length()) in \(time()) for \(time())", "eight \(length()) in \(time()) forever",
        "errand within \(length()) stops 3 pause \(time())\(speed())",
        "sky \(one(["open", "urban", "indoor", "none"]))",
        "at \(time()) sky none",
        "at \(time()) fault \(one(["unplug", "power-cycle", "drop 2%", "freeze", "flood", "wake", "cut-frame"])) \(time())",
        "at \(time()) fault \(one(["lose-batch 99", "baud 4800", "reboot", "power off"]))",
      ])
    }

    mutating func text() -> String {
      var text = "start \(place())\(one(["", " \(length())"]))\n"
      for _ in 0..<random.next(below: 6) { text += line() + "\n" }
      return text + one(["", "", "repeat\n"])
    }
  }
}
