// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import TestSupport

@testable import LocationService
@testable import sextantd

/// A daemon and its clients, in one thread.
final class CalledDaemon {
  private let host: ServiceHost
  private let server: LocationServer
  private let folder: TemporaryFolder
  private var poller: Poller
  private var now = SystemClock.monotonic
  var receivers: [ReceiverStatus] = []
  /// The location of each round; nil if the receiver has no position.
  var location: Coordinate?
  /// The lines that were lent and taken back.
  private(set) var lendings: [ServiceAction] = []

  init(_ authorization: AuthorizationStatus? = nil) throws {
    folder = try TemporaryFolder()
    var settings = ServiceSettings(isRoot: false) { _ in nil }
    settings.isDaemon = true
    settings.stateFolder = "\(folder.path)/state"
    settings.application = .foreground
    settings.authorization = authorization
    host = ServiceHost(app: AppDescription(identifier: "sextantd", keys: UsageKeys()), settings: settings) { _ in }
    poller = try Poller()
    let listener = try UnixSocket(listeningAt: "\(folder.path)/location", permissions: 0o600)
    let control = try GPSDListener.listen(.control, atPath: "\(folder.path)/gpsd-control")
    server = try LocationServer(
      host, listener, policy: DaemonPolicy(LocationPolicy(parsing: nil)), version: "test", gpsd: ([control], false),
      Systemd { _ in nil }, &poller, at: SystemClock.monotonic)
  }

  var connections: Int { server.allConnections.count }

  func client() throws -> CallingClient {
    CallingClient(self, try UnixSocket(connectingTo: "\(folder.path)/location"))
  }

  /// The reply to a command of gpsd's control socket.
  func control(_ command: String) throws -> String {
    let socket = try UnixSocket(connectingTo: "\(folder.path)/gpsd-control")
    _ = socket.write(Array("\(command)\n".utf8).span)
    var buffer = [UInt8](repeating: 0, count: 1000)
    for _ in 0..<10 {
      try round()
      guard case .bytes(let count) = socket.read(into: &buffer) else { continue }
      return String(decoding: buffer[..<count], as: UTF8.self)
    }
    return ""
  }

  /// The reply to a call.
  func reply(_ method: String, _ parameters: String) throws -> JSON {
    let client = try client()
    client.send("{\"method\":\"org.sextant.\(method)\",\"parameters\":{\(parameters)}}")
    return try client.replies(1).first ?? .null
  }

  /// One round of the daemon in virtual time, 100 ms after the last one.
  func round() throws {
    self.now = self.now + Milliseconds(100)
    let utc = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000 + Int64(clamping: self.now.nanoseconds))
    let now = Moment(self.now, utc: utc)
    server.handle(try poller.wait(deadline: 0), &poller, at: now)
    if let location {
      host.receive(.published(Location(location, horizontalAccuracyMetres: 3, timestamp: utc)), at: now)
    }
    host.wake(at: now)
    for action in host.round(at: now).actions {
      switch action {
      case .program(let id, let action): host.receiver(of: id)?.perform(action)
      case .lend, .takeBack: lendings.append(action)
      default: break
      }
    }
    server.roundEnded(&poller, receivers: { receivers }, at: now)
  }
}

/// A client of a `CalledDaemon`.
final class CallingClient {
  private let daemon: CalledDaemon
  private let socket: UnixSocket
  private var buffer = [UInt8](repeating: 0, count: 65_536)
  private var received: [UInt8] = []
  /// Whether the daemon has closed the connection.
  private(set) var isClosed = false

  init(_ daemon: CalledDaemon, _ socket: consuming UnixSocket) {
    self.daemon = daemon
    self.socket = socket
  }

  /// Sends messages in one write.
  func send(_ messages: String...) { _ = socket.write(Array(messages.map { $0 + "\0" }.joined().utf8).span) }

  /// Closes the connection.
  func end() { shutdown(socket.descriptor, Int32(SHUT_RDWR)) }

  /// Closes the writing side.
  func endWriting() { shutdown(socket.descriptor, Int32(SHUT_WR)) }

  /// The next messages, at most `count`, of some rounds of the daemon.
  func replies(_ count: Int, rounds: Int = 300) throws -> [JSON] {
    for _ in 0..<rounds where received.count(where: { $0 == 0 }) < count && !isClosed {
      try daemon.round()
      switch socket.read(into: &buffer) {
      case .bytes(let count): received += buffer[..<count]
      case .ended: isClosed = true
      case .wouldWait: break
      }
    }
    var replies: [JSON] = []
    while replies.count < count, let end = received.firstIndex(of: 0) {
      replies.append(try JSON(parsing: Array(received[..<end])))
      received.removeSubrange(...end)
    }
    return replies
  }
}
