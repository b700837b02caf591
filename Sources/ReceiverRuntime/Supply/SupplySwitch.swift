// SPDX-License-Identifier: Apache-2.0

/// The switch in the supply of a receiver, through the kernel.
///
/// `unsafe` because the functions of the C library take pointers. Each pointer refers to memory that a value in this
/// file owns, and is used within one call.
import CLinux
import Glibc
import LinuxIO
import SystemPackage

/// Owns a supply switch. While the value exists, the switch keeps its last setting. The state of a GPIO line after its
/// release depends on the driver: a pull resistor on the board should keep the receiver on.
package struct SupplySwitch: ~Copyable {
  package let address: SupplySwitchAddress
  private let line: Int32

  /// Opens the switch and turns it on.
  package init(_ address: SupplySwitchAddress) throws(SupplySwitchError) {
    let line: Int32
    switch address.mechanism {
    case .gpio(let chip, let name, let isActiveLow): line = try Self.open(chip, name, isActiveLow)
    case .file(let path, let on, _):
      try Self.write(on, to: path)
      line = -1
    }
    self.address = address
    self.line = line
  }

  deinit { if line >= 0 { close(line) } }

  package func set(isOn: Bool) throws(SupplySwitchError) {
    switch address.mechanism {
    case .gpio(let chip, _, _):
      let result = cgpio_set(line, isOn ? 1 : 0)
      if result < 0 { throw Self.failure(chip, -result) }
    case .file(let path, let on, let off): try Self.write(isOn ? on : off, to: path)
    }
  }

  private static func open(
    _ path: String, _ line: SupplySwitchAddress.Line, _ isActiveLow: Bool
  ) throws(SupplySwitchError) -> Int32 {
    let chip = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC)
    guard chip >= 0 else { throw failure(path, errno) }
    defer { close(chip) }
    let count = cgpio_line_count(chip)
    if count < 0 { throw failure(path, -count) }
    var offset: UInt32?
    switch line {
    case .number(let number): if number < UInt32(count) { offset = number }
    case .name(let name): offset = (0..<UInt32(count)).first { unsafe cgpio_is_named(chip, $0, name) == 1 }
    }
    guard let offset else { throw .noLine(path, line) }
    let result = unsafe cgpio_open_output(chip, offset, isActiveLow ? 1 : 0, 1, "sextant")
    if result < 0 { throw failure(path, -result) }
    return result
  }

  private static func write(_ word: String, to path: String) throws(SupplySwitchError) {
    do { try AttributeFile.write(word + "\n", to: path) } catch { throw failure(path, error.errno.rawValue) }
  }

  private static func failure(_ path: String, _ code: Int32) -> SupplySwitchError {
    .system(path, code: code, reason: Errno(rawValue: code).description)
  }
}

extension SupplySwitchError {
  /// Returns the next step for an error of the system.
  func cure(_ code: Int32) -> String? {
    switch code {
    case ENOENT: "check the name (`ls /dev/gpiochip*`)"
    case EACCES, EPERM: "join the group that owns it, or add a udev rule"
    case EBUSY: "another program or driver uses the line; stop it first"
    case ENOTTY, EINVAL: "it is not a GPIO chip, or the kernel is older than 5.10"
    default: nil
    }
  }

  /// The exit code, from sysexits.h.
  package var exitCode: Int32 { systemExitCode.rawValue }

  private var systemExitCode: SystemExitCode {
    switch self {
    case .malformed: .usage
    case .noLine: .noInput
    case .system(_, ENOENT, _): .noInput
    case .system(_, EACCES, _), .system(_, EPERM, _): .noPermission
    case .system(_, EBUSY, _): .held
    case .system: .inputOutput
    }
  }
}
