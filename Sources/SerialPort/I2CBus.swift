import FileSystem
import Glibc
import SystemPackage

/// An I2C bus, of which one device is talked to; i2c-dev of Linux (Documentation/i2c/dev-interface.rst).
///
/// The value owns the descriptor. Others may use the bus meanwhile, for other devices: the kernel lets one transfer pass
/// at a time.
public struct I2CBus: ~Copyable {
  /// The node, such as `/dev/i2c-1`.
  public let path: String
  /// The device's address, 7 bits.
  public let address: UInt8

  private let descriptor: OwnedDescriptor

  /// Opens the bus; the device is not asked for. The corresponding C function is open(2).
  ///
  /// - Throws: `notFound`, `noPermission`, `unsuitable` for what is no I2C bus or cannot do plain transfers.
  public init(opening path: String, address: UInt8) throws(SerialPortError) {
    try refuseNUL(path, .open)
    let descriptor = try opening(path) { () throws(Errno) in try Syscalls.open(path, O_RDWR | O_CLOEXEC) }
    let isAble: Bool
    do {
      isAble = try Syscalls.doesI2CTransfers(descriptor.number)
    } catch {
      throw SerialPortError(
        cause: .malformed("is no I2C bus; name one such as i2c:/dev/i2c-1 (`ls /dev/i2c-*`)"), operation: .open,
        path: path, errno: error.rawValue)
    }
    guard isAble else {
      throw SerialPortError(
        cause: .malformed("the adapter of this bus speaks SMBus alone; a receiver needs one that does I2C transfers"),
        operation: .open, path: path, errno: EOPNOTSUPP)
    }
    self.path = path
    self.address = address
    self.descriptor = descriptor
  }

  /// Bytes that every adapter does in one transfer.
  private static let always = 16

  /// Writes and then reads in one transfer, with a repeated start between. Waits until it is done: the bus is slow (22 µs
  /// a byte at 400 kHz) and the device may hold its clock.
  ///
  /// - Parameters:
  ///   - out: what is written first; may be empty.
  ///   - span: where the bytes are put that are read.
  ///   - count: how many to read, at most 65,535; may be 0.
  /// - Returns: false when the device did not answer to its address or to a byte: it is not there, or busy.
  /// - Throws: ``SerialPortError``: `gone`, `inputOutput`, `notSupported` when the adapter does not do so long a transfer.
  @_lifetime(span: copy span)
  public func transfer(
    writing out: RawSpan, readingInto span: inout MutableRawSpan, count: Int
  ) throws(SerialPortError) -> Bool {
    do {
      try Syscalls.transferI2C(descriptor.number, address: address, writing: out, readingInto: &span, count: count)
      return true
    } catch {
      switch error.rawValue {
      // What drivers answer for a missing acknowledgement or a clock held too long (Documentation/i2c/fault-codes.rst).
      case ENXIO, EREMOTEIO, EIO, EAGAIN, ETIMEDOUT: return false
      // Adapters that tell the kernel of their limits refuse by EOPNOTSUPP, others by whatever their driver found.
      case EINVAL where max(out.byteCount, count) > Self.always:
        throw SerialPortError(
          cause: .notSupported, operation: out.byteCount > 1 ? .write : .read, path: path, errno: error.rawValue)
      default: throw SerialPortError(error, out.byteCount > 1 ? .write : .read, path)
      }
    }
  }
}
