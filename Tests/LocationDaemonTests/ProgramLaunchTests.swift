// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import TestSupport
import Testing

@testable import sextantd

@Suite("The start of a program by its events")
struct ProgramLaunchTests {
  private static let region = Region(
    "home", .circle(Circle(centre: Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), radiusMetres: 100)))
  private static let enter = WaitingEvent.delegate(.didEnter(region))
  private static let exit = WaitingEvent.delegate(.didExit(region))

  private static func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  /// The pending actions: the number of starts, and the lines of the log.
  private static func actions(_ launch: inout ProgramLaunch) -> (starts: Int, lines: [String]) {
    var starts = 0
    var lines: [String] = []
    while let action = launch.nextAction() {
      switch action {
      case .start: starts += 1
      case .log(let text): lines.append(text)
      }
    }
    return (starts, lines)
  }

  /// A program that ran and has ended.
  private static func absent() -> ProgramLaunch {
    var launch = ProgramLaunch()
    launch.disconnected(at: instant(10))
    return launch
  }

  @Test("SC-7 RG-18 an event for a program that does not run starts it, once for all events, which wait in order")
  func starts() {
    var launch = Self.absent()
    #expect(launch.isWatched)
    launch.receive(Self.enter, at: Self.instant(20))
    launch.receive(Self.exit, at: Self.instant(21))
    launch.startEnded(nil, at: Self.instant(22))
    #expect(Self.actions(&launch) == (1, []))
    #expect(launch.events == [Self.enter, Self.exit])
    #expect(launch.connected() == .region)
    #expect(!launch.isWatched && launch.deadline == nil)
    #expect(launch.connected() == nil)
    launch.taken(launch.waiting.map(\.number))
    #expect(launch.state == .running(start: 0) && launch.events.isEmpty)
    launch.disconnected(at: Self.instant(30))
    #expect(launch.state == .absent)
    #expect(Self.actions(&launch) == (0, []))
  }

  @Test("A program that runs gets its events itself and is not started")
  func running() {
    var launch = ProgramLaunch()
    launch.receive(Self.enter, at: Self.instant(20))
    #expect(Self.actions(&launch) == (0, []) && launch.events.isEmpty)
  }

  @Test("The first event determines the reason")
  func reasons() {
    let location = Location(
      Coordinate(latitudeDegrees: 1, longitudeDegrees: 1), horizontalAccuracyMetres: 5,
      timestamp: .init(nanosecondsSince1970: 0))
    let visit = Visit(
      arrival: nil, departure: nil, coordinate: location.coordinate, horizontalAccuracyMetres: 50)
    let event = Monitor.Event(identifier: "yard", state: .satisfied, date: .init(nanosecondsSince1970: 0))
    for (waiting, reason) in [
      (WaitingEvent.delegate(.didUpdateLocations([location])), LaunchReason.significantChange),
      (.delegate(.didVisit(visit)), .visit), (.monitor("work", event), .condition), (Self.exit, .region),
    ] {
      var launch = Self.absent()
      launch.receive(waiting, at: Self.instant(20))
      launch.receive(Self.enter, at: Self.instant(20))
      #expect(launch.connected() == reason)
    }
  }

  @Test(
    "A start that fails is repeated after longer and longer delays, five times, and logged; a later event begins anew")
  func repeats() {
    var launch = Self.absent()
    launch.receive(Self.enter, at: Self.instant(20))
    var starts = 0
    var lines: [String] = []
    for _ in 0..<20 {
      let found = Self.actions(&launch)
      starts += found.starts
      lines += found.lines
      guard let due = launch.deadline else { break }
      if case .starting = launch.state {
        launch.startEnded("Access denied", at: due)
      } else {
        launch.wake(at: due)
      }
    }
    #expect(starts == 5)
    #expect(lines.count == 5 && lines.allSatisfy { $0.contains("Access denied") })
    #expect(launch.events == [Self.enter])
    guard case .exhausted(let until) = launch.state else { return #expect(Bool(false), "\(launch.state)") }
    launch.receive(Self.exit, at: Instant(nanoseconds: until.nanoseconds - 1))
    #expect(Self.actions(&launch) == (0, []))
    launch.receive(Self.enter, at: until)
    #expect(Self.actions(&launch) == (1, []))
    #expect(launch.events == [Self.enter, Self.exit, Self.enter])
  }

  @Test("A unit that runs without a connection of its program counts as a failed start after a minute")
  func connects() {
    var launch = Self.absent()
    launch.receive(Self.enter, at: Self.instant(20))
    _ = Self.actions(&launch)
    launch.startEnded(nil, at: Self.instant(21))
    launch.wake(at: Self.instant(79))
    #expect(Self.actions(&launch) == (0, []))
    launch.wake(at: Self.instant(80))
    #expect(Self.actions(&launch).lines.first?.contains("60 s") == true)
    // A user starts it before the next attempt: it was not started for the event, and still gets it.
    #expect(launch.connected() == nil && launch.events == [Self.enter])
  }

  @Test("A program that crashes at each start, before it takes its events, is not started for ever")
  func crashes() {
    var launch = Self.absent()
    launch.receive(Self.enter, at: Self.instant(20))
    var time = Self.instant(20)
    var starts = 0
    while starts < 20 {
      starts += Self.actions(&launch).starts
      guard case .starting = launch.state else { break }
      #expect(launch.connected() == .region)
      time = time + Milliseconds(100)
      launch.disconnected(at: time)
      guard let due = launch.deadline else { break }
      #expect(due >= time + Milliseconds(5000))
      time = due
      launch.wake(at: time)
    }
    #expect(starts == 5 && launch.deadline == nil)
  }

  @Test("A crash of a program that has taken its events starts nothing, and its next event starts it at once")
  func crashesLater() {
    var launch = Self.absent()
    for round in 0..<10 {
      launch.receive(Self.enter, at: Self.instant(Double(100 * round + 20)))
      #expect(Self.actions(&launch).starts == 1)
      _ = launch.connected()
      launch.taken(launch.waiting.map(\.number))
      launch.disconnected(at: Self.instant(Double(100 * round + 21)))
      #expect(launch.state == .absent)
    }
  }

  @Test("A program that was stopped on purpose is not started again until it was started otherwise")
  func stopped() {
    var launch = Self.absent()
    launch.unitStopped()
    #expect(launch.isStopped && !launch.isWatched)
    launch.receive(Self.enter, at: Self.instant(20))
    launch.wake(at: Self.instant(4000))
    launch.startIsPossible(at: Self.instant(4000))
    #expect(Self.actions(&launch) == (0, []) && launch.events.isEmpty)
    #expect(launch.connected() == nil)
    launch.disconnected(at: Self.instant(5000))
    launch.receive(Self.enter, at: Self.instant(5001))
    #expect(Self.actions(&launch).starts == 1)
    // The report of the stop arrives before or after the end of the connection.
    var running = ProgramLaunch()
    running.unitStopped()
    running.disconnected(at: Self.instant(1))
    #expect(running.isStopped)
  }

  @Test(
    "After a restart of the daemon or the computer, events that waited start the program once it had time to connect")
  func restored() {
    var launch = ProgramLaunch(waiting: [NumberedEvent(number: 1, Self.enter)], isStopped: false, at: Self.instant(1))
    #expect(launch.isWatched && launch.deadline == Self.instant(6))
    launch.wake(at: Self.instant(5))
    #expect(Self.actions(&launch) == (0, []))
    launch.wake(at: Self.instant(6))
    #expect(Self.actions(&launch) == (1, []))
    #expect(launch.connected() == .region)
    // A program that continued to run reconnects on its own.
    var other = ProgramLaunch(waiting: [NumberedEvent(number: 1, Self.enter)], isStopped: false, at: Self.instant(1))
    #expect(other.connected() == nil && other.state == .running(start: 0) && other.events == [Self.enter])
    #expect(ProgramLaunch(waiting: [], isStopped: true, at: Self.instant(1)).isStopped)
    #expect(ProgramLaunch(waiting: [], isStopped: false, at: Self.instant(1)).state == .absent)
  }

  @Test("Waiting events are bounded: the oldest are dropped")
  func bounded() {
    var launch = Self.absent()
    for _ in 0..<500 { launch.receive(Self.enter, at: Self.instant(20)) }
    launch.receive(Self.exit, at: Self.instant(20))
    #expect(launch.events.count == ProgramLaunch.eventLimit && launch.events.last == Self.exit)
  }

  @Test("A start that becomes possible later, by a launcher or a policy, is done then")
  func possible() {
    var launch = Self.absent()
    launch.startIsPossible(at: Self.instant(11))
    #expect(Self.actions(&launch) == (0, []))
    launch.receive(Self.enter, at: Self.instant(20))
    launch.startEnded("no launcher", at: Self.instant(20))
    _ = Self.actions(&launch)
    launch.startIsPossible(at: Self.instant(21))
    #expect(Self.actions(&launch) == (1, []))
  }

  @Test("A record is read as it was written; a damaged one and one of a later version are not read")
  func record() throws {
    var record = LaunchRecord(unit: .system("hike.service"), executable: "/usr/bin/hike", keys: UsageKeys())
    record.waiting = [
      NumberedEvent(number: 7, Self.enter), NumberedEvent(number: 9, .delegate(.didUpdateLocations([]))),
    ]
    record.origin = Coordinate(latitudeDegrees: 48, longitudeDegrees: 11)
    record.isStopped = true
    #expect(LaunchRecord(record.text) == record)
    // The file of a version without numbers.
    let old = record.text.replacing(#","numbers":[7,9]"#, with: "").replacing(#""numbers":[7,9],"#, with: "")
    #expect(old != record.text && LaunchRecord(old)?.waiting.map(\.number) == [0, 1])
    #expect(LaunchRecord(String(record.text.dropLast(10))) == nil && LaunchRecord("") == nil)
    record.version = 2
    #expect(LaunchRecord(record.text) == nil)
    record.version = 1
    for number in [Int.max, .min, -1] {
      record.waiting = [NumberedEvent(number: number, Self.enter)]
      #expect(LaunchRecord(record.text) == nil, "an event after \(number) has no number")
    }
  }

  @Test(
    "SC-2 a significant change counts from the program's last place; without one the first location is not a change")
  func origin() {
    func location(_ degrees: Double) -> Location {
      Location(
        Coordinate(latitudeDegrees: degrees, longitudeDegrees: 11), horizontalAccuracyMetres: 5,
        timestamp: .init(nanosecondsSince1970: 0))
    }
    var record = LaunchRecord(unit: .user("hike.service"), executable: nil, keys: UsageKeys())
    // A thousandth of a degree is 111 m.
    let changes = [48, 48.004, 48.006, 48.008].map { record.take(location($0)) }
    #expect(changes == [false, false, true, false])
  }

  @Test("Significant changes continue while one of several instances of a program wants them")
  func instances() {
    func wants(_ managers: [Set<Int>], stops: Bool = false, before: Bool = true) -> Bool {
      Launcher.wantsSignificant(managers, stopsSignificant: stops, before: before)
    }
    #expect(wants([[1], []], stops: true) && wants([[], [2]], stops: true) && !wants([[], []], stops: true))
    // A program that was started again has not started the service again yet.
    #expect(wants([[]]) && !wants([[]], before: false) && wants([[1]], before: false))
  }

  @Test("After each round nothing is due before time has passed")
  func deadlines() {
    for seed: UInt64 in 0..<50 {
      var random = SeededRandomNumberGenerator(seed: seed)
      var launch = Self.absent()
      var now = Self.instant(10)
      for step in 0..<200 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: _ = launch.connected()
        case 1: launch.disconnected(at: now)
        case 2: launch.startEnded(.random(using: &random) ? "refused" : nil, at: now)
        case 3: launch.startIsPossible(at: now)
        case 4: launch.unitStopped()
        case 5: now = max(now, launch.deadline ?? now)
        case 6: launch.taken(launch.waiting.prefix(1).map(\.number))
        default: launch.receive(.random(using: &random) ? Self.enter : Self.exit, at: now)
        }
        launch.wake(at: now)
        _ = Self.actions(&launch)
        #expect(launch.deadline.map { $0 > now } ?? true, "seed \(seed), step \(step)")
        now = now + Milliseconds(UInt64.random(in: 1...60_000, using: &random))
      }
    }
  }

  @Test(
    "The unit is a service of the system's manager, or of the manager of the program's own user",
    arguments: [
      ("0::/system.slice/hike.service\n", LaunchUnit.system("hike.service")),
      ("0::/system.slice/hike.service/worker\n", .system("hike.service")),
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/hike.service\n", .user("hike.service")),
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.service/b.service\n", .user("a.service")),
      // Another user's service manager does not start units for this one.
      ("0::/user.slice/user-1001.slice/user@1001.service/app.slice/hike.service\n", nil),
      ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/hike.scope\n", nil),
      ("0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", nil),
      ("0::/user.slice/user-1000.slice/session-3.scope\n", nil), ("0::/\n", nil), ("", nil),
    ])
  func units(text: String, unit: LaunchUnit?) {
    #expect(LaunchUnit(inCgroup: text, user: 1000) == unit)
  }

  @Test("The policy names the units that are started: those with `always`, and those of `launch`")
  func policy() {
    let policy = DaemonPolicy(.init(parsing: "grant a.service always\ngrant b.service whenInUse\nlaunch c.service\n"))
    #expect(["a", "b", "c", "d"].map { policy.mayLaunch("\($0).service") } == [true, false, true, false])
  }
}
