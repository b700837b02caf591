// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

/// A socket that listens only on this machine, and its first connection.
final class LocalServer {
  private let listener: Int32
  private var connection: Int32 = -1
  let port: UInt16
  private(set) var text = ""

  init() throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    // bind(2) and getsockname(2) take all kinds of address through a pointer to their common header.
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { common in
        unsafe bind(listener, common, length) == 0 && listen(listener, 1) == 0
          && getsockname(listener, common, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    try #require(code)
  }

  deinit {
    hangUp()
    close(listener)
  }

  func accept() -> Bool {
    if connection < 0 {
      connection = Glibc.accept(listener, nil, nil)
      if connection >= 0 { _ = fcntl(connection, F_SETFL, O_NONBLOCK) }
    }
    return connection >= 0
  }

  func received() -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(connection, $0.baseAddress, $0.count) }
    if count > 0 { text += String(decoding: buffer[..<count], as: UTF8.self) }
    return text
  }

  func send(_ bytes: [UInt8]) {
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  func hangUp() {
    if connection >= 0 { close(connection) }
    connection = -1
  }
}
