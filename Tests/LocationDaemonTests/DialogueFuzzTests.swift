// SPDX-License-Identifier: Apache-2.0
import GPSD
import Glibc
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import SystemPackage
import TestSupport
import Testing

@testable import LocationService
@testable import sextantd

/// Valid messages with extreme and contradictory values, in sequences, from many clients at once, against the whole socket side of
/// the daemon: both forms of the location socket, gpsd's port, its control socket, and clients of NMEA.
///
/// SEXTANT_FUZZ_MESSAGES is the number of messages; with 2000000, `make test SANITIZE=address FILTER=DialogueFuzzTests` sends two million
/// under the address sanitizer.
@Suite("Dialogues of hostile programs with the daemon", .serialized)
struct DialogueFuzzTests {
  @Test("Every template of a message is one that the service understands")
  func templates() throws {
    var random = SplitMix(seed: 7)
    for template in Dialogue.actions {
      let text = "{\"number\":1,\"action\":\(Dialogue.filled(template, &random, isPlain: true))}"
      let json = try JSON(parsing: Array(text.utf8))
      #expect(throws: Never.self, "\(text)") { let _: ClientMessage = try json.decode() }
    }
    for template in Dialogue.calls {
      #expect(throws: Never.self, "\(template)") {
        _ = try JSON(parsing: Array(Dialogue.filled(template, &random, isPlain: true).utf8))
      }
    }
  }

  @Test(
    "No sequence ends the daemon, its replies are well-formed, and what it holds is bounded",
    arguments: [nil, AuthorizationStatus.authorizedAlways])
  func sequences(authorization: AuthorizationStatus?) throws {
    let count = unsafe getenv("SEXTANT_FUZZ_MESSAGES").flatMap { unsafe Int(String(cString: $0)) } ?? 4000
    let daemon = try FuzzedDaemon(authorization, seed: 1)
    var early = 0
    while daemon.sent < count {
      try daemon.round()
      if early == 0, daemon.sent >= count / 4 { early = FuzzedDaemon.residentKibibytes }
      #expect(daemon.server.allConnections.count <= FuzzedDaemon.clientCount * 2)
      if daemon.problem != nil { break }
    }
    #expect(daemon.problem == nil)
    #expect(daemon.accepted > count / 20, "most messages are refused: the dialogues are not deep")
    let late = FuzzedDaemon.residentKibibytes
    // The sanitizer keeps freed memory for a while.
    #expect(late - early < 256 * 1024, "\(late - early) KiB more after \(daemon.sent) messages")
    print(
      "\(daemon.sent) messages, \(daemon.replies) replies, \(daemon.reconnections) connections, \(daemon.lines) lines of log; "
        + "\(early) KiB resident, then \(late) KiB")
  }
}

/// A small generator of random numbers (Steele and others, 2014).
private struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// The messages: templates in which ~i is an integer, ~s a small one, ~d a number, ~l a coordinate, ~t a text, ~b a truth value.
private enum Dialogue {
  static let integers = [
    "0", "1", "-1", "2", "255", "65536", "2147483647", "-2147483648", "4294967295", "9007199254740993",
    "9223372036854775807", "-9223372036854775808",
  ]
  static let numbers = [
    "0", "-0.0", "5e-324", "1e-9", "0.5", "-2", "-1", "1", "10", "100", "999.9", "1e5", "1e9", "1.7e18", "9.3e18",
    "1e19",
    "1e300", "-1e300", "1.7976931348623157e308", "-1.7976931348623157e308", "9223372036854775807",
  ]
  static let coordinates = ["0", "48.1642", "11.6056", "-90", "90", "180", "-180", "90.001", "-181", "1e12", "1e308"]
  static let texts = [
    "", "a", "hike", "a@b", "../../etc/passwd", "\\u0000", "\\n\\u001b[2J", "ü\\ud83d\\ude00", "NaN",
    String(repeating: "x", count: 300), String(repeating: "y", count: 2048), String(repeating: "z", count: 2049),
  ]

  private static let circle =
    #"{"circle":{"_0":{"centre":{"latitudeDegrees":~l,"longitudeDegrees":~l},"radiusMetres":~d}}}"#
  private static let beacon =
    #"{"beacon":{"_0":{"uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0","major":~s,"minor":~s}}}"#
  private static func region(_ shape: String) -> String {
    #"{"identifier":"~t","shape":\#(shape),"notifiesOnEntry":~b,"notifiesOnExit":~b,"notifiesStateOnDisplay":~b}"#
  }

  /// Actions of programs of Core Location.
  static let actions: [String] =
    [
      #"{"addManager":{"_0":~s}}"#, #"{"addManager":{"_0":~i}}"#, #"{"removeManager":{"_0":~s}}"#,
      #"{"removeManager":{"_0":~i}}"#, #"{"beginLiveUpdates":{"_0":~s,"_1":~s}}"#, #"{"endLiveUpdates":{"_0":~s}}"#,
      #"{"beginSession":{"_0":~s,"goal":~s,"fullAccuracyPurpose":"~t"}}"#, #"{"beginSession":{"_0":~i,"goal":1}}"#,
      #"{"endSession":{"_0":~s}}"#, #"{"beginBackgroundActivity":{"_0":~s}}"#,
      #"{"resumeBackgroundActivity":{"_0":~i}}"#, #"{"endBackgroundActivity":{"_0":~s}}"#,
      #"{"application":{"_0":~s}}"#, #"{"refreshNewest":{}}"#, #"{"refreshHostCapabilities":{}}"#,
      #"{"takeWaitingEvent":{"_0":~i}}"#,
      #"{"answer":{"_0":{"always":{}},"to":{"request":{"always":{}},"text":"~t","isUpgrade":~b}}}"#,
      #"{"openMonitor":{"_0":"m"}}"#, #"{"openMonitor":{"_0":"~t"}}"#,
      #"{"addCondition":{"_0":\#(circle),"identifier":"~t","assuming":~s,"monitor":"m"}}"#,
      #"{"addCondition":{"_0":\#(beacon),"identifier":"~t","assuming":~s,"monitor":"~t"}}"#,
      #"{"removeCondition":{"_0":"~t","monitor":"m"}}"#,
    ]
    + [
      #"{"setDelegate":{"_0":3}}"#, #"{"setDelegate":{}}"#, #"{"setDesiredAccuracy":{"metres":~d}}"#,
      #"{"setDistanceFilter":{"metres":~d}}"#, #"{"setActivity":{"_0":~s}}"#,
      #"{"setPausesAutomatically":{"_0":~b}}"#, #"{"setAllowsBackgroundUpdates":{"_0":~b}}"#,
      #"{"setHeadingFilter":{"degrees":~d}}"#, #"{"setHeadingOrientation":{"_0":~s}}"#, #"{"requestWhenInUse":{}}"#,
      #"{"requestAlways":{}}"#, #"{"requestTemporaryFullAccuracy":{"purpose":"~t","token":~i}}"#,
      #"{"startUpdatingLocation":{}}"#, #"{"stopUpdatingLocation":{}}"#, #"{"requestLocation":{}}"#,
      #"{"allowDeferredUpdates":{"metres":~d,"seconds":~d}}"#, #"{"disallowDeferredUpdates":{}}"#,
      #"{"startSignificantChanges":{}}"#, #"{"stopSignificantChanges":{}}"#, #"{"startVisits":{}}"#,
      #"{"stopVisits":{}}"#, #"{"startHeading":{}}"#, #"{"stopHeading":{}}"#, #"{"showsCalibration":{"_0":~b}}"#,
      #"{"dismissCalibration":{}}"#, #"{"startMonitoring":{"_0":\#(region(circle)),"marginMetres":~d}}"#,
      #"{"startMonitoring":{"_0":\#(region(beacon))}}"#, #"{"stopMonitoring":{"_0":\#(region(circle))}}"#,
      #"{"requestState":{"_0":\#(region(circle))}}"#, #"{"startRanging":{"_0":{"region":{"_0":\#(region(beacon))}}}}"#,
      #"{"stopRanging":{"_0":{"region":{"_0":\#(region(beacon))}}}}"#,
    ].map { #"{"call":{"manager":~s,"_1":\#($0)}}"# }

  /// Calls of the interfaces.
  static let calls: [String] = [
    ("Location.GetStatus", "", ""), ("Location.GetReceivers", "", ""),
    ("Location.RequestLocation", #""desiredAccuracy":~d"#, ""),
    ("Location.Subscribe", #""desiredAccuracy":~d,"distanceFilter":~d"#, "more"),
    ("Location.Stream", #""device":"~t""#, "more"), ("Location.Stream", "", "more"),
    ("Receivers.Lease", #""device":"~t""#, ""), ("Receivers.Lease", "", ""),
    ("Receivers.Feed", #""device":"~t","odometer":{"speed":~d,"ticks":~i,"backward":true}"#, ""),
    ("Receivers.Feed", #""odometer":{"~t":~i}"#, "oneway"), ("Receivers.KeepRecovery", #""recovery":"~t""#, ""),
    ("Time.GetTime", "", ""),
    ("Authorization.List", #""user":~i"#, ""), ("Authorization.List", "", "oneway"),
    ("Authorization.Watch", #""user":~i"#, "more"), ("Authorization.Watch", "", "more"),
    ("Authorization.Answer", #""id":~i,"answer":"always""#, ""),
    ("Authorization.Answer", #""id":~s,"answer":"deny""#, ""),
    ("Authorization.Set", #""name":"~t","status":"denied","accuracy":"full","user":~i"#, ""),
    ("Authorization.SetServices", #""on":~b,"user":~i"#, ""),
    ("Launch.Watch", "", "more"), ("Launch.StartEnded", #""unit":"~t","failure":"~t""#, ""),
    ("Launch.Stopped", #""unit":"~t""#, ""),
  ].map { method, parameters, flag in
    let flags = flag.isEmpty ? "" : #","\#(flag)":true"#
    return #"{"method":"org.sextant.\#(method)","parameters":{\#(parameters)}\#(flags)}"#
  }

  static let open =
    #"{"method":"org.sextant.CoreLocation.Open","parameters":{"version":2,"identifier":"hike","application":1,"#
    + #""showsPrompts":~b,"keys":{"whenInUse":"~t","alwaysAndWhenInUse":"b","temporaryPurposes":{},"startsReduced":~b,"#
    + #""hasLocationMode":~b,"requiresExplicitSession":~b}},"upgrade":true}"#

  static let gpsd = [
    "?VERSION;", "?DEVICES;", "?POLL;\n", "?WATCH;",
    #"?WATCH={"enable":~b,"json":~b,"nmea":~b,"raw":~s,"scaled":~b,"timing":~b,"split24":~b,"pps":~b};"#,
    #"?WATCH={"enable":true,"sextant":{"accuracy":~d,"interval":~d}};"#,
    #"?WATCH={"sextant":{"accuracy":~d}};"#, #"?WATCH={"device":"~t","remote":"~t"};"#, "?DEVICE;",
    #"?DEVICE={"path":"/dev/fuzzed","bps":~i,"parity":"~t","stopbits":~s,"native":~s,"cycle":~d};"#,
    #"?DEVICE={"cycle":~d,"hexdata":"b562060100"};"#, #"?DEVICE={"path":"~t"};"#,
  ]
  static let control = [
    "?devices\n", "+~t\n", "-~t\n", "-/dev/fuzzed\n", "!/dev/fuzzed=$PUBX,00*33\n", "&/dev/fuzzed=b5620a0400000e34\n",
    "&~t=~i\n", "+/dev/null\n",
  ]

  /// A template with random values, or with plain values that are valid in every message.
  static func filled(_ template: String, _ random: inout SplitMix, isPlain: Bool = false) -> String {
    var text = ""
    var bytes = template[...]
    while let mark = bytes.firstIndex(of: "~") {
      text += bytes[..<mark]
      let kind = bytes.index(after: mark)
      guard kind < bytes.endIndex else { break }
      switch bytes[kind] {
      case "i": text += isPlain ? "1" : integers.randomElement(using: &random)!
      case "s": text += isPlain ? "1" : String(Int.random(in: 0...3, using: &random))
      case "d": text += isPlain ? "1.5" : numbers.randomElement(using: &random)!
      case "l": text += isPlain ? "1.5" : coordinates.randomElement(using: &random)!
      case "t": text += isPlain ? "a" : texts.randomElement(using: &random)!
      default: text += isPlain || Bool.random(using: &random) ? "true" : "false"
      }
      bytes = bytes[bytes.index(after: kind)...]
    }
    return text + bytes
  }
}

/// The daemon's side of the sockets, and its clients, in one thread.
private final class FuzzedDaemon {
  static let clientCount = 24
  let server: LocationServer
  private let host: ServiceHost
  private let folder: TemporaryFolder
  private var poller: Poller
  private var random: SplitMix
  private var clients: [FuzzedClient] = []
  private let log = LineCount()
  private(set) var sent = 0
  private(set) var replies = 0
  private(set) var accepted = 0
  private(set) var reconnections = 0
  private(set) var problem: String?
  private var rounds = 0
  private var daemonRounds = 0
  var lines: Int { log.count }

  init(_ authorization: AuthorizationStatus?, seed: UInt64) throws {
    folder = try TemporaryFolder()
    let path = folder.path
    random = SplitMix(seed: seed)
    var settings = ServiceSettings(isRoot: false) { _ in nil }
    settings.isDaemon = true
    settings.stateFolder = "\(path)/state"
    settings.application = .foreground
    settings.authorization = authorization
    let log = log
    host = ServiceHost(app: AppDescription(identifier: "sextantd", keys: UsageKeys()), settings: settings) { _ in
      log.count += 1
    }
    poller = try Poller()
    let listener = try UnixSocket(listeningAt: "\(path)/location", permissions: 0o600)
    let gpsd = try [GPSDClient.Kind.gpsd, .control, .nmea].map { try GPSDListener.listen($0, atPath: "\(path)/\($0)") }
    server = try LocationServer(
      host, listener, policy: DaemonPolicy(LocationPolicy(parsing: nil)), version: "fuzzed",
      gpsd: (gpsd, false), Systemd { _ in nil }, &poller, at: SystemClock.monotonic)
    for number in 0..<Self.clientCount { clients.append(FuzzedClient(number)) }
  }

  static var residentKibibytes: Int {
    guard let text = try? String(contentsOfProc: "/proc/self/statm") else { return 0 }
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
  }

  /// Each client sends some messages, the daemon runs rounds until it has served them, and each client reads.
  func round() throws {
    rounds += 1
    for client in clients {
      if !client.isConnected {
        try client.connect(folder.path)
        reconnections += 1
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) where client.send(&random) { sent += 1 }
    }
    // A round has few turns on a slow machine. The connection of a client that does not read remains ready.
    for _ in 0..<2 * Self.clientCount {
      let events = try poller.wait(deadline: 0)
      serve(events)
      if events.allSatisfy({ $0.connection == nil }), server.deadline != .zero { break }
    }
    for client in clients where client.isConnected {
      // Some clients do not read for some time.
      if client.number % 6 == 5, rounds % 64 != 0 { continue }
      let read = client.read()
      replies += read.replies
      accepted += read.accepted
      problem = problem ?? read.problem
      if Int.random(in: 0..<400, using: &random) == 0 { client.close() }
    }
  }

  /// One round of the daemon.
  private func serve(_ events: [Poller.Event]) {
    daemonRounds += 1
    let monotonic = SystemClock.monotonic
    let utc = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000 + Int64(clamping: monotonic.nanoseconds))
    let now = Moment(monotonic, utc: utc)
    server.handle(events, &poller, at: now)
    if daemonRounds % 4 == 0 {
      let place = Coordinate(latitudeDegrees: 48 + Double(daemonRounds % 1000) * 0.0001, longitudeDegrees: 11)
      host.receive(.published(Location(place, horizontalAccuracyMetres: 3, timestamp: utc)), at: now)
    }
    host.wake(at: now)
    for case .program(let id, let action) in host.round(at: now).actions {
      if case .store(let file, let text) = action {
        try? host.store(of: id)?.store(file, text)
      } else {
        host.receiver(of: id)?.perform(action)
      }
    }
    _ = server.takeCommands(for: 0)
    _ = server.takeAddedDevices()
    server.roundEnded(
      &poller, receivers: { [ReceiverStatus(device: "/dev/fuzzed", isOpen: true)] }, at: now)
  }
}

private final class LineCount: @unchecked Sendable {
  // Sendable: one thread uses it.
  var count = 0
}

/// A client of one of the sockets.
private final class FuzzedClient {
  let number: Int
  private var socket: Handle?
  private var isOpen = false
  private var number64 = 0
  private var received: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// A socket that a class can hold.
  private final class Handle {
    let socket: UnixSocket
    init(_ socket: consuming UnixSocket) { self.socket = socket }
  }

  init(_ number: Int) { self.number = number }

  private enum Kind { case calls, program, gpsd, control, nmea }
  private var kind: Kind {
    switch number % 12 {
    case 0...2: .calls
    case 3...7: .program
    case 8, 9: .gpsd
    case 10: .control
    default: .nmea
    }
  }

  var isConnected: Bool { socket != nil }

  func connect(_ folder: String) throws {
    let name =
      switch kind {
      case .calls, .program: "location"
      case .gpsd: "gpsd"
      case .control: "control"
      case .nmea: "nmea"
      }
    socket = Handle(try UnixSocket(connectingTo: "\(folder)/\(name)"))
    (isOpen, number64, received) = (false, 0, [])
  }

  func close() { socket = nil }

  /// Sends a message. Returns false if it does not fit.
  func send(_ random: inout SplitMix) -> Bool {
    guard let socket else { return false }
    var text: String
    switch kind {
    case .calls: text = Dialogue.filled(Dialogue.calls.randomElement(using: &random)!, &random) + "\0"
    case .program where !isOpen:
      isOpen = true
      text = Dialogue.filled(Dialogue.open, &random) + "\0"
    case .program:
      number64 += 1
      let number =
        Int.random(in: 0..<200, using: &random) == 0 ? Dialogue.integers.randomElement(using: &random)! : "\(number64)"
      text =
        "{\"number\":\(number),\"action\":\(Dialogue.filled(Dialogue.actions.randomElement(using: &random)!, &random))}\0"
    case .gpsd, .nmea: text = Dialogue.filled(Dialogue.gpsd.randomElement(using: &random)!, &random)
    case .control: text = Dialogue.filled(Dialogue.control.randomElement(using: &random)!, &random)
    }
    let bytes = Array(text.utf8)
    switch socket.socket.write(bytes.span) {
    case .bytes(let count) where count == bytes.count: return true
    // After a partial message the rest is meaningless.
    case .bytes, .ended: close()
    case .wouldWait: break
    }
    return false
  }

  /// Reads the received bytes. Each reply must be well-formed.
  func read() -> (replies: Int, accepted: Int, problem: String?) {
    var problem: String?
    reading: while let socket {
      switch socket.socket.read(into: &buffer) {
      case .bytes(let count): received += buffer[..<count]
      case .wouldWait: break reading
      case .ended:
        self.socket = nil
        break reading
      }
    }
    var (replies, accepted) = (0, 0)
    let end: UInt8 = kind == .calls || kind == .program ? 0 : UInt8(ascii: "\n")
    while let place = received.firstIndex(of: end) {
      let message = Array(received[..<place])
      received.removeSubrange(...place)
      replies += 1
      switch kind {
      case .calls, .program, .gpsd:
        if kind == .gpsd, message.first != UInt8(ascii: "{") {
          // A sentence, or a frame in hexadecimal digits.
          accepted += 1
          continue
        }
        guard let json = try? JSON(parsing: message), json.isObject else {
          problem = "no JSON: \(String(decoding: message.prefix(400), as: UTF8.self))"
          continue
        }
        if json["error"] == nil, json["class"] != .string("ERROR") { accepted += 1 }
      case .control, .nmea: accepted += 1
      }
    }
    return (replies, accepted, problem)
  }
}

extension String {
  /// The content of a file of /proc, whose size is unknown.
  fileprivate init(contentsOfProc path: String) throws {
    let descriptor = try unsafe FileDescriptor.open(path, .readOnly)
    defer { try? descriptor.close() }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = try unsafe bytes.withUnsafeMutableBytes { try unsafe descriptor.read(into: unsafe $0) }
    self.init(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
