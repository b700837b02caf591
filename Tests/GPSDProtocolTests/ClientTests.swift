// SPDX-License-Identifier: Apache-2.0
import GPSD
import Messages
import MonotonicTime
import Receiver
import ReceiverStream
import TestSupport
import Testing

/// The time of a round.
private let noon = UTCTime(day: Day(year: 2026, month: 11, day: 24)!, nanosecondsOfDay: 12 * 3_600_000_000_000)
private let start = Instant.zero

/// A client of a state with one receiver.
struct Scene {
  var state = GPSDState(release: "1.0")
  var client: GPSDClient
  var events: [GPSDClient.Event] = []

  init(_ kind: GPSDClient.Kind = .gpsd, path: String = "/dev/ttyACM0") {
    _ = state.update(
      [GPSDDevice(path: path, isActive: true, version: ["SW", "HW", "PROTVER=34"], bitsPerSecond: 9600)], at: noon)
    client = GPSDClient(kind, state)
  }

  /// Removes the greeting.
  static func greeted() -> Scene {
    var scene = Scene()
    _ = scene.read()
    return scene
  }

  mutating func send(_ bytes: [UInt8]) { events += client.receive(bytes.span, state, at: noon) }
  mutating func send(_ text: String) { send(Array(text.utf8)) }

  /// The text that the client reads.
  mutating func read() -> String {
    let bytes = waiting
    client.didWrite(bytes.count)
    return String(decoding: bytes, as: UTF8.self)
  }

  private var waiting: [UInt8] {
    let output = client.output
    return output.indices.map { output[$0] }
  }

  /// The replies to a request.
  mutating func replies(to request: String) throws -> [JSON] {
    send(request)
    return try read().split(separator: "\r\n").map { try JSON(parsing: Array($0.utf8)) }
  }

  mutating func classes(of request: String) throws -> [String] {
    try replies(to: request).map { $0["class"]?.string ?? "" }
  }
}

@Suite("Requests of gpsd's clients")
struct ClientTests {
  @Test("A client is greeted with VERSION of protocol 3")
  func greeting() throws {
    var scene = Scene()
    let greeting = try JSON(parsing: Array(scene.read().utf8))
    #expect(greeting["class"] == "VERSION")
    #expect(greeting["proto_major"] == 3)
  }

  @Test(
    "Each request has its replies, in the order of gpsd",
    arguments: [
      ("?VERSION;", ["VERSION"]), ("?DEVICES;", ["DEVICES"]), ("?DEVICE;", ["DEVICE"]), ("?POLL;", ["POLL"]),
      ("?WATCH;", ["DEVICES", "WATCH"]), (#"?WATCH={"enable":true,"json":true};"#, ["DEVICES", "WATCH"]),
      (#"?WATCH={"raw":2,"pps":true}"#, ["DEVICES", "WATCH"]), ("?VERSION\n?DEVICES\r\n", ["VERSION", "DEVICES"]),
      ("?VERSION;?DEVICES;?POLL;", ["VERSION", "DEVICES", "POLL"]), ("?FOO;", ["ERROR"]),
      (#"?WATCH={"enable":"no"};?VERSION;"#, ["ERROR", "VERSION"]), ("?WATCH={bad};?VERSION;", ["ERROR", "VERSION"]),
      (#"?WATCH={"enable":true?VERSION;"#, ["ERROR", "VERSION"]),
      (#"?WATCH={"device":"x\#n?VERSION;"#, ["ERROR", "VERSION"]),
      (#"?WATCH={"device":"/dev/none"};"#, ["ERROR"]), (#"?DEVICE={"path":"/dev/none"};"#, ["ERROR"]),
      (#"?DEVICE={"path":""};"#, ["DEVICE"]),
      ("hello ?VERSION;\n?VERSION;", ["VERSION"]), (#"?DEVICE={"path":"/dev/ttyACM0"};"#, ["DEVICE"]),
    ])
  func replies(request: String, expected: [String]) throws {
    var scene = Scene.greeted()
    #expect(try scene.classes(of: request) == expected)
  }

  @Test("Each of many requests in one packet has its reply, in their order, as fast as the client reads")
  func pipelined() throws {
    var scene = Scene.greeted()
    let requests = (0..<1000).map { $0 % 3 == 2 ? "?VERSION;" : "?POLL;" }
    scene.send(requests.joined())
    var classes: [String] = []
    while true {
      let text = scene.read()
      classes += try text.split(separator: "\r\n").map { try JSON(parsing: Array($0.utf8))["class"]?.string ?? "" }
      if !scene.client.canProceed { break }
      #expect(!scene.client.wantsInput)
      _ = scene.client.proceed(scene.state, at: noon)
    }
    #expect(classes == requests.map { $0 == "?POLL;" ? "POLL" : "VERSION" })
    #expect(scene.client.dropped == 0 && scene.client.wantsInput)
  }

  @Test(
    "As in gpsd, the form of the receiver's bytes is any number, and a name may have bytes of another encoding",
    arguments: [
      ("1.0", WatchPolicy.Raw.hexadecimal), ("3", .verbatim), ("-1", .off), ("true", .hexadecimal),
      ("1e300", .verbatim),
    ])
  func tolerated(number: String, raw: WatchPolicy.Raw) throws {
    var scene = Scene.greeted()
    scene.send(Array("?WATCH={\"raw\":\(number),\"remote\":\"caf".utf8) + [0xE9] + Array("\"};".utf8))
    #expect(scene.client.watch.raw == raw && scene.client.watch.isEnabled)
  }

  @Test("Any cut of the requests gives the same replies", arguments: 0..<40)
  func cuts(seed: Int) {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed))
    let words = [
      "?VERSION;", "?DEVICES;", "?WATCH={\"enable\":true,\"json\":true};", "?POLL;", "?WATCH;", "\n", "?", "=", "{",
      "}", "\"",
      "\\", ";", "?DEVICE={\"native\":1}", "GET / HTTP/1.1\r\n", "\u{0}", "é",
      "?WATCH={\"raw\":1,\"sextant\":{\"interval\":60}}",
    ]
    let stream = Array((0..<60).map { _ in words.randomElement(using: &random)! }.joined().utf8)
    var whole = Scene()
    whole.send(stream)
    var cut = Scene()
    var position = 0
    while position < stream.count {
      let end = min(stream.count, position + Int.random(in: 1...7, using: &random))
      cut.send(Array(stream[position..<end]))
      position = end
    }
    #expect(cut.events == whole.events)
    #expect(cut.client.watch == whole.client.watch)
    #expect(cut.read() == whole.read())
  }

  @Test("Random bytes end in replies that are lines of JSON, and the output stays within its limit", arguments: 0..<40)
  func randomBytes(seed: Int) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(seed))
    var scene = Scene()
    for _ in 0..<200 {
      scene.send(Array("?WATCH={".utf8) + random.bytes(.random(in: 0...300, using: &random)) + Array("};\n".utf8))
      #expect(scene.client.output.count <= 65_536)
    }
    for line in scene.read().split(separator: "\r\n") {
      #expect(throws: Never.self) { try JSON(parsing: Array(line.utf8)) }
    }
  }

  @Test("A request of ten kilobytes is refused once, and the next line is served")
  func oversize() throws {
    var scene = Scene.greeted()
    let request = "?WATCH={" + String(repeating: "A", count: 10_000) + ";\n?VERSION;"
    #expect(try scene.classes(of: request) == ["ERROR", "VERSION"])
    #expect(
      try scene.classes(of: "?" + String(repeating: "A", count: 10_000) + ";\n?VERSION;") == ["ERROR", "VERSION"])
  }

  @Test("A browser gets nothing", arguments: ["GET / HTTP/1.1\r\n", "POST /?WATCH={} HTTP/1.1\r\n\r\n?VERSION;"])
  func browser(request: String) {
    var scene = Scene()
    scene.send(request)
    #expect(scene.client.isForeign)
    #expect(scene.read() == "")
  }

  @Test("WATCH keeps what a request does not name, and enables unless it says otherwise")
  func watch() {
    var scene = Scene()
    scene.send(#"?WATCH={"enable":true,"json":true,"scaled":true};"#)
    scene.send(#"?WATCH={"raw":1}"#)
    #expect(scene.client.watch.json)
    #expect(scene.client.watch.raw == .hexadecimal)
    #expect(scene.client.demand == .continuous(accuracyMetres: nil))
    scene.send(#"?WATCH={"enable":false};"#)
    #expect(scene.client.demand == .none)
    #expect(scene.events == [.watchChanged, .watchChanged, .watchChanged])
  }

  @Test("A client that polls needs a location for each poll, and one that reads reports may ask for less")
  func demand() {
    var scene = Scene()
    scene.send("?POLL;?DEVICES;")
    #expect(scene.client.demand == .none)
    scene.send(#"?WATCH={"enable":true}\#n"#)
    #expect(scene.client.demand == .polled(accuracyMetres: nil))
    scene.send(#"?WATCH={"sextant":{"accuracy":100,"interval":60}};"#)
    #expect(scene.client.demand == .every(seconds: 60, accuracyMetres: 100))
    for refused in ["-1", "1e300", "86401", "0"] { scene.send("?WATCH={\"sextant\":{\"interval\":\(refused)}};") }
    for refused in ["-1", "0", "1e300", "20000001", "9223372036854775807"] {
      scene.send("?WATCH={\"sextant\":{\"accuracy\":\(refused)}};")
    }
    #expect(scene.client.demand == .every(seconds: 60, accuracyMetres: 100))
  }

  @Test("A change of a receiver is passed on, with its bytes")
  func change() {
    var scene = Scene()
    scene.send(#"?DEVICE={"bps":19200,"native":0,"hexdata":"B5620a04"}"#)
    var expected = DeviceChange()
    (expected.path, expected.bitsPerSecond, expected.native) = ("/dev/ttyACM0", 19200, 0)
    expected.bytes = [0xB5, 0x62, 0x0A, 0x04]
    #expect(scene.events == [.change(expected)])
  }

  @Test("A client of NMEA is not greeted, and its requests are ignored")
  func nmea() {
    var scene = Scene(.nmea)
    scene.send("?VERSION;GET / HTTP/1.1\r\n")
    #expect(scene.read() == "")
    #expect(scene.client.demand == .continuous(accuracyMetres: nil))
  }
}

@Suite("Reports to gpsd's clients")
struct ReportDeliveryTests {
  private let epoch = EpochReports(
    device: "/dev/ttyACM0", json: Array("J\r\n".utf8), timeOffset: Array("T\r\n".utf8), nmea: Array("N\r\n".utf8))

  @Test(
    "A client gets the forms that it has chosen",
    arguments: [
      (#"?WATCH={"json":true}"#, "J\r\n"), (#"?WATCH={"json":true,"pps":true}"#, "J\r\nT\r\n"),
      (#"?WATCH={"nmea":true}"#, "N\r\n"), (#"?WATCH={"raw":1}"#, ""), ("?WATCH={}", ""), ("?WATCH;", ""),
      (#"?WATCH={"json":true,"device":"/dev/ttyACM0"}"#, "J\r\n"), (#"?WATCH={"json":true,"enable":false}"#, ""),
    ])
  func forms(request: String, expected: String) {
    var scene = Scene()
    scene.send(request)
    _ = scene.read()
    scene.client.deliver(epoch, at: start)
    #expect(scene.read() == expected)
  }

  @Test("A client of one receiver gets nothing of another")
  func device() {
    var scene = Scene()
    scene.send(#"?WATCH={"json":true,"device":"/dev/ttyACM0"}"#)
    _ = scene.read()
    var other = epoch
    other.device = "/dev/ttyACM1"
    scene.client.deliver(other, at: start)
    #expect(scene.read() == "")
  }

  @Test("A client with an interval gets the reports until its location is there, and then none until the next request")
  func interval() {
    var scene = Scene()
    scene.send(#"?WATCH={"json":true,"sextant":{"interval":60}}"#)
    _ = scene.read()
    scene.client.deliver(epoch, at: start)
    #expect(scene.read() == "")
    scene.client.requested(at: start)
    scene.client.deliver(epoch, at: start)
    scene.client.answered(at: start)
    scene.client.deliver(epoch, at: start)
    #expect(scene.read() == "J\r\n")
  }

  @Test("A client that does not read loses whole reports, stops being read, and counts as gone after a minute")
  func stalled() {
    var scene = Scene()
    scene.send(#"?WATCH={"raw":2}"#)
    _ = scene.read()
    let piece = [UInt8](repeating: 1, count: 1000)
    for _ in 0..<100 { scene.client.deliver(verbatim: piece, of: "/dev/ttyACM0", at: start) }
    #expect(scene.client.output.count == 65_000)
    #expect(scene.client.dropped == 35)
    #expect(!scene.client.wantsInput)
    #expect(scene.client.deadline == start + OutputQueue.longestUnread)
    scene.client.didWrite(40_000)
    #expect(scene.client.wantsInput)
    #expect(scene.client.deadline == nil)
  }

  @Test("Sentences go to clients of NMEA if they are the receiver's own, and to clients of raw reports always")
  func sentences() {
    let sentence = Array("$X\r\n".utf8)
    for (request, isOwn, expected) in [
      (#"?WATCH={"nmea":true}"#, true, "$X\r\n"), (#"?WATCH={"nmea":true}"#, false, ""),
      (#"?WATCH={"raw":1}"#, false, "$X\r\n"), (#"?WATCH={"raw":1,"nmea":true}"#, true, "$X\r\n"),
      (#"?WATCH={"json":true}"#, true, ""),
    ] {
      var scene = Scene()
      scene.send(request)
      _ = scene.read()
      scene.client.deliver(sentence: sentence, of: "/dev/ttyACM0", isOwn: isOwn, at: start)
      #expect(scene.read() == expected, "\(request)")
    }
  }

  @Test("A receiver without an epoch has empty reports, as clients take the last one of each list")
  func emptyReports() throws {
    var scene = Scene.greeted()
    let poll = try scene.replies(to: "?POLL;")[0]
    #expect(poll["tpv"] == [["class": "TPV", "device": "/dev/ttyACM0", "mode": 0]])
    #expect(poll["sky"] == [["class": "SKY", "device": "/dev/ttyACM0"]])
  }

  @Test("A receiver that falls asleep is reported, and its reports are not polled any more")
  func asleep() throws {
    var scene = Scene.greeted()
    scene.send(#"?WATCH={"json":true}"#)
    _ = scene.read()
    for report in scene.state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: false)], at: noon) {
      scene.client.deliver(report, at: start)
    }
    let event = try JSON(parsing: Array(scene.read().utf8))
    #expect(event["class"] == "DEVICE")
    #expect(event["activated"] == 0)
    #expect(event["subtype"] == "SW SW,HW HW")
    #expect(try scene.replies(to: "?DEVICE;")[0]["activated"] == nil)
    #expect(try scene.replies(to: "?POLL;")[0]["active"] == 0)
    #expect(scene.state.update([GPSDDevice(path: "/dev/ttyACM0", isActive: false)], at: noon) == [])
    // The rate of the line is not forgotten.
    #expect(scene.state.devices[0].bitsPerSecond == 9600)
  }
}

@Suite("POLL of clients that watch one receiver, or whose receiver rests")
struct PollTests {
  private let paths = ["/dev/ttyACM0", "/dev/ttyACM1"]

  private func objects(_ poll: JSON, _ name: String) -> [JSON] {
    if case .array(let objects)? = poll[name] { objects } else { [] }
  }

  private func devices(isActive: Bool) -> [GPSDDevice] {
    paths.enumerated().map { GPSDDevice(path: $1, number: $0, isActive: isActive) }
  }

  /// Two receivers with a fix each.
  private func scene() -> Scene {
    var scene = Scene.greeted()
    _ = scene.state.update(devices(isActive: true), at: noon)
    for number in paths.indices {
      var fix = Fix()
      fix.kind = .threeD
      (fix.latitudeDegrees, fix.longitudeDegrees) = (48, Double(number))
      (fix.time, fix.source) = (noon, .ubx)
      _ = scene.state.receive(
        EpochAssembler.Report(fix: fix, isUpdate: false), Sky(), of: number, wanted: .init(), received: nil)
    }
    return scene
  }

  @Test("With `device` of WATCH the reply has the reports of that receiver alone, as in gpsd")
  func oneReceiver() throws {
    for (watch, expected) in [
      (#"?WATCH={"enable":true}"#, paths), (#"?WATCH={"enable":true,"device":"/dev/ttyACM0"}"#, [paths[0]]),
      (#"?WATCH={"enable":true,"json":true,"device":"/dev/ttyACM1"}"#, [paths[1]]),
    ] {
      var scene = scene()
      scene.send(watch)
      _ = scene.read()
      let poll = try scene.replies(to: "?POLL;")[0]
      #expect(poll["active"]?.number == Double(expected.count))
      for name in ["tpv", "sky"] {
        #expect(objects(poll, name).compactMap { $0["device"]?.string } == expected, "\(watch) \(name)")
      }
    }
  }

  @Test("A receiver that rests between two polls, or that is searched for the client, counts as active")
  func resting() throws {
    var scene = scene()
    scene.send(#"?WATCH={"enable":true}"#)
    _ = scene.read()
    _ = scene.state.update(devices(isActive: false), keepsReports: true, at: noon)
    let kept = try scene.replies(to: "?POLL;")[0]
    #expect(kept["active"] == 2)
    #expect(objects(kept, "tpv").map { $0["mode"] } == [3, 3])
    scene.state.forget()
    #expect(try scene.replies(to: "?POLL;")[0]["active"] == 0)
    scene.client.began(scene.client.demand, at: start)
    scene.client.requested(at: start)
    let awaited = try scene.replies(to: "?POLL;")[0]
    #expect(awaited["active"] == 2)
    #expect(objects(awaited, "tpv").count == 2)
  }
}

@Suite("Samples of the clock for gpsd's clients")
struct TimingReportTests {
  @Test(
    "a sample of a pulse is PPS with its precision, one of messages is TOFF, and only a client with `pps` gets them")
  func reports() {
    var state = GPSDState(release: "1.0")
    _ = state.update([GPSDDevice(path: "/dev/ttyS0", isActive: true)], at: UTCTime(nanosecondsSince1970: 0))
    let sample = TimeSample(
      source: .pulse, real: UTCTime(nanosecondsSince1970: 1_795_532_400_000_000_000),
      system: UTCTime(nanosecondsSince1970: 1_795_532_399_999_999_100), precision: -20)
    let text = GPSDState.text(of: sample, device: "/dev/ttyS0")
    #expect(
      String(decoding: text, as: UTF8.self)
        == #"{"class":"PPS","device":"/dev/ttyS0","real_sec":1795532400,"real_nsec":0,"clock_sec":1795532399,"#
        + #""clock_nsec":999999100,"precision":-20}"# + "\r\n")
    var messages = sample
    messages.source = .messages
    #expect(String(decoding: GPSDState.text(of: messages, device: "/dev/ttyS0"), as: UTF8.self).contains("TOFF"))
    for (request, isSent) in [(#"?WATCH={"json":true,"pps":true};"#, true), (#"?WATCH={"json":true};"#, false)] {
      var client = GPSDClient(.gpsd, state)
      _ = client.receive(Array(request.utf8).span, state, at: UTCTime(nanosecondsSince1970: 0))
      let before = client.delivered
      client.deliver(timing: text, of: "/dev/ttyS0", at: .zero)
      #expect((client.delivered > before) == isSent)
    }
  }
}
