// SPDX-License-Identifier: Apache-2.0

// The address of a socket that another program may have opened. Each `unsafe` passes a pointer to memory that the
// call's frame owns, and no pointer escapes a call.
import Glibc

/// The address at which a TCP socket listens: getsockname(2).
package struct SocketName: Hashable, Sendable {
  package let port: UInt16
  /// Whether other machines cannot reach it.
  package let isLoopback: Bool

  /// Returns nil for a socket of another family.
  package init?(of descriptor: Int32) {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    guard code == 0 else { return nil }
    let bytes = unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
    port = UInt16(bigEndian: address.sin6_port)
    switch Int32(address.sin6_family) {
    // The address follows family and port; 127.0.0.0/8.
    case AF_INET: isLoopback = bytes[4] == 127
    // The flow information comes before it; ::1.
    case AF_INET6: isLoopback = Array(bytes[8..<24]) == [UInt8](repeating: 0, count: 15) + [1]
    default: return nil
    }
  }

  /// A number for the address of the other end of a TCP connection, above the user ids; nil for an address of this
  /// machine's loopback network, and for a socket of another family. The addresses of an IPv6 network (/64) have the
  /// same number.
  package static func peerAddressNumber(of descriptor: Int32) -> UInt32? {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getpeername(descriptor, $0, &length) }
    }
    guard code == 0 else { return nil }
    let bytes = unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    let name: [UInt8]
    switch Int32(address.sin6_family) {
    case AF_INET: name = Array(bytes[4..<8])
    case AF_INET6 where Array(bytes[8..<20]) == mapped: name = Array(bytes[20..<24])
    case AF_INET6:
      if Array(bytes[8..<24]) == [UInt8](repeating: 0, count: 15) + [1] { return nil }
      name = Array(bytes[8..<16])
    default: return nil
    }
    if name.count == 4, name[0] == 127 { return nil }
    // FNV-1a. Two addresses with the same number share their limits.
    return name.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 } | 1 << 31
  }

  /// The index of the loopback interface; nil if there is none. if_nametoindex(3).
  package static var loopbackInterface: Int32? {
    let index = unsafe if_nametoindex("lo")
    return index == 0 ? nil : Int32(index)
  }
}
