// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import Messages
import MonotonicTime
import Positioning
import ReceiverStream
import TestSupport
import Testing

@testable import LocationService
@testable import sextantd

@Suite("Parameters of a wrong type")
struct WrongTypesTests {
  @Test(
    "A parameter of a wrong type is refused, and not taken as absent",
    arguments: [
      ("Authorization.SetServices", #""on":false,"user":"1000""#, "user"),
      ("Authorization.SetServices", #""on":false,"user":12.5"#, "user"),
      ("Authorization.SetServices", #""on":false,"user":1e20"#, "user"),
      ("Authorization.SetServices", #""on":false,"user":-1"#, "user"),
      ("Authorization.List", #""user":true"#, "user"), ("Authorization.List", #""user":[]"#, "user"),
      ("Authorization.Set", #""user":{},"name":"a","status":"denied""#, "user"),
      ("Launch.StartEnded", #""unit":"hike.service","failure":1"#, "failure"),
      ("Location.RequestLocation", #""desiredAccuracy":"1""#, "desiredAccuracy"),
    ])
  func refused(method: String, parameters: String, name: String) throws {
    let reply = try CalledDaemon().reply(method, parameters)
    #expect(reply["error"] == .string("org.varlink.service.InvalidParameter"))
    #expect(reply["parameters"]?["parameter"] == .string(name))
  }

  @Test(
    "An absent parameter, null and the number of the caller name the caller",
    arguments: ["", #""user":null"#, nil])
  func absent(parameters: String?) throws {
    let own = #""user":\#(geteuid())"#
    let reply = try CalledDaemon().reply("Authorization.List", parameters ?? own)
    #expect(reply["error"] == nil && reply["parameters"]?["servicesAreOn"] == .bool(true))
  }
}

/// A daemon and one client, in one thread.
private final class CalledDaemon {
  private let host: ServiceHost
  private let server: LocationServer
  private let folder: TemporaryFolder
  private var poller: Poller

  init() throws {
    folder = try TemporaryFolder()
    var settings = ServiceSettings(isRoot: false) { _ in nil }
    settings.isDaemon = true
    settings.stateFolder = "\(folder.path)/state"
    host = ServiceHost(app: AppDescription(identifier: "sextantd", keys: UsageKeys()), settings: settings) { _ in }
    poller = try Poller()
    let listener = try UnixSocket(listeningAt: "\(folder.path)/location", permissions: 0o600)
    server = try LocationServer(
      host, listener, policy: DaemonPolicy(LocationPolicy(parsing: nil)), version: "test", gpsd: ([], false),
      Systemd { _ in nil }, &poller, at: SystemClock.monotonic)
  }

  /// The reply to a call.
  func reply(_ method: String, _ parameters: String) throws -> JSON {
    let client = try UnixSocket(connectingTo: "\(folder.path)/location")
    let call = Array("{\"method\":\"org.sextant.\(method)\",\"parameters\":{\(parameters)}}\0".utf8)
    _ = client.write(call.span)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var received: [UInt8] = []
    for _ in 0..<100 where received.last != 0 {
      let monotonic = SystemClock.monotonic
      let now = Moment(monotonic, utc: UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000))
      server.handle(try poller.wait(deadline: 0), &poller, at: now)
      server.roundEnded(&poller, receivers: { [] }, at: now)
      if case .bytes(let count) = client.read(into: &buffer) { received += buffer[..<count] }
    }
    return try JSON(parsing: Array(received.dropLast()))
  }
}
