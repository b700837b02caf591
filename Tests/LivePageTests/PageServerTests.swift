// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Testing
import sextant

/// A server with a page of a few bytes, in virtual time.
private struct Scene {
  static let token = "0123456789abcdef0123456789abcdef"
  var server: PageServer
  var now = Instant(nanoseconds: 1_000_000_000)

  init(isLoopback: Bool = true, allowsControl: Bool = false) {
    server = PageServer(
      files: PageFiles(html: Array("<p>".utf8), style: Array("p{}".utf8), script: Array("1".utf8)),
      access: PageAccess(isLoopback: isLoopback, allowsControl: allowsControl, token: Self.token))
  }

  mutating func wait(_ milliseconds: UInt64) {
    now += Milliseconds(milliseconds)
    server.wake(at: now)
  }

  /// Opens a connection and sends a request.
  mutating func send(_ text: String) -> Int {
    let number = server.connect(at: now) ?? -1
    server.receive(Array(text.utf8).span, from: number, at: now)
    return number
  }

  mutating func get(_ path: String, _ fields: String = "Host: 127.0.0.1:2950\r\n") -> Int {
    send("GET \(path) HTTP/1.1\r\n\(fields)\r\n")
  }

  /// Reads all output of a connection.
  mutating func read(_ number: Int) -> String {
    var text = ""
    while case let output = server.output(of: number), !output.isEmpty {
      text += String(decoding: output, as: UTF8.self)
      server.didWrite(output.count, to: number)
    }
    return text
  }

  /// The status code of the reply to a request.
  mutating func status(_ path: String, _ fields: String = "Host: 127.0.0.1:2950\r\n") -> Int? {
    let number = get(path, fields)
    return Int(read(number).dropFirst("HTTP/1.1 ".utf8.count).prefix(3))
  }

  mutating func post(_ body: String, _ fields: String) -> Int {
    send("POST /control HTTP/1.1\r\nHost: localhost:2950\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }
}

private func event(_ kind: LiveEvent.Kind, _ json: String, name: String? = nil) -> LiveEvent {
  LiveEvent(kind, name: name, json: Array(json.utf8))
}

/// An event with a row of the history.
private func row(_ kind: LiveEvent.Kind, _ second: Int64, _ json: String? = nil) -> LiveEvent {
  LiveEvent(
    kind, json: Array("\(second)".utf8), row: HistoryRow(second: second, json: Array((json ?? "[\(second)]").utf8)))
}

@Suite struct PageServerTests {
  @Test("Another user of this machine needs the token, also where the server is reached from this machine alone")
  func otherUsers() {
    for isLoopback in [true, false] {
      for (path, status) in [
        ("/", 401), ("/events", 401), ("/?token=\(Scene.token)", 200), ("/events?token=\(Scene.token)", 200),
      ] {
        var scene = Scene(isLoopback: isLoopback)
        let number = scene.server.connect(isOwnUser: false, at: scene.now) ?? -1
        let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:2950\r\n\r\n"
        scene.server.receive(Array(request.utf8).span, from: number, at: scene.now)
        #expect(scene.read(number).hasPrefix("HTTP/1.1 \(status)"), "\(path)")
      }
    }
  }

  @Test("The page, its style and its script are served, and the connection is closed")
  func files() {
    var scene = Scene()
    for (path, type, body) in [
      ("/", "text/html", "<p>"), ("/page.css", "text/css", "p{}"), ("/page.js", "text/javascript", "1"),
    ] {
      let number = scene.get(path)
      let reply = scene.read(number)
      #expect(reply.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(reply.contains("Content-Type: \(type)"))
      #expect(reply.contains("Content-Security-Policy: default-src 'none';"))
      #expect(reply.hasSuffix("\r\n\r\n\(body)"))
      #expect(scene.server.isOver(number))
    }
    #expect(scene.status("/other") == 404)
    let posted = scene.send("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(scene.read(posted).hasPrefix("HTTP/1.1 405 "))
  }

  @Test("HEAD has the reply of GET without its content, and starts no stream (RFC 9110, section 9.3.2)")
  func heads() {
    var scene = Scene()
    for path in ["/", "/page.css", "/page.js", "/other"] {
      let head = scene.send("HEAD \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let text = scene.read(head)
      let whole = scene.get(path, "Host: localhost\r\n")
      #expect(text.hasPrefix("HTTP/1.1 \(path == "/other" ? 404 : 200) ") && text.hasSuffix("\r\n\r\n"), "\(path)")
      #expect(scene.read(whole).hasPrefix(text))
      #expect(scene.server.isOver(head))
    }
    let events = scene.send("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(scene.read(events).contains("Content-Type: text/event-stream\r\n"))
    #expect(scene.server.isOver(events) && scene.server.pages == 0)
    let control = scene.send("HEAD /control HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(scene.read(control).hasPrefix("HTTP/1.1 404 "))
    #expect(scene.read(scene.send("HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n")).hasSuffix("\r\n\r\n"))
  }

  @Test("A target in absolute form must name this computer, as a Host field must")
  func absoluteForm() {
    var scene = Scene()
    #expect(scene.status("http://127.0.0.1:2950/") == 200)
    #expect(scene.status("http://evil.example/") == 421)
  }

  @Test("A new page gets the last event of each kind, and then each event")
  func events() {
    var scene = Scene()
    scene.server.publish(event(.end, "former source"))
    scene.server.publish(event(.hello, "{}"))
    scene.server.publish(event(.fix, "1"))
    scene.server.publish(event(.fix, "2"))
    scene.server.publish(event(.notice, "old"))
    let number = scene.get("/events")
    #expect(scene.server.pages == 1)
    let start = scene.read(number)
    #expect(start.hasSuffix("\r\n\r\nevent: hello\ndata: {}\n\nevent: fix\ndata: 2\n\n"))
    #expect(start.contains("Content-Type: text/event-stream"))
    scene.server.publish(event(.fix, "3"))
    #expect(scene.read(number) == "event: fix\ndata: 3\n\n")
    scene.server.disconnected(number)
    #expect(scene.server.pages == 0)
  }

  @Test("After a session a page gets its source and history, and no event or end of it")
  func secondVisit() {
    var scene = Scene()
    scene.server.begin(event(.hello, "1"), of: "ttyACM0")
    scene.server.publish(row(.fix, 100))
    scene.server.publish(event(.receiver, "M10"))
    scene.server.leave()
    let second = scene.get("/events")
    #expect(
      scene.read(second).hasSuffix(
        "\r\n\r\nevent: hello\ndata: 1\n\nevent: history\ndata: {\"fixes\":[[100]],\"skies\":[]}\n\n"))
    scene.server.begin(event(.hello, "2"), of: "ttyACM0")
    scene.server.publish(row(.fix, 160))
    #expect(scene.read(second) == "event: hello\ndata: 2\n\nevent: fix\ndata: 160\n\n")
    let third = scene.get("/events")
    #expect(scene.read(third).contains("\"fixes\":[[100],[160]]"))
    scene.server.begin(event(.hello, "3"), of: "ttyACM1")
    let other = scene.get("/events")
    #expect(scene.read(other).hasSuffix("\r\n\r\nevent: hello\ndata: 3\n\n"))
  }

  @Test("A page that was there gets the seconds that it has missed, and an end stays for the next pages")
  func missedSeconds() {
    var scene = Scene()
    scene.server.begin(event(.hello, "1"), of: "drive.ubx")
    for second in 100..<130 {
      scene.server.publish(row(.fix, Int64(second)))
      scene.server.publish(row(.sky, Int64(second)))
    }
    scene.server.publish(event(.end, "over"))
    let page = scene.get("/events?since=126")
    #expect(
      scene.read(page).hasSuffix(
        "event: history\ndata: {\"fixes\":[[127],[128],[129]],\"skies\":[]}\n\nevent: fix\ndata: 129\n\n"
          + "event: sky\ndata: 129\n\nevent: end\ndata: over\n\n"))
    let whole = scene.get("/events?since=x")
    #expect(scene.read(whole).contains("[129]],\"skies\":[[100],[110],[120]]}"))
  }

  @Test("The history is one hour, has one row of a second, and begins anew when the time jumps back")
  func boundedHistory() {
    var scene = Scene()
    scene.server.begin(event(.hello, "1"), of: "a")
    for second in 0..<10_000 {
      scene.server.publish(row(.fix, Int64(second)))
      scene.server.publish(row(.fix, Int64(second), "[\(second).5]"))
      // A late event for an earlier second is not charted.
      scene.server.publish(row(.fix, Int64(second) - 3))
    }
    let number = scene.get("/events")
    let text = scene.read(number)
    let rows = text.split(separator: ",").count { $0.contains(".5]") }
    #expect((3600...3660).contains(rows))
    #expect(!text.contains("[9996],") && text.contains("[9999.5]]"))
    scene.server.publish(row(.fix, 5000))
    let second = scene.get("/events")
    #expect(scene.read(second).contains("{\"fixes\":[[5000]],"))
    scene.server.publish(row(.fix, .max / 1_000_000_000))
    scene.server.publish(row(.sky, .min / 1_000_000_000))
    let third = scene.get("/events")
    #expect(scene.read(third).contains("{\"fixes\":[],\"skies\":[["))
  }

  @Test("A message goes to the pages that have opened it")
  func openedMessages() {
    var scene = Scene()
    let (with, without) = (scene.get("/events?open=UBX-NAV-PVT,NMEA-GGA"), scene.get("/events"))
    _ = (scene.read(with), scene.read(without))
    #expect(scene.server.openedMessages == ["UBX-NAV-PVT", "NMEA-GGA"])
    scene.server.publish(event(.message, "1", name: "UBX-NAV-PVT"))
    #expect(scene.read(with) == "event: message\ndata: 1\n\n")
    #expect(scene.read(without) == "")
  }

  @Test("For a page that does not read, the newest event of each kind waits")
  func slowReader() {
    var scene = Scene()
    let number = scene.get("/events")
    let first = scene.server.output(of: number).count
    for index in 0..<10_000 {
      scene.server.publish(event(.fix, "\(index)"))
      scene.server.publish(event(.sky, "\(index)"))
    }
    #expect(scene.server.output(of: number).count == first)
    let text = scene.read(number)
    #expect(text.hasSuffix("event: fix\ndata: 9999\n\nevent: sky\ndata: 9999\n\n"))
    #expect(text.utf8.count < first + 100)
  }

  @Test("A page gets a heartbeat after 15 s, and one that reads nothing is closed after two")
  func heartbeat() {
    var scene = Scene()
    let number = scene.get("/events")
    _ = scene.read(number)
    scene.wait(14_999)
    #expect(scene.read(number) == "")
    scene.wait(1)
    #expect(scene.read(number) == ": \n\n")
    scene.server.publish(event(.fix, "1"))
    scene.wait(15_000)
    #expect(!scene.server.isOver(number))
    scene.wait(15_000)
    #expect(scene.server.isOver(number))
  }

  @Test("A request has 10 s, and a connection without a byte is closed without a reply")
  func slowRequest() {
    var scene = Scene()
    let half = scene.send("GET / HT")
    let silent = scene.server.connect(at: scene.now) ?? -1
    scene.wait(9_999)
    #expect(!scene.server.isOver(half))
    scene.wait(1)
    #expect(scene.read(half).hasPrefix("HTTP/1.1 408 "))
    #expect(scene.server.isOver(silent))
  }

  @Test("Of 1,000 connections 64 are served, and all others are refused or not accepted")
  func manyConnections() {
    var scene = Scene()
    var served: [Int] = []
    var refused = 0
    for _ in 0..<1000 {
      let number = scene.get("/events")
      if number < 0 { continue }
      if scene.read(number).hasPrefix("HTTP/1.1 200 ") { served.append(number) } else { refused += 1 }
    }
    #expect(served.count == 64)
    #expect(refused == 64)
    for number in served { scene.server.disconnected(number) }
    let next = scene.server.connect(at: scene.now)
    #expect(next != nil)
  }

  @Test("Connections of other users, with or without a request, do not keep the owner from the page")
  func otherUsersConnections() {
    var scene = Scene()
    for _ in 0..<1000 { _ = scene.server.connect(isOwnUser: false, at: scene.now) }
    let further = scene.server.connect(isOwnUser: false, at: scene.now)
    let status = scene.status("/")
    #expect(further == nil && status == 200)
  }

  @Test("Another host in the request is refused, so that a foreign name cannot reach the page")
  func hosts() {
    var scene = Scene()
    for host in ["127.0.0.1", "127.0.0.1:2950", "localhost:8080", "[::1]:2950", "LOCALHOST"] {
      #expect(scene.status("/", "Host: \(host)\r\n") == 200, "\(host)")
    }
    for host in ["example.org", "localhost.example.org", "127.0.0.1.example.org", "192.168.1.2", "", "[::2]", "a b"] {
      #expect(scene.status("/", "Host: \(host)\r\n") == 421, "\(host)")
    }
    #expect(scene.status("/", "") == 421)
    var open = Scene(isLoopback: false)
    for host in ["192.168.1.2:2950", "board:2950", "board.local", "[fe80::1]:2950"] {
      #expect(open.status("/?token=\(Scene.token)", "Host: \(host)\r\n") == 200, "\(host)")
    }
    for host in ["example.org", "evil.\u{301}example", "evil\u{600}.example"] {
      #expect(open.status("/?token=\(Scene.token)", "Host: \(host)\r\n") == 421, "\(host)")
    }
  }

  @Test("A request of another page is refused")
  func origins() {
    var scene = Scene()
    let host = "Host: localhost:2950\r\n"
    #expect(scene.status("/events", host + "Origin: http://localhost:2950\r\n") == 200)
    #expect(scene.status("/events", host + "Origin: http://localhost:3000\r\n") == 403)
    #expect(scene.status("/events", host + "Origin: null\r\n") == 403)
    #expect(scene.status("/events", host + "Sec-Fetch-Site: cross-site\r\n") == 403)
    #expect(scene.status("/events", host + "Sec-Fetch-Site: same-origin\r\n") == 200)
    #expect(scene.status("/", host + "Sec-Fetch-Site: cross-site\r\n") == 200)
  }

  @Test("Reading at another address than one of this computer needs the token")
  func readingToken() {
    var scene = Scene(isLoopback: false)
    #expect(scene.status("/") == 401)
    #expect(scene.status("/events?token=\(Scene.token.dropLast())0") == 401)
    #expect(scene.status("/events?token=\(Scene.token)") == 200)
    #expect(scene.status("/page.js") == 200)
  }

  @Test("A change of settings needs --control and the token in its field")
  func control() {
    let token = "X-Sextant-Token: \(Scene.token)\r\n"
    var without = Scene()
    let refused = without.post("{}", token)
    #expect(without.read(refused).hasPrefix("HTTP/1.1 404 "))
    var scene = Scene(allowsControl: true)
    for fields in ["", "X-Sextant-Token: x\r\n"] {
      let number = scene.post("{}", fields)
      #expect(scene.read(number).hasPrefix("HTTP/1.1 401 "))
    }
    let foreign = scene.post("{}", token + "Origin: http://example.org\r\n")
    #expect(scene.read(foreign).hasPrefix("HTTP/1.1 403 "))
    #expect(scene.server.takeRequests().isEmpty)
    let number = scene.post("{\"set\":{}}", token + "Origin: http://localhost:2950\r\n")
    let requests = scene.server.takeRequests()
    #expect(requests == [ControlRequest(connection: number, body: Array("{\"set\":{}}".utf8))])
    #expect(scene.server.takeRequests().isEmpty)
    scene.server.answer(requests[0], .badRequest, "no setting", at: scene.now)
    #expect(scene.read(number).hasSuffix("\r\n\r\nno setting\n"))
    #expect(scene.server.isOver(number))
  }

  @Test("The body of a change is read into settings")
  func controlBody() throws {
    let body = try ControlBody(Array(#"{"set":{"CFG-RATE-MEAS":200,"model":"sea","CFG-X":true,"a":0.5}}"#.utf8))
    #expect(body.words == ["CFG-RATE-MEAS=200", "model=sea", "CFG-X=1", "a=0.5"])
    for text in ["", "{", "[]", "{}", #"{"set":{}}"#, #"{"set":{"a":null}}"#, #"{"set":{"a":[1]}}"#] {
      #expect(throws: ControlBody.Problem.self) { try ControlBody(Array(text.utf8)) }
    }
  }
}
