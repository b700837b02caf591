// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage

/// A socket that receives datagrams without blocking; udp(7). The value owns it.
///
/// | address | datagrams |
/// |---|---|
/// | of this machine, or none (`::`, `0.0.0.0`) | those to it; another program cannot receive there at the same time |
/// | a multicast group | those to the group, which is joined; several programs may receive them |
/// | a broadcast address | those to it |
public struct DatagramSocket: ~Copyable {
  private let descriptor: OwnedDescriptor

  /// Opens the socket. socket(2), bind(2); a group is joined with MCAST_JOIN_GROUP (RFC 3678, section 5.1).
  ///
  /// - Throws: ``SerialPortError`` `inputOutput` with the errno: EADDRINUSE, EADDRNOTAVAIL, ENODEV for a group without a route.
  public init(receivingAt address: SocketAddress) throws(SerialPortError) {
    descriptor = try attempting(.open, "") { () throws(Errno) in try Syscalls.receiveDatagrams(at: address) }
  }

  /// The descriptor, for pollers.
  public var fileDescriptor: Int32 { descriptor.number }

  /// Reads one datagram. The rest of a datagram that is longer than the span is lost; the longest has 65,507 bytes.
  ///
  /// - Returns: the number of its bytes, which may be 0; nil if no datagram is available.
  @_lifetime(span: copy span)
  public func read(into span: inout MutableRawSpan) throws(SerialPortError) -> Int? {
    do {
      return try Syscalls.read(descriptor.number, into: &span)
    } catch {
      if error == .wouldBlock { return nil }
      throw SerialPortError(error, .read, "")
    }
  }
}
