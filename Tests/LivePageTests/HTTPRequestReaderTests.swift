// SPDX-License-Identifier: Apache-2.0
import Testing
import sextant

/// Reads bytes in pieces of a size.
private func read(_ bytes: [UInt8], pieces: Int? = nil) -> HTTPRequestReader.Result {
  var reader = HTTPRequestReader()
  var result = HTTPRequestReader.Result.incomplete
  let size = max(1, pieces ?? bytes.count)
  for start in stride(from: 0, to: bytes.count, by: size) {
    let piece = Array(bytes[start..<min(start + size, bytes.count)])
    result = reader.receive(piece.span)
  }
  return result
}

private func read(_ text: String) -> HTTPRequestReader.Result { read(Array(text.utf8)) }

@Suite struct HTTPRequestReaderTests {
  @Test("A request has its method, path, parameters and fields")
  func fields() throws {
    guard
      case .request(let request) = read(
        "GET /events?open=UBX-NAV-PVT%2CX&token=a+b HTTP/1.1\r\nHost: [::1]:2950 \r\nX-A:\r\n\r\n")
    else {
      Issue.record("no request")
      return
    }
    #expect(request.method == "GET")
    #expect(request.path == "/events")
    #expect(request.parameter("open") == "UBX-NAV-PVT,X")
    #expect(request.parameter("token") == "a b")
    #expect(request.field("host") == "[::1]:2950")
    #expect(request.field("x-a") == "")
    #expect(request.body.isEmpty)
  }

  @Test("A request that is cut at any byte is incomplete before and complete after it")
  func cuts() {
    let bytes = Array("POST /control HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n{}{}!".utf8)
    let whole = read(bytes)
    for cut in 1..<bytes.count {
      var reader = HTTPRequestReader()
      #expect(reader.receive(Array(bytes[..<cut]).span) == .incomplete, "cut at \(cut)")
      #expect(reader.receive(Array(bytes[cut...]).span) == whole, "cut at \(cut)")
    }
    for size in [1, 2, 3, 7] { #expect(read(bytes, pieces: size) == whole) }
    guard case .request(let request) = whole else {
      Issue.record("no request")
      return
    }
    #expect(request.body == Array("{}{}!".utf8))
  }

  @Test("A head of more than 8 kB is refused, in one piece or byte by byte")
  func longHead() {
    let bytes = Array(("GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 9000)).utf8)
    #expect(read(bytes) == .refused(.headTooLarge))
    #expect(read(bytes, pieces: 1) == .refused(.headTooLarge))
    let fields = String(repeating: "A: b\r\n", count: 100)
    #expect(read("GET / HTTP/1.1\r\n\(fields)\r\n") == .refused(.headTooLarge))
  }

  @Test(
    "Bytes that are not HTTP are refused",
    arguments: [
      "\u{16}\u{3}\u{1}\u{2}\u{0}", "$GPGGA,1\r\n", "get / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n",
      "GET  / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\n\n", "GET / HTTP/1.1\r\rHost: a\r\n\r\n", "GET ftp://a/ HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\n folded\r\n\r\n", "GET / HTTP/1.1\r\nnothing\r\n\r\n",
      "GET /?a=%4 HTTP/1.1\r\n\r\n", "GET /?a=%ff HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", "GET / HTTP/1.1\r\nA: \u{0}\r\n\r\n",
    ])
  func nonsense(_ text: String) { #expect(read(text) == .refused(.badRequest)) }

  @Test(
    "The host of a target in absolute form replaces the field Host (RFC 9112, section 3.2.2)",
    arguments: [("http://localhost:2950/events?open=A", "/events"), ("HTTP://localhost:2950?open=A", "/")])
  func absoluteForm(target: String, path: String) throws {
    guard case .request(let request) = read("GET \(target) HTTP/1.1\r\nHost: other\r\n\r\n") else {
      Issue.record("no request")
      return
    }
    #expect(request.path == path && request.parameter("open") == "A")
    #expect(request.field("host") == "localhost:2950")
    #expect(read("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n") == .refused(.badRequest))
    #expect(read("GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == .refused(.badRequest))
  }

  @Test("A target is divided by its bytes, also where a separator is a part of a character")
  func bytes() throws {
    for odd in ["\u{301}", "\u{200D}", "\u{FE0F}"] {
      for (target, path, value) in [
        ("http://localhost:2950/\(odd)x?a=\(odd)1&\(odd)b=2", "/\(odd)x", "\(odd)1"),
        ("/\u{600}?a=\(odd)2", "/\u{600}", "\(odd)2"), ("/x?\(odd)c&a=\u{600}&d=3", "/x", "\u{600}"),
      ] {
        guard case .request(let request) = read("GET \(target) HTTP/1.1\r\nHost: localhost:2950\r\n\r\n") else {
          Issue.record("no request for \(target)")
          continue
        }
        #expect(Array(request.path.utf8) == Array(path.utf8) && request.field("host") == "localhost:2950")
        #expect(request.parameter("a").map { Array($0.utf8) } == Array(value.utf8), "\(target)")
      }
    }
  }

  @Test("Another version of HTTP, and a long body, have their own refusals")
  func others() {
    #expect(read("GET / HTTP/2.0\r\n\r\n") == .refused(.versionNotSupported))
    #expect(read("POST / HTTP/1.1\r\nContent-Length: 8193\r\n\r\n") == .refused(.contentTooLarge))
    #expect(
      read("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n") == .refused(.contentTooLarge))
  }

  @Test("Random bytes give the same result in pieces of any size")
  func randomBytes() {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("GET / HTTP/1.1\r\n\r\nHost: a:%?&=\u{0}é".utf8)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 1...80, using: &generator)).map { _ in alphabet.randomElement(using: &generator)!
      }
      let whole = read(bytes)
      for size in [1, 2, 5] { #expect(read(bytes, pieces: size) == whole, "\(bytes)") }
    }
  }
}
