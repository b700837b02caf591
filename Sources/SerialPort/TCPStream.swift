import FileSystem
import Glibc
import SystemPackage

/// A host's addresses, asked for in the background: the name service may take its time.
public final class HostLookup: Sendable {
  /// What came of it.
  public enum Result: Sendable {
    case pending
    /// At least one.
    case found([SocketAddress])
    /// The reason as the C library words it.
    case failed(String)
  }

  private let shared = Locked(Result.pending)

  /// - Parameters:
  ///   - host: a name or an address.
  ///   - port: of the service.
  ///   - waker: is used when `result` is there.
  public init(of host: String, port: UInt16, waker: Poller.Waker) {
    let shared = shared
    let isStarted = BackgroundWork.start {
      shared.value = Syscalls.addresses(of: host, port: port)
      waker.wake()
    }
    if !isStarted { shared.value = .failed("the system has no thread left") }
  }

  public var result: Result { shared.value }
}

/// Where a host listens, as the kernel takes it.
public struct SocketAddress: Sendable, Equatable {
  let family: Int32
  let bytes: [UInt8]
}

/// A TCP connection that is made, read and written without waiting; tcp(7). The value owns the socket.
public struct TCPStream: ~Copyable {
  private let descriptor: OwnedDescriptor

  /// Begins to connect. When the poller reports the socket writable, or hung up, `finishConnecting` tells whether it is
  /// connected. connect(2).
  ///
  /// - Throws: ``SerialPortError`` `inputOutput`.
  public init(connectingTo address: SocketAddress) throws(SerialPortError) {
    descriptor = try attempting(.open, "") { () throws(Errno) in try Syscalls.connect(to: address) }
  }

  /// The descriptor, for pollers.
  public var fileDescriptor: Int32 { descriptor.number }

  /// Nil when the connection is there; else why not.
  public func finishConnecting() -> String? {
    let code = Syscalls.pendingError(of: descriptor.number)
    return code == 0 ? nil : Errno(rawValue: code).description
  }

  /// Reads what is there.
  ///
  /// - Throws: ``SerialPortError`` `inputOutput`: the connection is broken.
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

  /// Writes what is taken now; the number of bytes from the start that were.
  public func write(_ bytes: RawSpan) throws(SerialPortError) -> Int {
    do {
      return try Syscalls.send(descriptor.number, bytes)
    } catch {
      if error == .wouldBlock { return 0 }
      throw SerialPortError(error, .write, "")
    }
  }
}
