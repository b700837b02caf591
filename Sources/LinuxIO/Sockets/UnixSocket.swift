// SPDX-License-Identifier: Apache-2.0

// Sockets of this machine: unix(7). Each `unsafe` passes a pointer to memory that the call's frame owns or borrows, and
// no pointer escapes a call.
import CLinux
import Glibc
import SystemPackage

/// The result of a read or a write that does not block.
package enum Transfer: Equatable, Sendable {
  case bytes(Int)
  /// The call would block.
  case wouldWait
  /// The other side has closed, or the connection has failed.
  case ended
}

/// A connection, or a socket that listens for connections. No call blocks.
package struct UnixSocket: ~Copyable {
  private let owned: OwnedDescriptor
  package var descriptor: Int32 { owned.number }

  private init(_ descriptor: Int32) { owned = OwnedDescriptor(descriptor) }

  /// Adopts a descriptor that another program has opened, such as in systemd's socket activation.
  package init(adopting descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    owned = OwnedDescriptor(descriptor)
  }

  /// Returns the descriptor, which the caller closes from now on.
  package consuming func release() -> Int32 { owned.release() }

  /// The time that a connection waits for its place in the queue of a listener.
  private static var connectSeconds: Int { 5 }

  /// Connects to a socket. connect(2). It waits a few seconds while the queue of the listener is full, so that programs
  /// that connect continuously do not make the service appear absent to others.
  package init(connectingTo path: String) throws(Errno) {
    let socket = try Self.made()
    let number = socket.number
    unsafe try Self.withAddress(path) { address, length throws(Errno) in
      do throws(Errno) {
        _ = try retryOnInterrupt { unsafe connect(number, address, length) }
      } catch {
        guard error == .wouldBlock else { throw error }
        // socket(7), SO_SNDTIMEO: it limits connect(2) too.
        var time = timeval(tv_sec: Self.connectSeconds, tv_usec: 0)
        unsafe _ = setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        _ = fcntl(number, F_SETFL, 0)
        _ = try retryOnInterrupt { unsafe connect(number, address, length) }
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
      }
    }
    owned = socket
  }

  /// Creates a socket that listens at a path, with these permissions. A socket that a killed process has left there is
  /// replaced; one that accepts connections is not: `.addressInUse`.
  ///
  /// A bound socket that does not listen yet refuses connections, and a program that connects at its start would take
  /// the service for absent. Therefore the socket is bound at a temporary name beside the path, and gets the path by
  /// link(2) once it listens.
  package init(listeningAt path: String, permissions: UInt32) throws(Errno) {
    // The length of a temporary name does not show whether programs can connect to the path.
    unsafe try Self.withAddress(path) { _, _ in }
    let socket = try Self.made()
    let descriptor = socket.number
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let temporary = "\(folder).\(getpid())"
    // Left by a process of this number that was killed here.
    _ = unsafe unlink(temporary)
    try Self.bind(descriptor, temporary)
    defer { _ = unsafe unlink(temporary) }
    _ = try retryOnInterrupt { unsafe chmod(temporary, permissions) }
    _ = try retryOnInterrupt { Glibc.listen(descriptor, 128) }
    do throws(Errno) {
      _ = try retryOnInterrupt { unsafe link(temporary, path) }
    } catch {
      guard error == .fileExists else { throw error }
      try Self.removeRefusing(path)
      _ = try retryOnInterrupt { unsafe link(temporary, path) }
    }
    owned = socket
  }

  /// Removes a socket that refuses connections. Another file is not removed: `.fileExists`.
  private static func removeRefusing(_ path: String) throws(Errno) {
    guard (try? Syscalls.status(ofPath: path, ofLink: true))?.type == .socket else { throw .fileExists }
    do throws(Errno) {
      _ = try UnixSocket(connectingTo: path)
    } catch {
      guard error == .connectionRefused else { throw .addressInUse }
      _ = try retryOnInterrupt { unsafe unlink(path) }
      return
    }
    throw .addressInUse
  }

  private static func made() throws(Errno) -> OwnedDescriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    return OwnedDescriptor(try retryOnInterrupt { socket(AF_UNIX, type, 0) })
  }

  private static func bind(_ descriptor: Int32, _ path: String) throws(Errno) {
    unsafe try withAddress(path) { address, length throws(Errno) in
      _ = try retryOnInterrupt { unsafe Glibc.bind(descriptor, address, length) }
    }
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Void
  ) throws(Errno) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // Including the terminating NUL.
    guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .fileNameTooLong }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let result: Result<Void, Errno> = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        do throws(Errno) {
          return .success(unsafe try body(address, socklen_t(MemoryLayout<sockaddr_un>.size)))
        } catch { return .failure(error) }
      }
    }
    try result.get()
  }

  /// Accepts a waiting connection; nil if there is none. accept(2).
  ///
  /// - Throws: `Errno` if the process or the system has no descriptor left.
  package func accept() throws(Errno) -> UnixSocket? {
    let accepted = clinux_accept(descriptor)
    if accepted >= 0 { return UnixSocket(accepted) }
    let error = Errno(rawValue: -accepted)
    // The peer may have closed before.
    if error == .wouldBlock || error == .connectionAbort || error == .interrupted { return nil }
    throw error
  }

  /// Reads the available bytes, at most the size of the buffer. recv(2).
  package func read(into buffer: inout [UInt8]) -> Transfer {
    let descriptor = descriptor
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      (try? retryOnInterrupt { unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0) }) ?? -1
    }
    if count > 0 { return .bytes(count) }
    return count < 0 && errno == EAGAIN ? .wouldWait : .ended
  }

  /// Writes as many bytes as there is space for. send(2) without SIGPIPE.
  package func write(_ bytes: Span<UInt8>) -> Transfer {
    let descriptor = descriptor
    let count = unsafe bytes.withUnsafeBytes { bytes in
      (try? retryOnInterrupt { unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) })
        ?? -1
    }
    if count >= 0 { return .bytes(count) }
    return errno == EAGAIN ? .wouldWait : .ended
  }
}
