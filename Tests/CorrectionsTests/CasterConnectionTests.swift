// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import TestSupport
import Testing

@testable import ReceiverRuntime

@Suite("The caster of a base station")
struct CasterConnectionTests {
  private static let caster = CasterConnection.Caster(mount: "BASE", password: nil, version: "1")

  /// The replies to a request, and whether the connection is closed.
  private static func reply(
    _ request: String, password: String? = nil, pieces: Int = .max
  ) -> (text: String, isClosed: Bool, connection: CasterConnection) {
    var caster = caster
    caster.password = password
    var connection = CasterConnection(to: caster, at: .zero)
    var (sent, isClosed) = ([UInt8](), false)
    let bytes = Array(request.utf8)
    var at = 0
    while at < bytes.count {
      let end = at + min(pieces, bytes.count - at)
      for action in connection.receive(Array(bytes[at..<end]).raw, CasterStation()) {
        switch action {
        case .send(let more): sent += more
        case .close: isClosed = true
        case .started: break
        }
      }
      at = end
    }
    return (String(decoding: sent, as: UTF8.self), isClosed, connection)
  }

  private static let fields = "Host: base\r\nUser-Agent: NTRIP test\r\n"
  private static let version2 = "Ntrip-Version: Ntrip/2.0\r\n"

  @Test("Version 2 gets chunks, version 1 plain bytes; whatever the pieces of the request", arguments: [1, 7, 1000])
  func stream(pieces: Int) {
    let new = Self.reply("GET /BASE HTTP/1.1\r\n\(Self.fields)\(Self.version2)\r\n", pieces: pieces)
    #expect(new.text.hasPrefix("HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\n"))
    #expect(new.text.contains("Content-Type: gnss/data\r\n") && new.text.contains("Transfer-Encoding: chunked\r\n"))
    #expect(new.text.hasSuffix("\r\n\r\n") && !new.isClosed)
    #expect(new.connection.deliver([0xD3, 0, 1]) == Array("3\r\n".utf8) + [0xD3, 0, 1] + Array("\r\n".utf8))
    #expect(new.connection.deliver([]).isEmpty)
    let old = Self.reply("GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP old\r\n\r\n$GPGGA,,*00\r\n", pieces: pieces)
    #expect(old.text == "ICY 200 OK\r\n\r\n" && !old.isClosed)
    #expect(old.connection.deliver([0xD3, 0, 1]) == [0xD3, 0, 1])
    #expect(Self.reply("GET /BASE HTTP/1.0\nUser-Agent: NTRIP old\n\r\n", pieces: pieces).text == "ICY 200 OK\r\n\r\n")
    // HTTP/1.0 has no chunks.
    let mixed = Self.reply("GET /BASE HTTP/1.0\r\n\(Self.version2)\r\n", pieces: pieces)
    #expect(mixed.text.hasPrefix("HTTP/1.1 200 OK") && !mixed.text.contains("chunked"))
    #expect(mixed.connection.deliver([1]) == [1])
  }

  @Test("The source table has the station; an unknown mount point is that table in version 1 and 404 in version 2")
  func table() {
    let root = Self.reply("GET / HTTP/1.1\r\n\(Self.fields)\(Self.version2)\r\n")
    #expect(root.text.hasPrefix("HTTP/1.1 200 OK") && root.text.contains("Content-Type: gnss/sourcetable\r\n"))
    #expect(root.text.contains("\r\nSTR;BASE;BASE;RTCM 3.3;;2;;none;;0.00;0.00;0;0;sextant 1;none;N;N;9600;\r\n"))
    #expect(root.text.hasSuffix("ENDSOURCETABLE\r\n") && root.isClosed)
    let old = Self.reply("GET /OTHER HTTP/1.0\r\nUser-Agent: NTRIP old\r\n\r\n")
    #expect(old.text.hasPrefix("SOURCETABLE 200 OK\r\n") && old.text.hasSuffix("ENDSOURCETABLE\r\n") && old.isClosed)
    let body = old.text.split(separator: "\r\n\r\n", maxSplits: 1)
    #expect(body.count == 2 && old.text.contains("Content-Length: \(body[1].utf8.count)\r\n"))
    let unknown = Self.reply("GET /OTHER HTTP/1.1\r\n\(Self.fields)\(Self.version2)\r\n")
    #expect(unknown.text.hasPrefix("HTTP/1.1 404 ") && unknown.isClosed)
    #expect(
      Self.reply("GET http://base:2101/BASE HTTP/1.1\r\n\(Self.fields)\(Self.version2)\r\n").text.contains(" 200 "))
    #expect(Self.reply("GET /?STR;;;;;;;;;;; HTTP/1.1\r\n\(Self.fields)\(Self.version2)\r\n").text.contains("STR;BASE"))
  }

  @Test(
    "Sources, other methods and malformed requests are refused",
    arguments: [
      (
        "POST /BASE HTTP/1.1\r\nHost: b\r\nNtrip-Version: Ntrip/2.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 405 "
      ),
      ("SOURCE secret /BASE\r\nSource-Agent: NTRIP x\r\n\r\n", "ERROR"),
      ("PUT /BASE HTTP/1.1\r\nHost: b\r\n\r\n", "HTTP/1.0 405 "),
      ("GET BASE HTTP/1.1\r\nHost: b\r\n\r\n", "HTTP/1.1 400 "), ("GET /BASE\r\n\r\n", "HTTP/1.1 400 "),
      ("GET /BASE HTTP/2\r\n\r\n", "HTTP/1.1 400 "),
      ("GET /BASE HTTP/1.1\r\nNtrip-Version: Ntrip/2.0\r\n\r\n", "HTTP/1.1 400 "),
      ("GET /BASE HTTP/1.1\r\nHost: b\r\n folded\r\n\r\n", "HTTP/1.1 400 "), ("\u{1}\r\n\r\n", "HTTP/1.1 400 "),
      ("GET /BASE HTTP/1.1\r\nHost b\r\n\r\n", "HTTP/1.1 400 "),
    ])
  func refused(request: String, status: String) {
    let reply = Self.reply(request)
    #expect(reply.text.hasPrefix(status) && reply.isClosed, "\(reply.text)")
    #expect(reply.connection.deliver([1, 2]).isEmpty && !reply.connection.isStreaming)
  }

  @Test("A password is needed for the stream and not for the source table")
  func password() {
    // RFC 7617: any user, password "secret:1".
    let right = "Authorization: Basic dXNlcjpzZWNyZXQ6MQ==\r\n"
    func status(_ line: String, _ version: String = Self.version2) -> String {
      Self.reply("GET /BASE HTTP/1.1\r\nHost: b\r\n\(version)\(line)\r\n", password: "secret:1").text
    }
    #expect(status(right).hasPrefix("HTTP/1.1 200"))
    #expect(status(right, "").hasPrefix("ICY 200"))
    for line in [
      "", "Authorization: Basic dXNlcjpzZWNyZXQ=\r\n", "Authorization: Basic *\r\n", "Authorization: Bearer x\r\n",
    ] {
      #expect(
        status(line).hasPrefix("HTTP/1.1 401 ") && status(line).contains("WWW-Authenticate: Basic realm=\"/BASE\"\r\n"))
    }
    #expect(status("", "").hasPrefix("HTTP/1.0 401 "))
    #expect(Self.reply("GET / HTTP/1.1\r\nHost: b\r\n\(Self.version2)\r\n", password: "p").text.contains(";B;N;9600;"))
  }

  @Test("A request that does not end is cut off by its length and by its time")
  func limits() {
    let long = Self.reply("GET /BASE HTTP/1.1\r\nX: " + String(repeating: "y", count: 9000))
    #expect(long.text.hasPrefix("HTTP/1.1 431 ") && long.isClosed)
    var slow = CasterConnection(to: Self.caster, at: .zero)
    #expect(slow.receive(ascii("GET /B").raw, CasterStation()).isEmpty)
    #expect(slow.wake(at: .zero + Milliseconds(9999)).isEmpty)
    #expect(slow.wake(at: .zero + Milliseconds(10_000)).last == .close)
    #expect(slow.deadline == nil && slow.receive(ascii("ASE HTTP/1.1\r\n\r\n").raw, CasterStation()).isEmpty)
  }
}

@Suite("A base station's stream to another server")
struct PushConnectionTests {
  private static func target(_ text: String) throws -> PushTarget { try #require(PushTarget(text)) }

  /// The refusal of a reply; nil if it grants the stream or has no decision yet.
  private static func refusal(_ connection: inout PushConnection, _ reply: String) -> PushConnection.Refusal? {
    do throws(PushConnection.Refusal) {
      for byte in reply.utf8 { try connection.receive([byte].raw) }
      return nil
    } catch { return error }
  }

  @Test("Targets by their names")
  func names() throws {
    #expect(
      try Self.target("ntrip+post://me:p%40@c:80/M") == .caster(host: "c", port: 80, mount: "M", credentials: "me:p@"))
    #expect(try Self.target("ntrip+post://c/M") == .caster(host: "c", port: 2101, mount: "M", credentials: nil))
    #expect(try Self.target("tcp://h:1") == .tcp(host: "h", port: 1))
    for text in ["ntrip://c/M", "ntrip+post://c/", "ntrip+post://c", "tcp:h:1", "h:1", "file:x", ""] {
      #expect(PushTarget(text) == nil, "\(text)")
    }
    let named = try Self.target("ntrip+post://me@c/M")
    #expect(
      named.completed(by: named.asSource.withPassword("p"))
        == .caster(host: "c", port: 2101, mount: "M", credentials: "me:p"))
  }

  @Test("POST sends chunks after 200, SOURCE plain bytes after ICY, TCP at once")
  func forms() throws {
    var post = PushConnection(to: try Self.target("ntrip+post://me:p@c/M"), .post, version: "1")
    let request = String(decoding: post.request, as: UTF8.self)
    #expect(request.hasPrefix("POST /M HTTP/1.1\r\nHost: c:2101\r\nNtrip-Version: Ntrip/2.0\r\n"))
    #expect(request.contains("Authorization: Basic bWU6cA==\r\n") && request.contains("Transfer-Encoding: chunked\r\n"))
    #expect(post.encode([1]).isEmpty)
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    #expect(Self.refusal(&post, interim + "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n") == nil)
    #expect(post.isGranted && post.encode([1, 2]) == Array("2\r\n".utf8) + [1, 2] + Array("\r\n".utf8))
    var source = PushConnection(to: try Self.target("ntrip+post://me:p@c/M"), .source, version: "1")
    #expect(String(decoding: source.request, as: UTF8.self) == "SOURCE p /M\r\nSource-Agent: NTRIP sextant/1\r\n\r\n")
    #expect(Self.refusal(&source, "ICY 200 OK\r\n") == nil && source.encode([1, 2]) == [1, 2])
    let tcp = PushConnection(to: try Self.target("tcp://h:1"), .post, version: "1")
    #expect(tcp.request.isEmpty && tcp.encode([3]) == [3])
  }

  @Test(
    "Refusals, and which of them another form of the request may help",
    arguments: [
      ("HTTP/1.1 401 Unauthorized\r\n\r\n", false), ("HTTP/1.1 409 Conflict\r\n\r\n", false),
      ("HTTP/1.1 405 Method Not Allowed\r\n\r\n", true), ("HTTP/1.0 404 Not Found\r\n\r\n", true),
      ("ERROR - Bad Password\r\n", true), ("SSH-2.0-x\r\n", false), (String(repeating: "x", count: 17_000), false),
    ])
  func refusals(reply: String, mayFallBack: Bool) throws {
    var post = PushConnection(to: try Self.target("ntrip+post://c/M"), .post, version: "1")
    #expect(Self.refusal(&post, reply)?.mayFallBack == mayFallBack)
    var source = PushConnection(to: try Self.target("ntrip+post://c/M"), .source, version: "1")
    #expect(Self.refusal(&source, reply)?.mayFallBack == false)
  }

  @Test(
    "The end of the connection completes a reply without an empty line",
    arguments: [
      ("HTTP/1.0 401 Unauthorized\r\n", "user and password", false),
      ("HTTP/1.0 404 Not Found", "no such mount point", true),
      ("HTTP/1.0 409 Conflict\r\nServer: x", "another source", false), ("ERROR - Bad Password", "the password", true),
      ("", "without an answer", true), ("HTTP/1.1 100 Continue\r\n\r\n", "without an answer", true),
    ])
  func cut(reply: String, words: String, mayFallBack: Bool) throws {
    var post = PushConnection(to: try Self.target("ntrip+post://c/M"), .post, version: "1")
    #expect(Self.refusal(&post, reply) == nil)
    let refusal = post.closedBeforeGrant
    #expect(refusal.text.contains(words) && refusal.mayFallBack == mayFallBack, "\(refusal)")
  }
}
