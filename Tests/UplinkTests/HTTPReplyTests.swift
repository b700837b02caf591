// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Testing

@testable import sextant_uplink

@Suite("The replies of an HTTP server")
struct HTTPReplyTests {
  private static let isInstalled = (try? HTTPConnection.loadLibrary()) != nil

  @Test(
    "The status of a reply counts, however long its body is", .enabled(if: isInstalled),
    arguments: [(200, "acknowledged"), (400, "refused"), (500, "HTTP 500")])
  func longBody(status: Int, outcome: String) throws {
    let listener = UnixSocket(adopting: try InternetAddress.loopback(port: 0)[0].listen())
    let port = try #require(SocketName(of: listener.descriptor)?.port)
    let configuration = try UplinkConfiguration(
      parsing: "server = http://127.0.0.1:\(port)/fixes\nformat = geojson\n", host: "van")
    let writer = PayloadWriter(
      format: configuration.format, topic: configuration.topic, clientID: "van", queueIdentity: "q")
    let inbox = EventInbox()
    let transport = try Transport(configuration, writer, password: nil) { inbox.add($0) }
    defer { transport.perform(.end) }
    transport.perform(.connect)
    transport.perform(.send(1, Payload(body: Array("{}".utf8), contentType: "application/json")))

    let end = SystemClock.monotonic + Milliseconds(20_000)
    var events: [TransportEvent] = []
    while SystemClock.monotonic < end {
      guard let connection = try listener.accept() else {
        inbox.wait(seconds: 0.01)
        continue
      }
      let head = Array("HTTP/1.1 \(status) X\r\nContent-Length: 3000000\r\n\r\n".utf8)
      let reply = head + [UInt8](repeating: 0x20, count: 3_000_000)
      var (written, buffer) = (0, [UInt8](repeating: 0, count: 4096))
      while case .wouldWait = connection.read(into: &buffer), SystemClock.monotonic < end { inbox.wait(seconds: 0.01) }
      writing: while written < reply.count, SystemClock.monotonic < end {
        switch connection.write(Array(reply[written..<min(written + 65_536, reply.count)]).span) {
        case .bytes(let count): written += count
        case .wouldWait: inbox.wait(seconds: 0.001)
        case .ended: break writing
        }
      }
      break
    }
    while SystemClock.monotonic < end {
      events += inbox.take()
      let texts = events.compactMap { event -> String? in
        switch event {
        case .acknowledged(1): "acknowledged"
        case .refused(1, _): "refused"
        case .failed(let failure): "\(failure)"
        default: nil
        }
      }
      if let text = texts.first {
        #expect(text.contains(outcome), "\(text)")
        return
      }
      inbox.wait(seconds: 0.01)
    }
    Issue.record("no reply: \(events)")
  }
}
