// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("Descriptors that pass through a socket")
struct PassedDescriptorTests {
  /// Two connected sockets of this process.
  private struct Pair: ~Copyable {
    let client: UnixSocket
    let server: UnixSocket

    init() throws {
      let folder = try TemporaryFolder()
      let path = "\(folder.path)/s"
      let listener = try UnixSocket(listeningAt: path, permissions: 0o600)
      let connected = try UnixSocket(connectingTo: path)
      guard let accepted = try listener.accept() else { throw Errno.noData }
      client = connected
      server = accepted
    }
  }

  /// The number of this process's descriptors of a file.
  private func count(of path: String) -> Int {
    FileLookup.names(in: "/proc/self/fd").count { (try? Syscalls.target(ofLink: "/proc/self/fd/\($0)")) == path }
  }

  /// An open file.
  private final class File {
    let folder: TemporaryFolder
    let path: String
    let descriptor: OwnedDescriptor

    init() throws {
      folder = try TemporaryFolder()
      path = try folder.file("f", Array("text".utf8))
      descriptor = try Syscalls.open(path, O_RDONLY)
    }
  }

  @Test("The descriptor comes with the first byte, closes on exec, and is the same open file")
  func passes() throws {
    let pair = try Pair()
    let file = try File()
    let bytes: [UInt8] = [1, 2, 3]
    #expect(pair.server.write(bytes.span, passing: file.descriptor) == .bytes(3))
    var passed: OwnedDescriptor?
    var buffer = [UInt8](repeating: 0, count: 100)
    #expect(pair.client.read(into: &buffer, descriptor: &passed) == .bytes(3))
    #expect(Array(buffer[..<3]) == bytes)
    let number = passed?.number ?? -1
    #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
    // The offset belongs to the open file.
    #expect(lseek(file.descriptor.number, 2, SEEK_SET) == 2)
    #expect(lseek(number, 0, SEEK_CUR) == 2)
    passed = nil
    #expect(count(of: file.path) == 1)
  }

  @Test("A descriptor that nobody expects is closed: by a plain read, and by the next one that arrives")
  func closes() throws {
    let pair = try Pair()
    let file = try File()
    let bytes: [UInt8] = [1]
    var buffer = [UInt8](repeating: 0, count: 100)
    #expect(pair.client.write(bytes.span, passing: file.descriptor) == .bytes(1))
    #expect(pair.server.read(into: &buffer) == .bytes(1))
    #expect(count(of: file.path) == 1)
    var passed: OwnedDescriptor?
    for _ in 0..<3 {
      #expect(pair.server.write(bytes.span, passing: file.descriptor) == .bytes(1))
      #expect(pair.client.read(into: &buffer, descriptor: &passed) == .bytes(1))
      #expect(count(of: file.path) == 2)
    }
  }

  @Test("The peer has this process's groups")
  func groups() throws {
    let pair = try Pair()
    let number = getgroups(0, nil)
    var groups = [gid_t](repeating: 0, count: Int(number))
    _ = unsafe getgroups(number, &groups)
    let found = pair.server.peerGroups
    #expect(found.map { Set($0) } == Set(groups))
  }
}
