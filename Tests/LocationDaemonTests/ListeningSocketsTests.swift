// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import LinuxIO
@testable import sextantd

@Suite("The sockets at which the daemon listens")
struct ListeningSocketsTests {
  @Test("The tokens of sockets that a change of the policy has closed are used again")
  func listenerTokens() {
    var used: Set<UInt32> = []
    for _ in 0..<1000 {
      let tokens = [0, 1].compactMap { _ in
        let token = GPSDServer.freeListenerToken(used)
        if let token { used.insert(token) }
        return token
      }
      #expect(Set(tokens).count == 2)
      used.subtract(tokens)
    }
    while let token = GPSDServer.freeListenerToken(used) { used.insert(token) }
    #expect(used.count == Int(GPSDServer.listenerTokens))
  }

  private static let noSystemd = Systemd { _ in nil }

  /// Closes the descriptors of sockets, as a daemon does at its end.
  private static func close(_ sockets: ListeningSockets) {
    for descriptor in [sockets.location] + sockets.gpsd.map(\.descriptor) { _ = UnixSocket(adopting: descriptor) }
  }

  @Test("A daemon removes its own sockets at its end, and not those of a successor at the same paths")
  func successor() throws {
    let folder = try TemporaryFolder()
    let paths = ["location", "control", "nmea"].map { "\(folder.path)/\($0)" }
    let options = try DaemonOptions(["--socket", paths[0], "--gpsd-control", paths[1], "--nmea", paths[2]])
    let first = try ListeningSockets(options, at: paths[0], Self.noSystemd)
    for path in paths { try Syscalls.unlink(path) }
    let second = try ListeningSockets(options, at: paths[0], Self.noSystemd)
    Self.close(first)
    first.removePaths()
    for path in paths { #expect(Syscalls.exists(path), "\(path)") }
    Self.close(second)
    second.removePaths()
    for path in paths { #expect(!Syscalls.exists(path), "\(path)") }
  }

  @Test("A closed listener does not remove the socket of another program at its path")
  func closedListener() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/gpsd"
    let first = try GPSDListener.listen(.gpsd, atPath: path)
    try Syscalls.unlink(path)
    let second = try GPSDListener.listen(.gpsd, atPath: path)
    first.close()
    #expect(Syscalls.exists(path))
    second.close()
    #expect(!Syscalls.exists(path))
  }

  @Test("The path of a socket that systemd passes without a name is not removed")
  func unnamedSocket() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/location"
    let listener = try UnixSocket(listeningAt: path, permissions: 0o600)
    let systemd = Systemd { ["LISTEN_PID": "\(Syscalls.processID)", "LISTEN_FDS": "1"][$0] }
    let sockets = try ListeningSockets(try DaemonOptions(["--socket", path]), at: path, systemd)
    #expect(sockets.location == 3)
    sockets.removePaths()
    #expect(Syscalls.exists(path))
    _ = listener.descriptor
  }
}
