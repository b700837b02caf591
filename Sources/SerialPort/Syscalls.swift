// SPDX-License-Identifier: Apache-2.0

// The system calls: all calls of this module into the C library, and all its `unsafe` expressions, are in this file and
// its extensions. The calls on files are in module LinuxIO.
//
// Each function passes memory to the kernel for the duration of one call and does not keep pointers; the buffers come
// with their length, and C strings are copied before the call returns. An interrupted call is repeated. The callers
// interpret the results, and convert the errors for the caller of the module.
import CLinux
import Glibc
import LinuxIO
import SystemPackage

/// Makes a call that returns the negative errno on failure, and repeats it while a signal interrupts it.
@discardableResult
func retryOnNegativeErrno(_ call: () -> Int32) throws(Errno) -> Int32 {
  while true {
    let result = call()
    if result >= 0 { return result }
    if result != -EINTR { throw Errno(rawValue: -result) }
  }
}

// MARK: - Files and bytes

extension NodeStatus {
  var major: UInt32 { gnu_dev_major(dev_t(device)) }
  var minor: UInt32 { gnu_dev_minor(dev_t(device)) }

  /// Whether both are the same device (under any name) or the same file. Containers have their own pseudo-terminals
  /// with the same numbers.
  func isSame(as other: NodeStatus) -> Bool {
    if type != other.type { return false }
    if type == .character, !isPseudoTerminal { return device == other.device }
    return device == other.device && fileSystem == other.fileSystem && inode == other.inode
  }

  /// Whether this is the file that /proc/locks names by its file system and its number there.
  func isFile(onMajor major: UInt32, minor: UInt32, inode: UInt64) -> Bool {
    let fileSystem = dev_t(fileSystem)
    return self.inode == inode && gnu_dev_major(fileSystem) == major && gnu_dev_minor(fileSystem) == minor
  }
}

extension Syscalls {
  /// Whether the process's effective user may read and write the file; faccessat(2) with AT_EACCESS.
  static func mayReadAndWrite(_ path: String) -> Bool {
    unsafe faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0
  }

  /// Whether the path leads to an anonymous pipe, like /dev/stdin after a `|`; statfs(2), PIPEFS_MAGIC.
  static func isAnonymousPipe(_ path: String) -> Bool {
    var found = statfs()
    return unsafe statfs(path, &found) == 0 && found.f_type == 0x5049_5045
  }

  /// The name of a group; getgrgid_r(3). Nil for a group without a name.
  package static func groupName(_ identifier: UInt32) -> String? {
    var entry = unsafe group()
    var found: UnsafeMutablePointer<group>?
    var strings = [CChar](repeating: 0, count: 16_384)
    let code = unsafe getgrgid_r(identifier, &entry, &strings, strings.count, &found)
    guard code == 0, let found = unsafe found, let name = unsafe found.pointee.gr_name else { return nil }
    return unsafe String(cString: name)
  }
}

// MARK: - Terminals

/// The settings of a terminal as stored by the kernel: rate, framing, control characters.
struct LineSettings: Equatable {
  private var inner: cserial_settings

  /// TCGETS2. ENOTTY if it is not a terminal.
  init(of descriptor: Int32) throws(Errno) {
    inner = cserial_settings()
    var found = cserial_settings()
    try retryOnNegativeErrno { unsafe cserial_get_settings(descriptor, &found) }
    inner = found
  }

  /// TCSETS2: at once, without waiting for output.
  func apply(to descriptor: Int32) throws(Errno) {
    var wanted = inner
    try retryOnNegativeErrno { unsafe cserial_set_settings(descriptor, &wanted) }
  }

  var baudRate: UInt32 {
    get {
      var copy = inner
      return unsafe cserial_rate(&copy)
    }
    set { unsafe cserial_set_rate(&inner, newValue) }
  }

  var character: SerialCharacter {
    get {
      var copy = inner
      let found = unsafe cserial_character(&copy)
      return SerialCharacter(
        bits: found.bits, parity: SerialCharacter.Parity(rawValue: found.parity) ?? .none,
        hasTwoStopBits: found.two_stop_bits)
    }
    set {
      unsafe cserial_set_character(
        &inner,
        cserial_form(
          bits: newValue.bits, parity: newValue.parity.rawValue, two_stop_bits: newValue.hasTwoStopBits))
    }
  }

  mutating func makeRaw() { unsafe cserial_make_raw(&inner) }

  mutating func setReadThreshold(minimum: UInt8, timeoutDeciseconds: UInt8) {
    unsafe cserial_set_read_threshold(&inner, minimum, timeoutDeciseconds)
  }

  static func == (one: LineSettings, other: LineSettings) -> Bool {
    var one = one.inner
    var other = other.inner
    return unsafe cserial_same_settings(&one, &other)
  }
}

extension Syscalls {
  /// TIOCEXCL or TIOCNXCL.
  static func setExclusive(_ descriptor: Int32, _ exclusive: Bool) throws(Errno) {
    try retryOnNegativeErrno { cserial_set_exclusive(descriptor, exclusive) }
  }

  /// TIOCGEXCL; false if the kernel does not support it.
  static func isExclusive(_ descriptor: Int32) -> Bool { cserial_is_exclusive(descriptor) == 1 }

  /// TIOCGICOUNT; nil if the driver does not count.
  static func lineCounters(_ descriptor: Int32) throws(Errno) -> cserial_counters? {
    var counters = cserial_counters()
    do {
      try retryOnNegativeErrno { unsafe cserial_line_counters(descriptor, &counters) }
      return counters
    } catch  where error == .inappropriateIOCTLForDevice || error == .invalidArgument {
      return nil
    }
  }

  /// ASYNC_LOW_LATENCY; nil if the driver has no such setting.
  static func lowLatency(_ descriptor: Int32) -> Bool? {
    switch cserial_low_latency(descriptor) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  /// TIOCSSERIAL.
  static func setLowLatency(_ descriptor: Int32, _ on: Bool) throws(Errno) {
    try retryOnNegativeErrno { cserial_set_low_latency(descriptor, on) }
  }

  /// TIOCMGET; nil if the driver has no modem lines.
  static func modemLines(_ descriptor: Int32) throws(Errno) -> UInt32? {
    var lines: UInt32 = 0
    do {
      try retryOnNegativeErrno { unsafe cserial_modem_lines(descriptor, &lines) }
      return lines
    } catch  where error == .inappropriateIOCTLForDevice || error == .invalidArgument {
      return nil
    }
  }

  /// TIOCMBIS or TIOCMBIC.
  static func switchModemLines(_ descriptor: Int32, _ lines: UInt32, on: Bool) throws(Errno) {
    try retryOnNegativeErrno { cserial_switch_modem_lines(descriptor, lines, on) }
  }

  /// TCSBRK with 0.
  static func sendBreak(_ descriptor: Int32) throws(Errno) {
    try retryOnNegativeErrno { cserial_send_break(descriptor) }
  }

  /// TCSBRK with 1, as tcdrain(3).
  static func drain(_ descriptor: Int32) throws(Errno) {
    try retryOnNegativeErrno { cserial_drain(descriptor) }
  }

  /// TCFLSH with TCIFLUSH.
  static func discardInput(_ descriptor: Int32) throws(Errno) {
    try retryOnNegativeErrno { cserial_discard_input(descriptor) }
  }

  /// TIOCOUTQ.
  static func unsentByteCount(_ descriptor: Int32) throws(Errno) -> Int {
    Int(try retryOnNegativeErrno { cserial_unsent(descriptor) })
  }

  /// A new pseudo-terminal's master, unlocked, non-blocking; posix_openpt(3), grantpt(3), unlockpt(3).
  static func openPseudoTerminal() throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(try retryOnNegativeErrno { cserial_open_pty() })
  }

  /// The node of a master's other end; ptsname_r(3).
  static func slavePath(of master: Int32) throws(Errno) -> String {
    var path = [CChar](repeating: 0, count: 64)
    try retryOnNegativeErrno { unsafe cserial_pty_slave_path(master, &path, path.count) }
    return String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
