// SPDX-License-Identifier: Apache-2.0

// The calls on sockets for datagrams, as in Syscalls.swift: the kernel uses the memory only during the call.
import Glibc
import LinuxIO
import SystemPackage

extension SocketAddress {
  /// Whether it is a multicast group: 224.0.0.0/4 (RFC 5771), ff00::/8 (RFC 4291, section 2.7).
  public var isMulticast: Bool {
    // The address follows family and port in sockaddr_in; in sockaddr_in6 the flow information comes before it.
    switch family {
    case AF_INET: bytes.count > 4 && bytes[4] & 0xF0 == 0xE0
    case AF_INET6: bytes.count > 8 && bytes[8] == 0xFF
    default: false
    }
  }
}

extension Syscalls {
  /// socket(2), bind(2) and, for a group, setsockopt(2) with MCAST_JOIN_GROUP at the interface of its scope, otherwise
  /// at the interface that the routes select.
  static func receiveDatagrams(at address: SocketAddress) throws(Errno) -> OwnedDescriptor {
    let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = OwnedDescriptor(try retryOnInterrupt { socket(address.family, type, 0) })
    // If several sockets had the same address of this machine, only one would get a datagram.
    if address.isMulticast { try set(descriptor.number, SOL_SOCKET, SO_REUSEADDR, Int32(1)) }
    // Without a host, datagrams of IPv4 are received too.
    if address.family == AF_INET6 { try set(descriptor.number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, Int32(0)) }
    let code = unsafe address.bytes.withUnsafeBytes { bytes in
      // The bytes are a socket address as getaddrinfo(3) made it.
      let pointer = unsafe bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      return unsafe Glibc.bind(descriptor.number, pointer, socklen_t(bytes.count)) == 0 ? 0 : errno
    }
    guard code == 0 else { throw Errno(rawValue: code) }
    if address.isMulticast { try join(descriptor.number, address) }
    return descriptor
  }

  private static func join(_ descriptor: Int32, _ group: SocketAddress) throws(Errno) {
    var request = group_req()
    unsafe withUnsafeMutableBytes(of: &request.gr_group) { unsafe $0.copyBytes(from: group.bytes) }
    // sockaddr_in6 ends with the scope, which is the index of an interface.
    if group.family == AF_INET6, group.bytes.count >= 28 {
      request.gr_interface = group.bytes[24..<28].reversed().reduce(0) { $0 << 8 | UInt32($1) }
      if UInt32(1).bigEndian == 1 { request.gr_interface = request.gr_interface.byteSwapped }
    }
    let level = Int32(group.family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP)
    try set(descriptor, level, MCAST_JOIN_GROUP, request)
  }

  /// Makes the kernel detect a dead peer even if nothing is sent: after 30 s without a byte, and three probes in 10 s
  /// each. tcp(7), TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_USER_TIMEOUT. Small messages are sent at once (TCP_NODELAY), and no more
  /// than a few kilobytes wait for a peer that reads slowly (TCP_NOTSENT_LOWAT): by default megabytes do, which are late by an hour.
  static func keepAlive(_ descriptor: Int32) {
    let tcp = Int32(IPPROTO_TCP)
    let options: [(Int32, Int32, Int32)] = [
      (SOL_SOCKET, SO_KEEPALIVE, 1), (tcp, TCP_KEEPIDLE, 30), (tcp, TCP_KEEPINTVL, 10), (tcp, TCP_KEEPCNT, 3),
      (tcp, TCP_USER_TIMEOUT, 60_000), (tcp, TCP_NODELAY, 1), (tcp, TCP_NOTSENT_LOWAT, 4096),
    ]
    // The connection works without them.
    for (level, option, value) in options { try? set(descriptor, level, option, value) }
  }

  /// setsockopt(2).
  private static func set<Value: BitwiseCopyable>(
    _ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Value
  ) throws(Errno) {
    var value = value
    _ = try retryOnInterrupt {
      unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Value>.size))
    }
  }
}
