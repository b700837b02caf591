// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime

@testable import SerialPort

let everyByte = (0...255).map { UInt8($0) }

/// A deadline that passing tests do not reach: it limits the wait of a failing test.
func generousDeadline() -> UInt64 { SystemClock.monotonic.nanoseconds + 20_000_000_000 }

/// Waits for one event of a descriptor.
func awaitEvents(of descriptor: Int32, _ interest: Poller.Interest = .readable) throws -> [Poller.Event] {
  var poller = try Poller()
  try poller.add(descriptor, token: line, interest: interest)
  return try poller.wait(deadline: generousDeadline())
}

let line = Poller.Token(rawValue: 1)

extension SerialPort {
  /// Reads until `count` bytes have arrived, waiting for each of them.
  func bytes(_ count: Int) throws -> [UInt8] {
    var received: [UInt8] = []
    while received.count < count {
      guard try awaitEvents(of: fileDescriptor).contains(.readable(line)) else { break }
      received += try available()
    }
    return received
  }

  /// Reads once.
  func available() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    guard case .bytes(let count) = try readOnce(&buffer) else { return [] }
    return Array(buffer[..<count])
  }

  func readOnce(_ buffer: inout [UInt8]) throws(SerialPortError) -> ReadResult {
    var elements = buffer.mutableSpan
    // Safe: bytes have no invalid bit patterns.
    var span = unsafe elements.mutableBytes
    return try read(into: &span)
  }

  func readOnce() throws(SerialPortError) -> ReadResult {
    var buffer = [UInt8](repeating: 0, count: 4096)
    return try readOnce(&buffer)
  }

  // Bytes have no padding that a raw view could show.
  func send(_ bytes: [UInt8]) throws(SerialPortError) -> Int { try unsafe write(bytes.span.bytes) }
}

extension PseudoTerminal {
  // Bytes have no padding that a raw view could show.
  func send(_ bytes: [UInt8]) throws(SerialPortError) -> Int { try unsafe write(bytes.span.bytes) }

  /// Reads until `count` bytes have arrived, waiting for each of them.
  func bytes(_ count: Int) throws -> [UInt8] {
    var received: [UInt8] = []
    while received.count < count {
      guard try awaitEvents(of: fileDescriptor).contains(.readable(line)) else { break }
      received += try takeWritten()
    }
    return received
  }
}

/// Runs an operation that should fail, and returns its error; nil if it did not fail.
func failure(_ body: () throws(SerialPortError) -> Void) -> SerialPortError? {
  do {
    try body()
    return nil
  } catch {
    return error
  }
}

func failureOpening(_ path: String) -> SerialPortError? {
  failure { () throws(SerialPortError) in _ = try SerialPort(opening: path, access: .readWrite, baud: nil) }
}
