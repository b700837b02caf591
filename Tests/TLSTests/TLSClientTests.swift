// SPDX-License-Identifier: Apache-2.0
import ReceiverRuntime
import ReceiverSimulator
import Testing

@Suite("The client's end of TLS")
struct TLSClientTests {
  @Test(
    "The first record is a ClientHello with the host's name; bytes wait for the handshake",
    .enabled(if: TLSClient.isAvailable))
  func hello() throws {
    var client = try TLSClient(to: "caster.example")
    client.send(Array("GET /NEAR".utf8))
    let records = client.takeRecords()
    // RFC 8446, 5.1 and 4.1.2: a handshake record (22) with message 1.
    #expect(records.first == 22 && records.count > 6 && records[5] == 1)
    let text = String(decoding: records, as: UTF8.self)
    #expect(text.contains("caster.example"))
    #expect(!text.contains("NEAR"))
    #expect(client.takeRecords() == [])
    #expect(client.state == .handshaking)
  }

  @Test(
    "An address is not sent as a name", .enabled(if: TLSClient.isAvailable), arguments: ["192.0.2.1", "2001:db8::1"])
  func address(_ host: String) throws {
    var client = try TLSClient(to: host)
    #expect(!String(decoding: client.takeRecords(), as: UTF8.self).contains(host))
    #expect(client.state == .handshaking)
  }

  @Test("A server without TLS is refused in words", .enabled(if: TLSClient.isAvailable))
  func plainServer() throws {
    var client = try TLSClient(to: "caster.example")
    let reply = Array("ICY 200 OK\r\n\r\n".utf8)
    #expect(unsafe client.receive(reply.span.bytes) == [])
    guard case .failed(let failure) = client.state else {
      Issue.record("\(client.state)")
      return
    }
    #expect(failure.text.contains("check host and port"))
  }

  @Test("Any bytes of a server neither open the connection nor crash", .enabled(if: TLSClient.isAvailable))
  func garbage() throws {
    var random = SeededRandomNumberGenerator(seed: 1)
    for _ in 0..<20 {
      var client = try TLSClient(to: "caster.example")
      // A valid header of a record, then anything.
      var bytes: [UInt8] = [UInt8.random(in: 20...23, using: &random), 3, 3, 0, 64]
      bytes += (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(unsafe client.receive(bytes.span.bytes) == [])
      #expect(client.state != .open && client.state != .closed)
    }
  }

  @Test("The end of the socket is a failure in each state", .enabled(if: TLSClient.isAvailable))
  func end() throws {
    var client = try TLSClient(to: "caster.example")
    client.endOfInput()
    #expect(client.state == .failed(.handshake(words: nil)))
    client.endOfInput()
    #expect(client.state == .failed(.handshake(words: nil)))
  }

  @Test(
    "Each refusal of a certificate names the next step",
    arguments: [
      (62, "check the name of the caster"), (64, "check the name of the caster"), (9, "check the clock"),
      (10, "has expired"), (18, "SSL_CERT_FILE"), (19, "SSL_CERT_FILE"), (20, "SSL_CERT_FILE"),
      (23, "ask the operator"),
    ])
  func words(_ code: Int, _ step: String) {
    #expect(TLSFailure.certificate(code: code, words: "why").text.contains(step))
  }
}
