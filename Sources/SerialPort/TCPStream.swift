// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage

/// A lookup of the addresses of a host in the background, because the name service may be slow.
public final class HostLookup: Sendable {
  /// The result of a lookup.
  public enum Result: Sendable {
    case pending
    /// At least one address.
    case found([SocketAddress])
    /// The reason, in the words of the C library.
    case failed(String)
  }

  private let shared = Locked(Result.pending)

  /// - Parameters:
  ///   - host: a name or an address; nil for all addresses of this machine, to receive there.
  ///   - port: the port of the service.
  ///   - isForDatagrams: whether the addresses are for a ``DatagramSocket``.
  ///   - waker: wakes the poller when `result` is available.
  public init(of host: String?, port: UInt16, isForDatagrams: Bool = false, waker: Poller.Waker) {
    let shared = shared
    let isStarted = BackgroundWork.start {
      shared.value = Syscalls.addresses(of: host, port: port, isForDatagrams: isForDatagrams)
      waker.wake()
    }
    if !isStarted { shared.value = .failed("the system has no thread left") }
  }

  public var result: Result { shared.value }
}

/// An address and port in the kernel's format.
public struct SocketAddress: Sendable, Equatable {
  let family: Int32
  let bytes: [UInt8]
}

/// A TCP connection that is established, read and written without blocking; tcp(7). The value owns the socket.
public struct TCPStream: ~Copyable {
  private let descriptor: OwnedDescriptor

  /// Starts to connect. When the poller reports the socket writable or hung up, `finishConnecting` returns the result.
  /// connect(2).
  ///
  /// - Throws: ``SerialPortError`` `inputOutput`.
  public init(connectingTo address: SocketAddress) throws(SerialPortError) {
    descriptor = try attempting(.open, "") { () throws(Errno) in try Syscalls.connect(to: address) }
  }

  /// The descriptor, for pollers.
  public var fileDescriptor: Int32 { descriptor.number }

  /// Returns nil if the connection is established, otherwise the reason of the failure.
  public func finishConnecting() -> String? {
    let code = Syscalls.pendingError(of: descriptor.number)
    return code == 0 ? nil : Errno(rawValue: code).description
  }

  /// Makes the kernel detect a dead peer even if nothing is sent, send small messages at once, and accept only a few kilobytes that the
  /// peer has no room for. tcp(7).
  public func keepAlive() { Syscalls.keepAlive(descriptor.number) }

  /// Reads available bytes.
  ///
  /// - Throws: ``SerialPortError`` `inputOutput`: the connection is lost.
  @_lifetime(span: copy span)
  public func read(into span: inout MutableRawSpan) throws(SerialPortError) -> SerialPort.ReadResult {
    do {
      let count = try Syscalls.read(descriptor.number, into: &span)
      return count > 0 ? .bytes(count) : .endOfInput
    } catch {
      if error == .wouldBlock { return .wouldBlock }
      throw SerialPortError(error, .read, "")
    }
  }

  /// Writes as many bytes as the socket accepts now. Returns their number.
  public func write(_ bytes: RawSpan) throws(SerialPortError) -> Int {
    do {
      return try Syscalls.send(descriptor.number, bytes)
    } catch {
      if error == .wouldBlock { return 0 }
      throw SerialPortError(error, .write, "")
    }
  }
}
