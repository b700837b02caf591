// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import SerialPort
import TestSupport
import Testing

@testable import ReceiverRuntime

/// Clients of a host on this machine, in virtual time. A thread looks up the address of the host, which needs real time.
@Suite("Clients of a host")
struct HostClientTests {
  private static let token = Poller.Token(rawValue: 4)

  // MARK: The stream of a base station

  private final class PushScene {
    let server: LocalServer
    let push: CorrectionPush
    var now = Instant.zero
    private(set) var reports: [String] = []
    private var poller: Poller

    init(_ target: (UInt16) -> PushTarget) throws {
      server = try LocalServer()
      poller = try Poller()
      push = CorrectionPush(to: target(server.port), token: token, at: now)
    }

    func send(_ frames: [UInt8]) { push.send(frames, &poller, at: now) }
    func close() { push.close(&poller) }

    /// Runs rounds until the condition is true, at most for some seconds. Returns whether it became true.
    func run(until condition: () -> Bool) throws -> Bool {
      for _ in 0..<200 {
        push.work(&poller, at: now)
        for event in try poller.wait(deadline: SystemClock.monotonic.nanoseconds + 20_000_000) {
          push.handle(event, &poller, at: now)
        }
        while let text = push.nextReport() { reports.append(text) }
        if condition() { return true }
      }
      return false
    }
  }

  private static func caster(_ port: UInt16) -> PushTarget {
    .caster(host: "127.0.0.1", port: port, mount: "BASE", credentials: "me:secret")
  }

  @Test("A caster gets the request, and frames in chunks once it has granted it")
  func push() throws {
    let scene = try PushScene(Self.caster)
    #expect(try scene.run { scene.server.accept() })
    #expect(try scene.run { scene.server.received().hasSuffix("\r\n\r\n") })
    #expect(scene.server.text.hasPrefix("POST /BASE HTTP/1.1\r\n"))
    #expect(scene.server.text.contains("Authorization: Basic bWU6c2VjcmV0\r\n"))
    scene.send([1, 2, 3])
    #expect(!scene.push.isFlowing && scene.push.bytes == 0)
    scene.server.send(ascii("HTTP/1.1 200 OK\r\n\r\n"))
    #expect(try scene.run { scene.push.isFlowing })
    let name = Self.caster(scene.server.port).name
    #expect(scene.reports == ["\(name): the corrections are taken"])
    scene.send([4, 5, 6])
    #expect(try scene.run { scene.server.received().hasSuffix("\r\n\r\n3\r\n\u{4}\u{5}\u{6}\r\n") })
    #expect(scene.push.bytes == 3)
    scene.server.hangUp()
    #expect(try scene.run { scene.reports.count > 1 })
    #expect(scene.reports[1].contains("the connection was closed"), "\(scene.reports)")
    #expect(!scene.push.isFlowing)
    scene.now = scene.now + Milliseconds(60_000)
    #expect(try scene.run { scene.server.accept() })
    scene.server.send(ascii("HTTP/1.1 200 OK\r\n\r\n"))
    #expect(try scene.run { scene.push.isFlowing && scene.reports.count > 2 })
    #expect(scene.reports.dropFirst(2) == ["\(name): the corrections are taken again"])
    scene.close()
  }

  @Test("A caster that refuses the request gets the request of version 1 with the next connection")
  func version1() throws {
    let scene = try PushScene(Self.caster)
    #expect(try scene.run { scene.server.accept() })
    #expect(try scene.run { scene.server.received().hasSuffix("\r\n\r\n") })
    scene.server.send(ascii("HTTP/1.1 400 Bad Request\r\n\r\n"))
    #expect(try scene.run { !scene.reports.isEmpty })
    #expect(scene.reports[0].contains("version 1 of NTRIP is next"), "\(scene.reports)")
    scene.server.hangUp()
    scene.now = scene.now + Milliseconds(60_000)
    #expect(try scene.run { scene.server.accept() })
    #expect(try scene.run { scene.server.received().contains("SOURCE secret /BASE\r\n") })
    scene.server.send(ascii("ICY 200 OK\r\n"))
    #expect(try scene.run { scene.push.isFlowing })
    scene.send([4, 5, 6])
    #expect(try scene.run { scene.server.received().hasSuffix("\r\n\r\n\u{4}\u{5}\u{6}") })
    scene.close()
  }

  @Test("A target that reads nothing is disconnected when 64 KiB wait for it")
  func slowTarget() throws {
    let scene = try PushScene { .tcp(host: "127.0.0.1", port: $0) }
    #expect(try scene.run { scene.server.accept() && scene.push.isFlowing })
    let frames = [UInt8](repeating: 0, count: 60_000)
    for _ in 0..<1000 where scene.push.isFlowing { scene.send(frames) }
    #expect(try scene.run { scene.reports.count > 1 })
    #expect(scene.reports.last?.contains("reads too slowly") == true, "\(scene.reports)")
    scene.close()
  }

  // MARK: AssistNow

  private final class DownloadScene {
    let server: LocalServer
    let download: AssistNowDownload
    var now = Instant.zero
    private var poller: Poller

    init() throws {
      server = try LocalServer()
      poller = try Poller()
      let source = try #require(AssistNow("abcdefghijklmnopqrstuv"))
      download = AssistNowDownload(source, from: "127.0.0.1:\(server.port)", token: token, &poller, at: now)
    }

    func run(until condition: () -> Bool) throws -> Bool {
      for _ in 0..<200 {
        download.wake(&poller, at: now)
        for event in try poller.wait(deadline: SystemClock.monotonic.nanoseconds + 20_000_000) {
          download.handle(event, &poller, at: now)
        }
        if condition() { return true }
      }
      return false
    }

    /// The reason of a failure that another attempt may not have; empty for another result.
    var reason: String { if case .failure(.unreachable(let text))? = download.result { text } else { "" } }
  }

  @Test(
    "A download begins with a handshake, and a server without TLS has no answer", .enabled(if: TLSClient.isAvailable))
  func plainServer() throws {
    let scene = try DownloadScene()
    #expect(try scene.run { scene.server.accept() })
    #expect(try scene.run { scene.server.received().hasPrefix("\u{16}\u{3}") })
    #expect(!scene.server.text.contains("GET") && scene.download.result == nil)
    scene.server.send(ascii("HTTP/1.1 400 Bad Request\r\n\r\n"))
    #expect(try scene.run { scene.download.result != nil })
    #expect(!scene.reason.isEmpty && scene.download.deadline == nil)
  }

  @Test("A download ends with the connection, and after two minutes", .enabled(if: TLSClient.isAvailable))
  func endOfDownload() throws {
    let closed = try DownloadScene()
    #expect(try closed.run { closed.server.accept() })
    closed.server.hangUp()
    #expect(try closed.run { closed.download.result != nil })
    #expect(!closed.reason.isEmpty)
    let silent = try DownloadScene()
    #expect(try silent.run { silent.server.accept() })
    silent.now = silent.now + Milliseconds(121_000)
    #expect(try silent.run { silent.download.result != nil })
    #expect(silent.reason == "does not reply in time; check the network")
  }
}
