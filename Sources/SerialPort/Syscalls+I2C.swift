// SPDX-License-Identifier: Apache-2.0

// The calls on I2C adapters, as in Syscalls.swift: the kernel uses the memory only during the call.
import CLinux
import Glibc
import LinuxIO
import SystemPackage

extension Syscalls {
  /// I2C_FUNCS: whether the adapter supports plain transfers.
  static func doesI2CTransfers(_ descriptor: Int32) throws(Errno) -> Bool {
    try retryOnNegativeErrno { ci2c_does_transfers(descriptor) } == 1
  }

  /// I2C_RDWR: writes `out`, then fills the first `count` bytes of `span`. Traps when they are longer than a message can
  /// be (65,535 bytes) or do not fit.
  @_lifetime(span: copy span)
  static func transferI2C(
    _ descriptor: Int32, address: UInt8, writing out: RawSpan, readingInto span: inout MutableRawSpan, count: Int
  ) throws(Errno) {
    precondition(count <= span.byteCount)
    let (outCount, inCount) = (UInt16(out.byteCount), UInt16(count))
    try unsafe span.withUnsafeMutableBytes { (input) throws(Errno) in
      try unsafe out.withUnsafeBytes { (output) throws(Errno) in
        let from = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let to = unsafe input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try retryOnNegativeErrno {
          unsafe ci2c_transfer(descriptor, UInt16(address), from, outCount, to, inCount)
        }
      }
    }
  }
}
