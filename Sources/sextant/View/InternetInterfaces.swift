// SPDX-License-Identifier: Apache-2.0

// The addresses of the interfaces: getifaddrs(3). Its list is freed before the function returns, and no pointer leaves it, which is the
// reason for each `unsafe`.
import Glibc

/// The addresses by which other machines reach this one.
enum InternetInterfaces {
  /// The IPv4 addresses of the interfaces that are up, in the order of the kernel, without those of this machine alone.
  static func reachableAddresses() -> [String] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&first) == 0 else { return [] }
    defer { unsafe freeifaddrs(first) }
    var addresses: [String] = []
    var next = unsafe first
    while let interface = unsafe next?.pointee {
      unsafe next = interface.ifa_next
      let flags = unsafe interface.ifa_flags
      guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0,
        let address = unsafe interface.ifa_addr, unsafe address.pointee.sa_family == sa_family_t(AF_INET)
      else { continue }
      let bits = unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
      }
      addresses.append("\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)")
    }
    return addresses
  }
}
