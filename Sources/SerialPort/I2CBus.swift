// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import SystemPackage

/// An I2C bus with one device of interest; i2c-dev of Linux (Documentation/i2c/dev-interface.rst).
///
/// The value owns the descriptor. Other programs may use the bus for other devices: the kernel runs one transfer at a
/// time.
public struct I2CBus: ~Copyable {
  /// The node, such as `/dev/i2c-1`.
  public let path: String
  /// The address of the device, 7 bits.
  public let address: UInt8

  private let descriptor: OwnedDescriptor

  /// Opens the bus. The device is not accessed. The corresponding C function is open(2).
  ///
  /// - Throws: `notFound`, `noPermission`, `malformed` for a path that is not an I2C bus or lacks plain transfers.
  public init(opening path: String, address: UInt8) throws(SerialPortError) {
    try self.init(adopting: try Self.openForAnother(path), path: path, address: address)
  }

  /// Opens a bus for ``init(adopting:path:address:)``, possibly in another program.
  package static func openForAnother(_ path: String) throws(SerialPortError) -> OwnedDescriptor {
    try refuseNUL(path, .open)
    return try opening(path) { () throws(Errno) in try Syscalls.open(path, O_RDWR | O_CLOEXEC) }
  }

  /// Adopts a bus that another program has opened.
  ///
  /// - Throws: `malformed` if it is not an I2C bus or lacks plain transfers.
  package init(
    adopting descriptor: consuming OwnedDescriptor, path: String, address: UInt8
  ) throws(SerialPortError) {
    let isAble: Bool
    do {
      isAble = try Syscalls.doesI2CTransfers(descriptor.number)
    } catch {
      throw SerialPortError(
        cause: .malformed("is not an I2C bus; name one such as i2c:/dev/i2c-1 (`ls /dev/i2c-*`)"), operation: .open,
        path: path, errno: error.rawValue)
    }
    guard isAble else {
      throw SerialPortError(
        cause: .malformed("the adapter of this bus supports SMBus only; a receiver needs one with I2C transfers"),
        operation: .open, path: path, errno: EOPNOTSUPP)
    }
    self.path = path
    self.address = address
    self.descriptor = descriptor
  }

  /// The size of a transfer that every adapter supports, bytes.
  private static let always = 16

  /// Writes and then reads in one transfer, with a repeated start between. Waits for its end: the bus is slow (22 µs a
  /// byte at 400 kHz), and the device may stretch the clock.
  ///
  /// - Parameters:
  ///   - out: the bytes to write first; may be empty.
  ///   - span: the destination of the read bytes.
  ///   - count: the number of bytes to read, at most 65,535; may be 0.
  /// - Returns: false if the device did not acknowledge its address or a byte: it is absent or busy.
  /// - Throws: ``SerialPortError``: `gone`, `inputOutput`, `notSupported` if the transfer is too long for the adapter.
  @_lifetime(span: copy span)
  public func transfer(
    writing out: RawSpan, readingInto span: inout MutableRawSpan, count: Int
  ) throws(SerialPortError) -> Bool {
    do {
      try Syscalls.transferI2C(descriptor.number, address: address, writing: out, readingInto: &span, count: count)
      return true
    } catch {
      switch error.rawValue {
      // The errors of drivers for a missing acknowledgement or a clock stretched too long
      // (Documentation/i2c/fault-codes.rst).
      case ENXIO, EREMOTEIO, EIO, EAGAIN, ETIMEDOUT: return false
      // Adapters that declare their limits to the kernel refuse with EOPNOTSUPP, others with an error of their driver.
      case EINVAL where max(out.byteCount, count) > Self.always:
        throw SerialPortError(
          cause: .notSupported, operation: out.byteCount > 1 ? .write : .read, path: path, errno: error.rawValue)
      default: throw SerialPortError(error, out.byteCount > 1 ? .write : .read, path)
      }
    }
  }
}
