// SPDX-License-Identifier: Apache-2.0

// The calls on sockets, as in Syscalls.swift: the kernel uses the memory only during the call, and the memory that
// getaddrinfo(3) allocates is copied and freed.
import Glibc
import LinuxIO
import Synchronization
import SystemPackage

/// A value that two threads share.
final class Locked<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  init(_ value: Value) { mutex = Mutex(value) }

  var value: Value {
    get { mutex.withLock { $0 } }
    set { mutex.withLock { $0 = newValue } }
  }
}

extension Syscalls {
  /// getaddrinfo(3); waits for the name service.
  static func addresses(of host: String?, port: UInt16, isForDatagrams: Bool) -> HostLookup.Result {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(isForDatagrams ? SOCK_DGRAM.rawValue : SOCK_STREAM.rawValue)
    // A machine without another network still has its loopback interface.
    unsafe hints.ai_flags = AI_NUMERICSERV | (isForDatagrams ? AI_PASSIVE : AI_ADDRCONFIG)
    var list: UnsafeMutablePointer<addrinfo>?
    let code =
      if let host { unsafe getaddrinfo(host, String(port), &hints, &list) } else {
        unsafe getaddrinfo(nil, String(port), &hints, &list)
      }
    guard code == 0 else {
      guard let text = unsafe gai_strerror(code) else { return .failed("error \(code)") }
      return unsafe .failed(String(cString: text))
    }
    defer { unsafe freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let address = unsafe entry.pointee.ai_addr {
        let bytes = unsafe UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen))
        unsafe found.append(SocketAddress(family: entry.pointee.ai_family, bytes: Array(bytes)))
      }
      unsafe next = entry.pointee.ai_next
    }
    // A socket of IPv6 for all addresses receives datagrams of IPv4 too.
    if host == nil { found = found.filter { $0.family == AF_INET6 } + found.filter { $0.family != AF_INET6 } }
    return found.isEmpty ? .failed("no address") : .found(found)
  }

  /// socket(2) and connect(2), without blocking.
  static func connect(to address: SocketAddress) throws(Errno) -> OwnedDescriptor {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = OwnedDescriptor(try retryOnInterrupt { socket(address.family, type, 0) })
    let code = unsafe address.bytes.withUnsafeBytes { bytes in
      // The bytes are a socket address as getaddrinfo(3) made it.
      let pointer = unsafe bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      return unsafe Glibc.connect(descriptor.number, pointer, socklen_t(bytes.count)) == 0 ? 0 : errno
    }
    // An interrupted connect(2) continues on its own.
    if code != 0, code != EINPROGRESS, code != EINTR { throw Errno(rawValue: code) }
    return descriptor
  }

  /// getsockopt(2) with SO_ERROR: the errno that a connection ended with; 0 for none.
  static func pendingError(of descriptor: Int32) -> Int32 {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let result = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    return result == 0 ? code : errno
  }

  /// send(2) with MSG_NOSIGNAL: a closed connection is an error and does not raise a signal.
  static func send(_ descriptor: Int32, _ span: RawSpan) throws(Errno) -> Int {
    try unsafe span.withUnsafeBytes { (buffer) throws(Errno) -> Int in
      try retryOnInterrupt {
        unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
      }
    }
  }
}
