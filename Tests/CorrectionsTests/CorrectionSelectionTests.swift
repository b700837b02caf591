// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import TestSupport
import Testing

@testable import ReceiverRuntime

/// Casters and other sources in virtual time: the behaviour of each follows from its host's name, and a working stream
/// sends corrections every second.
private struct Casters {
  /// The behaviour of a source on a connection.
  enum Behaviour {
    case works
    /// The connection fails.
    case isDown
    /// It grants the stream and sends nothing.
    case isSilent
    /// It replies with these bytes.
    case replies(String)
    /// It closes the connection without a byte.
    case closes
  }

  var selection: CorrectionSelection
  var behaviour: [String: Behaviour]
  var now = Instant.zero
  private(set) var reports: [String] = []
  /// The attempts: the milliseconds, and the source with its credentials.
  private(set) var attempts: [(at: UInt64, source: CorrectionSource)] = []
  private(set) var open: CorrectionSource?

  init(_ names: [String], _ behaviour: [String: Behaviour], random: UInt64? = nil) {
    selection = CorrectionSelection(names.map { CorrectionSource($0)! }, random: random, at: .zero)
    self.behaviour = behaviour
    selection.set(needed: true, at: now)
    perform()
  }

  private mutating func perform() {
    while let action = selection.nextAction() {
      switch action {
      case .report(let text): reports.append(text)
      case .disconnect: open = nil
      case .connect(let source):
        open = source
        attempts.append((now.milliseconds(since: .zero), source))
        connect(source)
      }
    }
  }

  private mutating func connect(_ source: CorrectionSource) {
    switch behaviour[source.name] ?? .isDown {
    case .isDown: selection.failed("refuses", at: now)
    case .closes:
      selection.connected(awaitsReply: true, at: now)
      selection.closed(hasReplied: false, at: now)
    case .works, .isSilent:
      selection.connected(awaitsReply: true, at: now)
      selection.granted(at: now)
    case .replies(let text):
      selection.connected(awaitsReply: true, at: now)
      var response = NTRIPResponse()
      do throws(NTRIPResponse.Refusal) {
        let bytes = try response.receive(ascii(text).raw)
        selection.granted(at: now)
        if !bytes.isEmpty { selection.received(.unknown, at: now) }
      } catch {
        selection.refused(error, at: now)
      }
    }
  }

  /// Runs to a time in seconds.
  mutating func run(to seconds: UInt64) {
    let end = Instant.zero + Milliseconds(seconds * 1000)
    var second = now.milliseconds(since: .zero) / 1000
    while now < end {
      let next = Instant.zero + Milliseconds((second + 1) * 1000)
      if let due = selection.deadline, due < next {
        now = max(now, due)
        selection.wake(at: now)
      } else {
        now = next
        second += 1
        if let open, case .works = behaviour[open.name] ?? .isDown { selection.received(station: nil, at: now) }
      }
      perform()
    }
  }
}

@Suite("The choice of a source of corrections")
struct CorrectionSelectionTests {
  private static let names = ["ntrip://me:secret@one:1/M", "ntrips://two:2/M", "tcp://three:3"]
  private static let (one, two, three) = ("one:1/M", "two:2/M", "three:3")

  @Test("The first source that works is taken at once, in the order of preference, and kept")
  func order() {
    var casters = Casters(Self.names, [Self.two: .works, Self.three: .works])
    casters.run(to: 600)
    #expect(casters.attempts.map(\.source.name) == [Self.one, Self.two])
    #expect(casters.attempts.map(\.at) == [0, 0])
    #expect(casters.selection.state == .flowing)
    #expect(casters.selection.source?.address == "ntrips://two:2/M")
    #expect(casters.reports == ["one:1/M: refuses; trying again", "two:2/M: corrections arrive"])
    #expect(casters.selection.lastFailure == nil)
  }

  @Test("A stream without bytes for 45 s has stalled, and the next source is taken")
  func stalled() {
    var casters = Casters(Self.names, [Self.one: .works, Self.two: .works])
    casters.run(to: 100)
    casters.behaviour[Self.one] = .isSilent
    casters.run(to: 144)
    #expect(casters.attempts.count == 1)
    casters.run(to: 146)
    #expect(casters.attempts.map(\.at) == [0, 145_000])
    #expect(casters.selection.source?.name == Self.two)
    #expect(casters.reports.dropFirst().first == "one:1/M: has sent nothing for 45 s; trying again")
    // A working source is kept; when it fails, the order applies again.
    casters.behaviour[Self.one] = .works
    casters.run(to: 400)
    #expect(casters.attempts.count == 2)
    casters.selection.failed("the connection was closed", at: casters.now)
    casters.run(to: 402)
    #expect(casters.selection.source?.name == Self.one)
  }

  @Test("If every source fails, each is tried at growing intervals up to a minute, and named once")
  func backOff() {
    var casters = Casters(Self.names, [:])
    #expect(casters.selection.state == .waiting)
    casters.run(to: 3600)
    for name in [Self.one, Self.two, Self.three] {
      let times = casters.attempts.filter { $0.source.name == name }.map(\.at)
      let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
      #expect(pauses.prefix(7) == [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000])
      #expect(pauses.dropFirst(6).allSatisfy { $0 == 60_000 })
    }
    #expect(casters.reports.count == 3)
    #expect(casters.selection.lastFailure?.contains("refuses") == true)
  }

  @Test("Pauses are spread by up to a quarter")
  func spread() {
    var pauses: Set<UInt64> = []
    for seed in 0..<50 as Range<UInt64> {
      var casters = Casters(["tcp:h:1"], [:], random: seed)
      casters.run(to: 300)
      let times = casters.attempts.map(\.at)
      let found = zip(times, times.dropFirst()).map { $1 - $0 }
      for (pause, exact) in zip(found, [1000, 2000, 4000, 8000] as [UInt64]) {
        #expect((exact...exact + exact / 4).contains(pause))
      }
      pauses.insert(found[3])
    }
    #expect(pauses.count > 10)
  }

  @Test("Nothing is connected without a need, and the end of the need disconnects")
  func need() {
    var selection = CorrectionSelection([.tcp(host: "h", port: 1)], at: .zero)
    #expect(selection.deadline == nil && selection.state == .off)
    selection.wake(at: .zero)
    #expect(selection.nextAction() == nil)
    selection.set(needed: true, at: .zero)
    #expect(selection.nextAction() == .connect(.tcp(host: "h", port: 1)))
    selection.connected(awaitsReply: false, at: .zero)
    selection.received(station: nil, at: .zero)
    selection.set(needed: false, at: .zero + Milliseconds(500))
    #expect(selection.nextAction() == .disconnect)
    #expect(selection.nextAction() == nil && selection.deadline == nil && selection.state == .off)
    // Intermittent demands do not reach the caster more than once a second.
    selection.set(needed: true, at: .zero + Milliseconds(600))
    #expect(selection.nextAction() == nil)
    #expect(selection.deadline == .zero + Milliseconds(1500))
    selection.wake(at: .zero + Milliseconds(1500))
    #expect(selection.nextAction() == .connect(.tcp(host: "h", port: 1)))
    #expect(selection.lastFailure == nil)
  }

  @Test(
    "A caster that sends something else is named once with the next step, and the next source is taken",
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html>", "web page"),
      ("<!DOCTYPE html>\n<html>\n", "not an NTRIP caster"), ("HTTP/1.1 404 Not Found\r\n\r\n", "mount point"),
      ("HTTP/1.1 302 Found\r\n\r\n", "without an address"),
      ("HTTP/1.1 301 Moved\r\nLocation: https://one:1/M\r\n\r\n", "another scheme"),
      ("HTTP/1.1 301 Moved\r\nLocation: http://\r\n\r\n", "not valid"),
      ("HTTP/1.1 301 Moved\r\nLocation: javascript:alert(1)\r\n\r\n", "not valid"),
      ("HTTP/1.1 301 Moved\r\nlocation:  /M\r\n\r\n", "circle"),
      ("HTTP/1.1 307 Moved\r\nLocation: ntrip://other:7/X\r\n\r\n", "other:7/X"),
    ])
  func somethingElse(reply: String, words: String) {
    var casters = Casters(Self.names, [Self.one: .replies(reply), Self.two: .works, "other:7/X": .isDown])
    casters.run(to: 200)
    #expect(casters.selection.source?.name == Self.two)
    let about = casters.reports.filter { $0.hasPrefix("one:1/M: ") }
    #expect(about.count == 1)
    if words == "other:7/X" {
      #expect(casters.attempts.contains { $0.source.name == words })
    } else {
      #expect(about.first?.contains(words) == true, "\(about)")
    }
    #expect(casters.reports.allSatisfy { !$0.contains("secret") })
  }

  @Test("Bytes other than corrections are not a stream: after 45 s a message says so")
  func noise() {
    var casters = Casters(["ntrip://one:1/M"], [Self.one: .replies("ICY 200 OK\r\n\r\nHello, this is not RTCM.")])
    casters.run(to: 46)
    #expect(casters.reports.count == 1)
    #expect(casters.reports.first?.contains("not RTCM 3 corrections") == true)
  }

  @Test("Each reason of a failure is named once, and four of them at most until corrections arrive")
  func reasons() {
    var casters = Casters(["ntrip://one:1/M"], [Self.one: .isDown])
    casters.run(to: 5)
    casters.behaviour[Self.one] = .isSilent
    casters.run(to: 300)
    #expect(casters.reports.count == 2)
    for number in 0..<20 as Range<UInt64> {
      casters.behaviour[Self.one] = .replies("ERROR - \(number)\r\n")
      casters.run(to: 600 + number * 120)
    }
    #expect(casters.reports.count == 4)
    casters.behaviour[Self.one] = .works
    casters.run(to: 4000)
    #expect(casters.reports.last == "one:1/M: corrections arrive again")
  }

  @Test("A connection that is closed without a byte is named with the next step")
  func empty() {
    var casters = Casters(["ntrip://one:1/M"], [Self.one: .closes])
    casters.run(to: 20)
    #expect(casters.reports.count == 1)
    #expect(casters.reports.first?.contains("without an answer") == true)
  }

  @Test("Three redirects are followed, and a circle ends")
  func redirects() {
    func moved(_ to: String) -> Casters.Behaviour { .replies("HTTP/1.1 302 Found\r\nLocation: \(to)\r\n\r\n") }
    var chain: [String: Casters.Behaviour] = [
      Self.one: moved("http://a:5/M"), "a:5/M": moved("/N"), "a:5/N": moved("ntrip://b/M"), "b:2101/M": .works,
    ]
    var casters = Casters(["ntrip://me:secret@one:1/M"], chain)
    casters.run(to: 2)
    #expect(casters.attempts.map(\.source.name) == [Self.one, "a:5/M", "a:5/N", "b:2101/M"])
    #expect(casters.selection.state == .flowing)
    #expect(casters.selection.source?.address == "ntrip://b:2101/M")
    // The password is not sent to another host.
    #expect(casters.attempts.map { $0.source.namesPassword } == [true, false, false, false])
    chain["b:2101/M"] = moved("http://one:1/M")
    casters = Casters(["ntrip://me:secret@one:1/M"], chain)
    casters.run(to: 2)
    #expect(casters.attempts.prefix(4).count == 4)
    #expect(casters.reports.count == 1)
    #expect(casters.reports.first?.contains("circle") == true)
    #expect(casters.attempts.filter { $0.source.name == Self.one }.count == 2)
  }

  @Test("A redirect keeps user and password at the same host and port, and the scheme")
  func credentials() throws {
    let source = try #require(CorrectionSource("ntrips://me:p@c:443/M"))
    #expect(try source.redirected(to: "https://C/N").address == "ntrips://C:443/N")
    #expect(try source.redirected(to: "https://c/N").namesPassword)
    #expect(try source.redirected(to: "/N") == CorrectionSource("ntrips://me:p@c:443/N"))
    #expect(try !source.redirected(to: "https://c:444/N").namesPassword)
    #expect(try !source.redirected(to: "https://x:y@d/N").namesPassword)
    for location in ["http://c:443/N", "ntrip://c/N", "//c/N", "N", "", "/", "https://c:0/N", "/\u{7F}"] {
      #expect(throws: NTRIPResponse.Refusal.self, "\(location)") { try source.redirected(to: location) }
    }
  }

  @Test("Another station is named once for each source")
  func station() {
    var selection = CorrectionSelection([.tcp(host: "h", port: 1)], at: .zero)
    selection.set(needed: true, at: .zero)
    selection.connected(awaitsReply: false, at: .zero)
    _ = selection.nextAction()
    var reports: [String] = []
    for station in [nil, 7, 7, 12, 7, 12, nil, 9] {
      selection.received(station: station, at: .zero)
      while case .report(let text)? = selection.nextAction() { reports.append(text) }
    }
    #expect(reports.count == 1)
    #expect(reports.first?.contains("station 12 now, and came from station 7") == true)
  }

  @Test("The station comes from observations with a correct checksum")
  func stationOfFrames() {
    var queue = CorrectionQueue(lineRate: nil)
    let before = queue.station
    #expect(before == nil)
    // 1077, DF003 0x123; then a 1019, whose bits there are a satellite's.
    queue.receive(Wire.rtcm3([0x43, 0x51, 0x23] + [UInt8](repeating: 0, count: 20)).raw, at: .zero)
    queue.receive(Wire.rtcm3([0x3F, 0xBF, 0xFF] + [UInt8](repeating: 0, count: 20)).raw, at: .zero)
    let after = queue.station
    #expect(after == 0x123)
  }

  @Test("A file that is at its end is followed by the next source, and not repeated before the next need")
  func file() {
    let names: [CorrectionSource] = [.file("a"), .tcp(host: "h", port: 1)]
    var selection = CorrectionSelection(names, at: .zero)
    selection.set(needed: true, at: .zero)
    #expect(selection.nextAction() == .connect(.file("a")))
    selection.opened()
    selection.received(station: nil, at: .zero)
    #expect(selection.deadline?.nanoseconds == .max)
    selection.reachedEnd(at: .zero)
    var actions: [CorrectionSelection.Action] = []
    selection.wake(at: .zero)
    while let action = selection.nextAction() { actions.append(action) }
    #expect(actions.contains(.report("a: end of the corrections")))
    #expect(actions.last == .connect(.tcp(host: "h", port: 1)))
    selection.failed("refuses", at: .zero)
    selection.wake(at: .zero + Milliseconds(5000))
    while let action = selection.nextAction() { actions.append(action) }
    #expect(actions.filter { $0 == .connect(.file("a")) }.isEmpty)
  }

  @Test("Serial lines and both forms of TCP have names")
  func names() {
    #expect(CorrectionSource("serial:/dev/ttyUSB1@57600") == .serial(path: "/dev/ttyUSB1", baud: 57600))
    #expect(CorrectionSource("serial:/dev/a@b@9600") == .serial(path: "/dev/a@b", baud: 9600))
    #expect(CorrectionSource("tcp://h:5") == CorrectionSource("tcp:h:5"))
    let invalid = [
      "serial:/dev/ttyUSB1", "serial:@9600", "serial:/dev/x@0", "serial:/dev/x@fast", "tcp://h", "http://h/M",
    ]
    for name in invalid {
      #expect(CorrectionSource(name) == nil, "\(name)")
    }
    for name in ["serial:/dev/x@9600", "tcp://h:5", "file:a", "fifo:a", "ntrip://c:2101/M", "ntrips://c:2102/M"] {
      #expect(CorrectionSource(name)?.address == name)
    }
  }
}
