// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@Suite("Scenarios")
struct ScenarioTests {
  private static func error(_ text: String) -> String? {
    do {
      _ = try Scenario(parsing: text)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("Each built-in scenario parses, and stays on the Earth for two days", arguments: Scenario.names)
  func builtIn(name: String) throws {
    let scenario = try Scenario(parsing: try #require(Scenario.text(named: name)))
    var before = scenario.truth(atSeconds: 0)
    for second in stride(from: 0.0, to: 172_800, by: 5) {
      let truth = scenario.truth(atSeconds: second)
      let north = (truth.latitudeDegrees - before.latitudeDegrees) * 111_195
      let east = (truth.longitudeDegrees - before.longitudeDegrees) * 111_195 * 0.67
      // The path is continuous: the distance within five seconds is limited by the speed.
      #expect(abs(north) < 150 && abs(east) < 150, "\(name) \(second)")
      before = truth
    }
  }

  @Test("Movements follow each other with the speeds of the text")
  func motion() throws {
    let scenario = try Scenario(
      parsing: """
        # A walk.
        start 48,11 500m
        stay 1min
        walk by 140m,0m
        sky indoor
        drive by 0m,-1km at 36km/h
        at 90s sky urban
        """)
    #expect(scenario.durationSeconds == 60 + 100 + 100)
    let still = scenario.truth(atSeconds: 30)
    #expect(still.speedMetresPerSecond == 0 && still.altitudeMetres == 500 && still.sky == .open)
    let walking = scenario.truth(atSeconds: 110)
    #expect(abs(walking.northMetresPerSecond - 1.4) < 1e-9 && walking.eastMetresPerSecond == 0)
    #expect(abs((walking.latitudeDegrees - 48) * 111_195 - 70) < 0.2)
    #expect(walking.sky == .urban)
    let driving = scenario.truth(atSeconds: 200)
    #expect(abs(driving.eastMetresPerSecond + 10) < 1e-9 && driving.sky == .indoor)
    #expect(scenario.truth(atSeconds: 1e6).speedMetresPerSecond == 0)
  }

  @Test("The speed equals the change of the position", arguments: ["walk", "drive", "delivery-round"])
  func speed(name: String) throws {
    let scenario = try #require(Scenario.named(name))
    for second in stride(from: 0.0, to: 40_000, by: 7) {
      let (a, b) = (scenario.truth(atSeconds: second), scenario.truth(atSeconds: second + 0.01))
      let north = (b.latitudeDegrees - a.latitudeDegrees) * 111_200 / 0.01
      #expect(abs(north - a.northMetresPerSecond) < 0.15 || a.northMetresPerSecond != b.northMetresPerSecond)
    }
  }

  @Test("A scenario that repeats restarts, with its sky")
  func repetition() throws {
    let scenario = try Scenario(
      parsing: "start 48,11\nstay 10min\nsky none\nwalk by 100m,0m\nsky urban\nwalk home\nrepeat")
    let length = scenario.durationSeconds
    #expect(scenario.truth(atSeconds: 605) == scenario.truth(atSeconds: 605 + length))
    #expect(scenario.truth(atSeconds: length + 1).sky == .open)
    var host = Host(.m10, scenario)
    host.run(seconds: length + 650)
    #expect(!host.line.receiver.hasFix)
    host.run(seconds: 120)
    #expect(host.line.receiver.hasFix)
  }

  @Test(
    "Errors name the line and the correction",
    arguments: [
      ("", "the scenario is empty"),
      ("stay 5min", "line 1: a scenario begins with `start"),
      ("start 48 11", "line 1: a place is LATITUDE,LONGITUDE"),
      ("start 148,11", "line 1: a place is"),
      ("start 48,11\nstart 48,11", "line 2: there is one `start` already"),
      ("start 48,11\n\nfly to 49,11", "line 3: `fly` is not a scenario command; use start"),
      ("start 48,11\nstay", "line 2: a time is such as 90s"),
      ("start 48,11\nstay 5m", "line 2: a time is such as 90s"),
      ("start 48,11\nstay 0s", "line 2: the time is more than 0"),
      ("start 48,11\nstay forever\nwalk home", "line 3: the movement before goes on for ever"),
      ("start 48,11\nstay 2h\nstay until 01:00", "line 3: it is 02:00:00 already"),
      ("start 48,11\nwalk 49,11", "line 2: name a place"),
      ("start 48,11\nwalk to 58,11", "line 2: the place is more than 500 km"),
      ("start 48,11\nwalk by 5,5", "line 2: a way is NORTH,EAST in metres"),
      ("start 48,11\nwalk by 5m,5m at 3", "line 2: a speed is above 0 and has a unit"),
      ("start 48,11\nwalk by 5m,5m quickly", "line 2: `quickly` is too much"),
      ("start 48,11\nsky blue", "line 2: a sky is open, urban, indoor or none"),
      ("start 48,11\neight 10m for 5min", "line 2: `in` should stand where `for` is"),
      ("start 48,11\nat 5s fault explode", "line 2: a fault is unplug"),
      ("start 48,11\nat 5s weather rain", "line 2: `sky` or `fault` should stand where `weather` is"),
      ("start 48,11\nat 5s fault drop 2 5s", "line 2: a share is a percentage"),
      ("start 48,11\nrepeat", "line 2: there is nothing to repeat"),
      ("start 48,11\nwalk by 1km,0m\nrepeat", "line 3: a scenario that repeats ends where it starts"),
      ("start 48,11\nstay 1h\nat 2h sky none\nrepeat", "line 4: the sky changes at 02:00:00"),
      ("start 48,11\nstay 1h\nrepeat\nstay 1h", "line 4: nothing may follow `repeat`"),
    ])
  func errors(text: String, message: String) {
    let error = Self.error(text)
    #expect(error?.hasPrefix(message) == true, "\(error ?? "no error")")
  }

  @Test(
    "Every fault can be written in a scenario",
    arguments: [
      ("unplug 5s", Fault.unplug(for: Milliseconds(5000))),
      ("power-cycle 1s without-backup", .powerCycle(for: Milliseconds(1000), losingBackup: true)),
      ("power off", .power(isOn: false)), ("power on", .power(isOn: true)),
      ("corrupt 2% 1min", .corrupt(share: 0.02, for: Milliseconds(60_000))),
      ("drop 0.5% 1min", .drop(share: 0.005, for: Milliseconds(60_000))),
      ("freeze 250ms", .freeze(for: Milliseconds(250))), ("refuse 5s", .refuseEverything(for: Milliseconds(5000))),
      ("silence 5s", .silence(for: Milliseconds(5000))), ("flood 5s", .flood(for: Milliseconds(5000))),
      ("baud 4800", .baudRateChange(to: 4800)), ("reboot", .reboot),
      ("ignore-sleep 1h", .ignoreSleepRequests(for: Milliseconds(3_600_000))),
      ("ignore-wake 5s", .ignoreWakeUps(for: Milliseconds(5000))),
      ("wake 10s", .wakeByItself(after: Milliseconds(10_000))),
      ("lose-batch 7", .loseBatchedEpochs(7)), ("cut-frame 3s", .cutFrame(silenceFor: Milliseconds(3000))),
    ])
  func faults(text: String, fault: Fault) throws {
    #expect(try Fault(parsing: text) == fault)
  }
}
