// SPDX-License-Identifier: Apache-2.0

// Listening sockets of TCP: ip(7), ipv6(7), tcp(7). Each `unsafe` passes a pointer to memory that the call's frame
// owns, and no pointer escapes a call.
import Glibc
import SystemPackage

/// The address of a TCP socket on this machine.
package struct InternetAddress: Hashable, Sendable, CustomStringConvertible {
  private enum Host: Hashable, Sendable {
    case four(UInt32)
    case six([UInt8])
  }

  private let host: Host
  package let port: UInt16
  package let description: String

  /// Reads `127.0.0.1:2947` or `[::1]:2947`. Names are not looked up, but `localhost` means both of its addresses, and
  /// `*` means all addresses. Returns nil for other text.
  package static func parse(_ text: String) -> [InternetAddress]? {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      return nil
    }
    let host = text[..<colon]
    switch host {
    case "localhost": return loopback(port: port)
    case "*": return ["0.0.0.0", "::"].compactMap { InternetAddress(String($0), port) }
    default:
      let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
      let bare = isBracketed ? String(host.dropFirst().dropLast()) : String(host)
      guard bare.contains(":") == isBracketed, let address = InternetAddress(bare, port) else { return nil }
      return [address]
    }
  }

  /// The addresses of this machine that other machines cannot reach.
  package static func loopback(port: UInt16) -> [InternetAddress] {
    ["127.0.0.1", "::1"].compactMap { InternetAddress($0, port) }
  }

  private init?(_ text: String, _ port: UInt16) {
    self.port = port
    var four = in_addr()
    var six = in6_addr()
    if unsafe inet_pton(AF_INET, text, &four) == 1 {
      host = .four(four.s_addr)
      description = "\(text):\(port)"
    } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
      host = .six(unsafe withUnsafeBytes(of: &six) { unsafe Array($0) })
      description = "[\(text)]:\(port)"
    } else {
      return nil
    }
  }

  /// Whether it is an IPv6 address, which a machine may not support.
  package var isVersion6: Bool { if case .six = host { true } else { false } }

  /// Creates a socket that listens at this address. The caller closes it.
  package func listen() throws(Errno) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let family = isVersion6 ? AF_INET6 : AF_INET
    let socket = OwnedDescriptor(try retryOnInterrupt { Glibc.socket(family, type, 0) })
    let descriptor = socket.number
    Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR)
    if isVersion6 { Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
    switch host {
    case .four(let bits):
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = bits
      try Self.bind(descriptor, &address)
    case .six(let bytes):
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
      try Self.bind(descriptor, &address)
    }
    _ = try retryOnInterrupt { Glibc.listen(descriptor, 128) }
    return socket.release()
  }

  private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) throws(Errno) {
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe Glibc.bind(descriptor, address, socklen_t(MemoryLayout<Address>.size)) == 0 ? 0 : errno
      }
    }
    if code != 0 { throw Errno(rawValue: code) }
  }

  /// Makes a connection send each report at once, instead of waiting for more data. tcp(7), TCP_NODELAY.
  package static func sendAtOnce(_ descriptor: Int32) { set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY) }

  /// Limits the bytes in the kernel for a peer that does not read, so that this end detects it within a minute.
  /// socket(7), SO_SNDBUF.
  package static func limitUnread(_ descriptor: Int32) { set(descriptor, SOL_SOCKET, SO_SNDBUF, 16_384) }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32 = 1) {
    var value = value
    unsafe _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
