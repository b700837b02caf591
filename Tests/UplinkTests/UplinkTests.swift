// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import TestSupport
import Testing

@testable import sextant_uplink

/// An uplink with a server that takes everything, in virtual time.
private struct Scene {
  var uplink: Uplink<SimulatedStorage>
  var now = Instant.zero
  var calls: [ClientCall] = []
  var sent: [(UInt64, Payload)] = []
  var published: [Payload] = []
  var logged: [String] = []
  var stored: JSON?
  /// Whether the server accepts connections.
  var isReachable = true
  /// Whether the server acknowledges the fixes that it takes.
  var acknowledges = true
  let disk = SimulatedDisk()
  /// How often the server refuses a fix before it takes it.
  var refusals: [UInt64: Int] = [:]

  init(_ text: String, server: String = "mqtt://localhost", stored: JSON? = nil) throws {
    let configuration = try UplinkConfiguration(
      parsing: "server = \(server)\nclient-id = van\n" + text, host: "board")
    let limits = TestQueue.Limits(bytes: configuration.queueBytes, ageSeconds: configuration.queueAgeSeconds)
    let queue = try TestQueue(SimulatedStorage(disk: disk), limits, identity: "q")
    let writer = PayloadWriter(
      format: configuration.format, topic: configuration.topic, clientID: configuration.clientID, queueIdentity: "q")
    uplink = Uplink(configuration, writer, queue, stored: stored)
    perform(uplink.start(at: now))
  }

  mutating func perform(_ actions: [Uplink<SimulatedStorage>.Action]) {
    for action in actions {
      switch action {
      case .call(let call): calls.append(call)
      case .log(let text): logged.append(text)
      case .storeSettings(let json): stored = json
      case .transport(.connect):
        receive(.transport(isReachable ? .connected : .failed(.temporary("no answer"))))
      case .transport(.send(let sequence, let payload)):
        if let left = refusals[sequence], left > 0 {
          refusals[sequence] = left - 1
          receive(.transport(.refused(sequence, "HTTP 400")))
          continue
        }
        sent.append((sequence, payload))
        if acknowledges { receive(.transport(.acknowledged(sequence))) }
      case .transport(.publish(let payload)): published.append(payload)
      case .transport(.disconnect), .transport(.end): break
      }
    }
  }

  mutating func receive(_ event: Uplink<SimulatedStorage>.Event) {
    perform(
      uplink.receive(event, utcNanoseconds: 1_800_000_000_000_000_000 + Int64(clamping: now.nanoseconds), at: now))
  }

  /// Passes a second with a location, `metres` to the north of the start.
  mutating func passSecond(_ metres: Double = 0) {
    now = now.moved(by: 1)
    receive(.locations([location(metres)]))
    receive(.wake)
  }

  /// A location `seconds` ago.
  func location(_ metres: Double = 0, seconds: Double = 0) -> Location {
    let nanoseconds = Int64(clamping: now.nanoseconds) - Int64(seconds * 1e9)
    let time = UTCTime(nanosecondsSince1970: 1_800_000_000_000_000_000 + nanoseconds)
    let place = Coordinate(latitudeDegrees: 48 + metres / 111_195, longitudeDegrees: 11)
    return Location(place, horizontalAccuracyMetres: 3, timestamp: time)
  }

  mutating func command(_ text: String) { receive(.transport(.command(Array(text.utf8)))) }

  func types() throws -> [String] { try sent.map { try JSON(parsing: $0.1.body)["_type"]?.string ?? "" } }
}

@Suite("The status of the uplink") struct UplinkStatusTests {
  @Test("Without a socket, and at one that a killed program has left, no program runs")
  func absent() throws {
    let folder = try TemporaryFolder()
    #expect(try liveStatus(folder.path) == nil)
    let socket = try UnixSocket(listeningAt: "\(folder.path)/control", permissions: 0o600)
    _ = consume socket
    #expect(try liveStatus(folder.path) == nil)
  }

  @Test("A program that does not reply is not said to be absent")
  func stopped() throws {
    let folder = try TemporaryFolder()
    let socket = try UnixSocket(listeningAt: "\(folder.path)/control", permissions: 0o600)
    let failure = #expect(throws: UplinkFailure.self) { try liveStatus(folder.path, within: Milliseconds(0)) }
    #expect(failure?.code == .unavailable && failure?.text.contains("does not reply") == true)
    withExtendedLifetime(socket.descriptor) {}
  }

  @Test("The status of the files is read without a change of them, whatever they contain")
  func stored() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    var queue = try FixQueue(QueueFolder(path: path), FixQueue<QueueFolder>.Limits(), identity: "q")
    for nanoseconds in [Int64.min, 0, .max] {
      var fix = walkFix(0)
      fix.utcNanoseconds = nanoseconds
      queue.append(fix, at: .zero)
    }
    try queue.flush()
    queue.acknowledge(2)
    try queue.flush()
    let torn = try PrivateFolder(path).readBytes("acknowledged", limit: 1000) + [1, 2, 3]
    try PrivateFolder(path, makingWith: 0o700).replace("acknowledged", with: torn)
    let status = try storedStatus(path)
    #expect(status["queued"] == 2 && status["connected"] == false)
    #expect(status["lastError"] == "sextant-uplink does not run; start it")
    #expect(try PrivateFolder(path).readBytes("acknowledged", limit: 1000) == torn)
    try PrivateFolder(path, makingWith: 0o700).replace("identity", with: [])
    _ = try storedStatus(path)
    #expect(try PrivateFolder(path).readBytes("identity", limit: 1000).isEmpty)
  }
}

@Suite struct UplinkTests {
  @Test("A damaged record ends neither the sending of the others nor the end of the connection")
  func damagedRecord() throws {
    var scene = try Scene("interval = 10 min\n")
    scene.isReachable = false
    for _ in 0..<3 {
      scene.passSecond()
      scene.now = scene.now.moved(by: 600)
      scene.receive(.wake)
    }
    scene.disk.damage(0)
    scene.isReachable = true
    for _ in 0..<10 {
      scene.now = scene.uplink.deadline ?? scene.now
      scene.receive(.wake)
    }
    #expect(scene.sent.map(\.0) == [2, 3])
    #expect(scene.uplink.queue.count == 0 && scene.uplink.delivery.state == .idle)
  }

  @Test("Locations are written, sent and acknowledged") func delivery() throws {
    var scene = try Scene("")
    #expect(scene.calls.contains(.startUpdatingLocation) && scene.calls.contains(.requestAlways))
    for second in 0..<10 { scene.passSecond(Double(second)) }
    scene.passSecond()
    #expect(scene.sent.count >= 9)
    let status = scene.uplink.status(utcNanoseconds: 0)
    #expect(status["connected"] == true && status["dropped"] == 0 && status["lastError"] == .null)
    #expect(status["acknowledged"] == .integer(Int64(scene.sent.count)))
  }

  @Test("A long interval uses single locations, and none of the receiver in between") func single() throws {
    let scene = try Scene("interval = 10 min\n")
    #expect(scene.calls.contains(.requestLocation) && !scene.calls.contains(.startUpdatingLocation))
  }

  @Test("Between two uploads of a long interval nothing is due") func idle() throws {
    var scene = try Scene("interval = 10 min\n")
    for minute in 1...3 {
      scene.passSecond()
      #expect(scene.sent.count == minute && scene.uplink.delivery.state == .idle)
      let due = scene.now.moved(by: 600)
      #expect(scene.uplink.deadline == due)
      scene.now = due
      scene.receive(.wake)
    }
    // The acknowledgements are on the disk.
    #expect(!scene.uplink.queue.hasUnwritten)
  }

  @Test("A refusal of the location service is logged once, and ends with a location or another failure")
  func refusal() throws {
    for settings in ["interval = 10 min\n", "distance = 50 m\nstationary = every 60 s\n"] {
      var scene = try Scene(settings)
      scene.passSecond()
      for _ in 0..<10 {
        scene.now = scene.uplink.deadline ?? scene.now
        scene.receive(.wake)
        scene.receive(.requestFailed(isPermitted: false))
      }
      #expect(scene.logged.count { $0.contains("does not permit positions") } == 1, "\(scene.logged)")
      scene.receive(.locations([scene.location()]))
      scene.receive(.requestFailed(isPermitted: false))
      scene.receive(.requestFailed(isPermitted: true))
      scene.receive(.requestFailed(isPermitted: false))
      #expect(scene.logged.count { $0.contains("does not permit positions") } == 3, "\(scene.logged)")
      #expect(scene.logged.count { $0 == "the location service permits positions" } == 2, "\(scene.logged)")
    }
  }

  @Test("A position is requested as soon as it is permitted, and once") func grant() throws {
    for settings in ["interval = 10 min\n", "distance = 50 m\nstationary = every 1 h\n"] {
      var scene = try Scene(settings)
      func requests() -> Int { scene.calls.count { $0 == .requestLocation } }
      // Nothing was refused.
      scene.receive(.permitted)
      let isForSingle = requests() == 1
      scene.receive(.requestFailed(isPermitted: false))
      scene.receive(.permitted)
      // Updates, which go on, need no request.
      #expect(requests() == (isForSingle ? 2 : 0))
      scene.passSecond()
      scene.receive(.permitted)
      #expect(requests() == (isForSingle ? 2 : 0) && scene.sent.count == 1)
    }
  }

  @Test("After each event nothing is due before time has passed", arguments: ["mqtt://localhost", "http://localhost/"])
  func deadlines(server: String) throws {
    let settings = [
      "", "interval = 10 min\n", "interval = 5 s\nbacklog = 2/s\n", "distance = 50 m\nstationary = every 60 s\n",
    ]
    for (number, settings) in settings.enumerated() {
      for seed: UInt64 in 0..<10 {
        var random = SeededRandomNumberGenerator(seed: seed * 4 + UInt64(number))
        var scene = try Scene(settings, server: server)
        for step in 0..<500 {
          switch Int.random(in: 0..<12, using: &random) {
          case 0: scene.receive(.requestFailed(isPermitted: .random(using: &random)))
          case 1: scene.receive(.permitted)
          case 2: scene.isReachable.toggle()
          case 3: scene.receive(.transport(.failed(.temporary("lost"))))
          case 4: scene.receive(.transport(.failed(.noRoute("no route"))))
          case 5: scene.receive(.routesChanged)
          case 6: scene.acknowledges.toggle()
          case 7: scene.refusals[scene.uplink.queue.upcomingSequence] = Int.random(in: 1...3, using: &random)
          case 8: scene.now = max(scene.now, scene.uplink.deadline ?? scene.now)
          default: scene.passSecond(.random(in: 0...200, using: &random))
          }
          scene.receive(.wake)
          let due = scene.uplink.deadline
          #expect(due.map { $0 > scene.now } ?? true, "seed \(seed), step \(step), `\(settings)`")
          scene.now = scene.now + Milliseconds(UInt64.random(in: 1...500, using: &random))
        }
      }
    }
  }

  @Test("A failure is logged once, with the number of fixes that wait, and its end once") func failures() throws {
    var scene = try Scene("")
    scene.passSecond()
    for _ in 0..<3 { scene.receive(.transport(.failed(.temporary("no answer")))) }
    #expect(scene.logged.filter { $0.hasPrefix("no answer; ") }.count == 1)
    for second in 0..<90 { scene.passSecond(Double(second)) }
    #expect(scene.logged.filter { $0 == "the server takes the fixes again" }.count == 1)
    #expect(scene.uplink.status(utcNanoseconds: 0)["lastError"] == .null)
  }

  @Test("The problems of the disk and of the server are logged once each, and the end of each")
  func problems() throws {
    var scene = try Scene("interval = 1 s\n", server: "http://localhost/")
    for second in 0..<20 { scene.passSecond(Double(second)) }
    scene.disk.isFull = true
    for second in 20..<120 { scene.passSecond(Double(second)) }
    #expect(scene.logged.count == 1 && scene.logged[0].hasPrefix("the queue cannot be written: "), "\(scene.logged)")
    scene.isReachable = false
    scene.receive(.transport(.failed(.temporary("no answer"))))
    for second in 120..<240 { scene.passSecond(Double(second)) }
    scene.isReachable = true
    for second in 240..<360 { scene.passSecond(Double(second)) }
    scene.disk.isFull = false
    for second in 360..<400 { scene.passSecond(Double(second)) }
    let others = scene.logged.dropFirst().filter { !$0.contains("backlog") && !$0.contains("a minute ago") }
    #expect(
      others.map { $0.prefix { $0 != ";" } } == [
        "no answer", "the server takes the fixes again", "the queue is written again",
      ], "\(scene.logged)")
    #expect(scene.uplink.status(utcNanoseconds: 0)["dropped"] == 0)
  }

  @Test("A broker that acknowledges nothing is logged once, and its end when it has taken a fix")
  func mute() throws {
    var scene = try Scene("interval = 1 s\n")
    scene.passSecond()
    scene.acknowledges = false
    for second in 1..<400 { scene.passSecond(Double(second)) }
    let status = scene.uplink.status(utcNanoseconds: 0)
    #expect(status["lastError"]?.string?.contains("has not acknowledged a fix") == true)
    scene.acknowledges = true
    for second in 400..<560 { scene.passSecond(Double(second)) }
    let lines = scene.logged.filter { !$0.contains("backlog") && !$0.contains("a minute ago") }
    #expect(lines.count == 2, "\(lines)")
    #expect(lines.first?.contains("has not acknowledged a fix for 120 s") == true)
    #expect(lines.last == "the server takes the fixes again")
  }

  @Test("A refusal of fixes is in the status until one is taken; it ends the failure before it")
  func refusalInStatus() throws {
    var scene = try Scene("interval = 1 s\n", server: "http://localhost/")
    scene.receive(.transport(.failed(.temporary("HTTP 500"))))
    scene.refusals = [1: 3, 2: 1]
    var errors = [scene.uplink.status(utcNanoseconds: 0)["lastError"]?.string]
    for second in 0..<20 {
      scene.passSecond(Double(second))
      let status = scene.uplink.status(utcNanoseconds: 0)
      let error = status["lastError"]?.string
      #expect(status["connected"] == .bool(error == nil))
      if errors.last != error { errors.append(error) }
    }
    #expect(errors == ["HTTP 500", "the server refuses a fix: HTTP 400", nil], "\(errors)")
    #expect(scene.uplink.status(utcNanoseconds: 0)["dropped"] == 1)
  }

  @Test("A backlog that is sent is shown a line a minute, and its end once; the status has the last success")
  func progress() throws {
    var scene = try Scene("interval = 1 s\nbacklog = oldest-first 1/s\n")
    scene.isReachable = false
    scene.receive(.transport(.failed(.temporary("no answer"))))
    for second in 0..<170 { scene.passSecond(Double(second)) }
    #expect(scene.uplink.status(utcNanoseconds: 0)["lastSuccess"] == .null)
    #expect(!scene.logged.contains { $0.contains("a minute ago") })
    scene.isReachable = true
    for second in 0..<300 { scene.passSecond(Double(second)) }
    // About 200 fixes at one per second, while new ones are sent first; it is a backlog until a hundred are left.
    let lines = scene.logged.filter { $0.contains(" fixes wait; a minute ago there were ") }
    #expect((1...3).contains(lines.count), "\(scene.logged)")
    #expect(scene.logged.count { $0 == "the backlog is sent" } == 1)
    let status = scene.uplink.status(utcNanoseconds: 0)
    #expect(status["queued"] == 0 || status["queued"] == 1)
    #expect(status["lastSuccess"]?.string?.hasPrefix("2027-01-15T08:") == true)
  }

  @Test("A fix that HTTP refuses at first arrives before the next one of its batch") func orderOfHTTP() throws {
    var scene = try Scene("", server: "http://localhost/")
    scene.refusals = [1: 2]
    scene.now = scene.now.moved(by: 10)
    let batch = (0..<5).map { scene.location(seconds: Double(4 - $0)) }
    scene.receive(.locations(batch))
    for _ in 0..<5 {
      scene.now = scene.now.moved(by: 1)
      scene.receive(.wake)
    }
    #expect(scene.sent.map(\.0) == [1, 2, 3, 4, 5])
    #expect(scene.uplink.status(utcNanoseconds: 0)["dropped"] == 0)
  }

  @Test("An outage that is longer than the age of the queue fills no log") func logOfLosses() throws {
    var scene = try Scene("queue = 64 kB, 60 s\n")
    scene.isReachable = false
    scene.receive(.transport(.failed(.temporary("no answer"))))
    for second in 0..<1500 { scene.passSecond(Double(second)) }
    let lines = scene.logged.filter { $0.contains("fixes are lost") }
    #expect((2...3).contains(lines.count), "\(lines)")
    let status = scene.uplink.status(utcNanoseconds: 0)
    guard case .integer(let dropped)? = status["dropped"], case .integer(let queued)? = status["queued"] else {
      Issue.record("\(status)")
      return
    }
    #expect((60...62).contains(queued) && dropped + queued >= 1499)
  }

  @Test("Regions of the server are monitored, their crossings are sent, and both outlive the program") func regions()
    throws
  {
    var scene = try Scene("allow = setWaypoints clearWaypoints\n")
    scene.passSecond()
    scene.command(
      #"{"_type":"cmd","action":"setWaypoints","waypoints":{"waypoints":[{"desc":"yard","lat":48,"lon":11,"rad":150,"tst":7}]}}"#
    )
    #expect(
      scene.calls.contains {
        if case .startMonitoring(let region, _) = $0 { region.identifier == "yard" } else { false }
      })
    #expect(scene.published.contains { $0.topic.hasSuffix("/waypoints") })
    scene.receive(.crossed(region: "yard", isEntry: true))
    for second in 0..<3 { scene.passSecond(Double(second)) }
    #expect(try scene.types().contains("transition"))
    let inside = try scene.sent.compactMap { try JSON(parsing: $0.1.body)["inregions"] }
    #expect(inside.contains(["yard"]))
    // The next run monitors it again.
    var next = try Scene("allow = setWaypoints clearWaypoints\n", stored: scene.stored)
    #expect(
      next.calls.contains {
        if case .startMonitoring(let region, _) = $0 { region.identifier == "yard" } else { false }
      })
    next.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
    #expect(
      next.calls.contains { if case .stopMonitoring(let region) = $0 { region.identifier == "yard" } else { false } })
    let regions = RegionTable(next.stored?["regions"] ?? .null)
    #expect(regions.waypoints == [])
  }

  @Test("Commands that are not allowed do nothing and are logged; reportLocation requests one") func commands() throws {
    var scene = try Scene("distance = 100 km\nallow = reportLocation setConfiguration\n")
    scene.passSecond()
    let count = scene.sent.count
    scene.command(#"{"_type":"cmd","action":"clearWaypoints"}"#)
    #expect(scene.logged.contains { $0.contains("clearWaypoints is not allowed") })
    scene.command(#"{"_type":"cmd","action":"reportLocation"}"#)
    #expect(scene.calls.contains(.requestLocation))
    scene.passSecond()
    scene.passSecond()
    #expect(scene.sent.count == count + 1)
    scene.command(#"{"_type":"cmd","action":"setConfiguration","configuration":{"locatorInterval":600}}"#)
    #expect(scene.calls.contains(.stopUpdatingLocation) && scene.stored?["intervalSeconds"] == 600.0)
  }

  private static let yard =
    #"{"_type":"cmd","action":"setWaypoints","waypoints":{"waypoints":[{"desc":"yard","lat":48,"lon":11,"rad":150,"tst":7}]}}"#

  private func isRequested(_ scene: Scene) -> Int { scene.calls.count { $0 == .requestLocation } }

  @Test("A crossing that started the program has the place and the time of the next location") func crossingAtStart()
    throws
  {
    var scene = try Scene("interval = 1 h\nallow = setWaypoints\n")
    scene.command(Self.yard)
    // The program is killed after the crossing, before a location arrived.
    var next = try Scene("interval = 1 h\nallow = setWaypoints\n", stored: scene.stored)
    next.receive(.crossed(region: "yard", isEntry: false))
    #expect(try isRequested(next) == 2 && next.types() == [])
    var last = try Scene("interval = 1 h\nallow = setWaypoints\n", stored: next.stored)
    #expect(isRequested(last) == 2)
    last.passSecond(500)
    last.passSecond(500)
    let transitions = try last.sent.map { try JSON(parsing: $0.1.body) }.filter { $0["_type"] == "transition" }
    #expect(transitions.count == 1 && transitions.first?["event"] == "leave")
    #expect(transitions.first?["tst"] == 1_800_000_001 && transitions.first?["acc"] == 3)
    // Once: the next run does not send it again.
    #expect(last.stored?["crossings"] == nil)
  }

  @Test("A state that differs from the last run's is a crossing, once") func crossingWithoutEvent() throws {
    var scene = try Scene("allow = setWaypoints\n")
    scene.command(Self.yard)
    scene.receive(.determined(region: "yard", isInside: true))
    scene.passSecond()
    scene.passSecond()
    #expect(try !scene.types().contains("transition"))
    var next = try Scene("allow = setWaypoints\n", stored: scene.stored)
    next.receive(.determined(region: "yard", isInside: false))
    next.receive(.crossed(region: "yard", isEntry: false))
    next.passSecond(500)
    next.passSecond(500)
    let transitions = try next.sent.map { try JSON(parsing: $0.1.body) }.filter { $0["_type"] == "transition" }
    #expect(transitions.map { $0["event"] } == ["leave"])
    next.receive(.crossed(region: "yard", isEntry: true))
    next.passSecond(0)
    next.passSecond(0)
    #expect(try next.types().count { $0 == "transition" } == 2)
  }

  @Test("A crossing without a location within a minute is at the border") func crossingWithoutLocation() throws {
    var scene = try Scene("allow = setWaypoints\n")
    scene.command(Self.yard)
    scene.receive(.crossed(region: "yard", isEntry: true))
    for _ in 0..<62 {
      scene.now = scene.now.moved(by: 1)
      scene.receive(.wake)
    }
    let transitions = try scene.sent.map { try JSON(parsing: $0.1.body) }.filter { $0["_type"] == "transition" }
    #expect(transitions.count == 1 && transitions.first?["acc"] == 150)
  }

  @Test("setWaypoints adds to the regions that are set; a repeated command writes nothing") func merged() throws {
    var scene = try Scene("allow = setWaypoints\n")
    scene.command(Self.yard)
    scene.stored = nil
    scene.command(Self.yard)
    #expect(scene.stored == nil)
    scene.command(Self.yard.replacing("yard", with: "home"))
    scene.command(Self.yard.replacing("150", with: "200"))
    let regions = RegionTable(scene.stored?["regions"] ?? .null).waypoints
    #expect(regions.map(\.name) == ["home", "yard"] && regions.map(\.radiusMetres) == [150, 200])
    for number in 0..<30 { scene.command(Self.yard.replacing("yard", with: "n\(number)")) }
    #expect(RegionTable(scene.stored?["regions"] ?? .null).waypoints.count == RemoteCommand.waypointLimit)
  }

  @Test("A refused subscription to commands is logged once, and its end once") func refusedSubscription() throws {
    var scene = try Scene("allow = reportLocation\n")
    for refusal in ["no subscription", "no subscription", nil, nil, "no subscription"] {
      scene.receive(.transport(.subscribed(refusal: refusal)))
    }
    let again = "the broker takes the subscription to commands again"
    #expect(scene.logged.filter { $0.contains("subscription") } == ["no subscription", again, "no subscription"])
  }

  @Test("A server cannot fill the log with commands that are refused") func floodOfCommands() throws {
    var scene = try Scene("")
    for _ in 0..<1000 { scene.command("{}") }
    #expect(scene.logged.count { $0.contains("not carried out") } == 10)
    for _ in 0..<60 {
      scene.now = scene.now.moved(by: 1)
      scene.command("{}")
    }
    #expect((11...17).contains(scene.logged.count { $0.contains("not carried out") }))
  }

  @Test("Updates pause at rest only if a distance says when a fix is due") func pauses() throws {
    #expect(try Scene("interval = 1 s\n").calls.contains(.setPausesAutomatically(false)))
    #expect(try Scene("interval = 1 s\ndistance = 20 m\n").calls.contains(.setPausesAutomatically(true)))
  }

  @Test("A stored table with damaged rows gives the others") func table() {
    var table = RegionTable()
    let waypoints = (1...3).map {
      Waypoint(name: "r\($0)", latitudeDegrees: Double($0), longitudeDegrees: 0, radiusMetres: 100, madeSeconds: 0)
    }
    table.set(waypoints)
    table.set([waypoints[1]])
    #expect(table.waypoints == [waypoints[1]] && table.number(of: "r2") == 2 && table.number(of: "r1") == nil)
    #expect(table.waypoint(1) == waypoints[0])
    guard case .array(var rows) = table.json else { return }
    rows[0] = ["number": 1e300, "name": "x"]
    let read = RegionTable(.array(rows))
    #expect(read.waypoints == [waypoints[1]])
  }

  @Test("The command line") func options() throws {
    #expect(try UplinkOptions(["--config", "/x"]).configuration == "/x")
    #expect(try UplinkOptions(["--config=/y", "--dry-run"]) == UplinkOptions(["--dry-run", "--config", "/y"]))
    #expect(try UplinkOptions(["status", "--json"]).mode == .status(isJSON: true))
    for words in [["--json"], ["--config"], ["start"]] {
      #expect(throws: UplinkFailure.self) { try UplinkOptions(words) }
    }
  }
}
