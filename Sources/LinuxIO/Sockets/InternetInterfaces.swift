// SPDX-License-Identifier: Apache-2.0

// The addresses of the interfaces: getifaddrs(3). Its list is freed before the function returns, and no pointer leaves it, which is the
// reason for each `unsafe`.
import Glibc

/// The addresses of this machine's interfaces.
package enum InternetInterfaces {
  /// The IPv4 addresses at which other machines reach this one: of the interfaces that are up, in the kernel's order.
  package static func reachableAddresses() -> [String] {
    let reachable = all { $0 & UInt32(IFF_UP) != 0 && $0 & UInt32(IFF_LOOPBACK) == 0 }
    return reachable.filter { $0.count == 4 }.map { address in address.map { "\($0)" }.joined(separator: ".") }
  }

  /// The IPv4 and IPv6 addresses of all interfaces, four or sixteen bytes each, in network byte order.
  static func addresses() -> [[UInt8]] { all { _ in true } }

  private static func all(where isWanted: (_ flags: UInt32) -> Bool) -> [[UInt8]] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&first) == 0 else { return [] }
    defer { unsafe freeifaddrs(first) }
    var addresses: [[UInt8]] = []
    var next = unsafe first
    while let interface = unsafe next?.pointee {
      unsafe next = interface.ifa_next
      guard isWanted(unsafe interface.ifa_flags), let address = unsafe interface.ifa_addr else { continue }
      switch Int32(unsafe address.pointee.sa_family) {
      case AF_INET:
        unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          var bytes = unsafe $0.pointee.sin_addr
          addresses.append(unsafe withUnsafeBytes(of: &bytes) { unsafe Array($0) })
        }
      case AF_INET6:
        unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          var bytes = unsafe $0.pointee.sin6_addr
          addresses.append(unsafe withUnsafeBytes(of: &bytes) { unsafe Array($0) })
        }
      default: break
      }
    }
    return addresses
  }
}
