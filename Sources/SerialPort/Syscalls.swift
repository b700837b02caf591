// The room of the system calls: every call into the C library, and with it every `unsafe` of this module, stands here. The
// calls on files are those of module FileSystem.
//
// Each function lends the kernel memory for the length of one call and keeps no pointer; the buffers come with their
// length, and C strings are copied before the call returns. An interrupted call is made again. What a call means, and
// which error it becomes for the caller of the module, is decided elsewhere.
import CLinux
import FileSystem
import Glibc
import SystemPackage

/// Makes a call that returns the negative errno on failure, again for as long as a signal interrupts it.
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

  /// Whether both are the same device (under whatever name) or the same file.
  func isSame(as other: NodeStatus) -> Bool {
    if type != other.type { return false }
    return type == .character ? device == other.device : fileSystem == other.fileSystem && inode == other.inode
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

  /// Whether the path leads to an anonymous pipe, as /dev/stdin does behind a `|`; statfs(2), PIPEFS_MAGIC.
  static func isAnonymousPipe(_ path: String) -> Bool {
    var found = statfs()
    return unsafe statfs(path, &found) == 0 && found.f_type == 0x5049_5045
  }

  /// The name of a group; getgrgid_r(3). Nil for a group without a name.
  static func groupName(_ identifier: UInt32) -> String? {
    var entry = unsafe group()
    var found: UnsafeMutablePointer<group>?
    var strings = [CChar](repeating: 0, count: 16_384)
    let code = unsafe getgrgid_r(identifier, &entry, &strings, strings.count, &found)
    guard code == 0, let found = unsafe found, let name = unsafe found.pointee.gr_name else { return nil }
    return unsafe String(cString: name)
  }
}

// MARK: - Terminals

/// The settings of a terminal as the kernel keeps them: rate, framing, control characters.
struct LineSettings: Equatable {
  private var inner: cserial_settings

  /// TCGETS2. ENOTTY: no terminal.
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

  mutating func makeRaw() { unsafe cserial_make_raw(&inner) }

  mutating func setReadPolicy(minimum: UInt8, timeoutDeciseconds: UInt8) {
    unsafe cserial_set_read_policy(&inner, minimum, timeoutDeciseconds)
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

  /// TIOCGEXCL; false where the kernel cannot tell.
  static func isExclusive(_ descriptor: Int32) -> Bool { cserial_is_exclusive(descriptor) == 1 }

  /// TIOCGICOUNT; nil where the driver does not count.
  static func lineCounters(_ descriptor: Int32) throws(Errno) -> cserial_counters? {
    var counters = cserial_counters()
    do {
      try retryOnNegativeErrno { unsafe cserial_line_counters(descriptor, &counters) }
      return counters
    } catch  where error == .inappropriateIOCTLForDevice || error == .invalidArgument {
      return nil
    }
  }

  /// ASYNC_LOW_LATENCY; nil where the driver has no such setting.
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

  /// TIOCMGET; nil where the driver has no modem lines.
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

// MARK: - Waiting

/// The descriptors that epoll_wait(2) found ready; more than these come with the next call.
///
/// Safe: of the C union in an event only the 64-bit number is ever used, never the pointer.
@safe
struct ReadyList {
  let capacity = 8
  fileprivate(set) var count = 0
  fileprivate var events = unsafe InlineArray<8, epoll_event>(repeating: epoll_event())

  /// The epoll flags and the mark of one of them.
  subscript(index: Int) -> (flags: UInt32, mark: UInt64) {
    unsafe (events[index].events, events[index].data.u64)
  }
}

extension Syscalls {
  /// epoll_create1(2).
  static func createEpoll() throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(try retryOnInterrupt { epoll_create1(Int32(EPOLL_CLOEXEC)) })
  }

  /// epoll_ctl(2); `operation` is EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL.
  static func control(
    epoll: Int32, _ operation: Int32, _ descriptor: Int32, events: UInt32, mark: UInt64
  ) throws(Errno) {
    var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: mark))
    _ = try retryOnInterrupt { unsafe epoll_ctl(epoll, operation, descriptor, &event) }
  }

  /// epoll_wait(2): waits without limit, or not at all. An interruption brings no event, so that the caller looks at
  /// its deadline again.
  static func wait(epoll: Int32, blocking: Bool, into ready: inout ReadyList) throws(Errno) {
    let limit = Int32(ready.capacity)
    let count = unsafe withUnsafeMutableBytes(of: &ready.events) { bytes in
      unsafe epoll_wait(epoll, bytes.baseAddress!.assumingMemoryBound(to: epoll_event.self), limit, blocking ? -1 : 0)
    }
    ready.count = max(0, Int(count))
    if count < 0 {
      let code = errno
      if code != EINTR { throw Errno(rawValue: code) }
    }
  }

  /// timerfd_create(2) on CLOCK_MONOTONIC.
  static func createTimer() throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(
      try retryOnInterrupt {
        timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
      })
  }

  /// timerfd_settime(2): fires once at `deadline` on the monotonic clock, in nanoseconds; nil disarms it.
  static func arm(timer: Int32, at deadline: UInt64?) throws(Errno) {
    var setting = itimerspec()
    if let deadline {
      // Zero would disarm the timer; the first nanosecond after boot is as much in the past.
      let time = max(deadline, 1)
      setting.it_value = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    }
    _ = try retryOnInterrupt {
      unsafe timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }
  }

  /// eventfd(2).
  static func createEventCounter() throws(Errno) -> OwnedDescriptor {
    OwnedDescriptor(
      try retryOnInterrupt { eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) })
  }

  /// Takes the eight bytes of an expired timer or a raised event counter away, so that it is readable no longer.
  static func clearCounter(_ descriptor: Int32) {
    var count: UInt64 = 0
    // Nothing to read is no error here: another call may have taken it.
    _ = unsafe Glibc.read(descriptor, &count, 8)
  }

  /// Whether the process ignores a signal; sigaction(2).
  static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
    // SIG_IGN is the number 1 in the place of a function, which Swift cannot compare as such.
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Adds one to an event counter.
  static func raise(counter descriptor: Int32) {
    var one: UInt64 = 1
    // The only failure is a counter that is full, and then its reader is woken anyway.
    _ = unsafe Glibc.write(descriptor, &one, 8)
  }
}

/// Signals that are taken from a descriptor instead of a handler; signalfd(2).
///
/// They are blocked in the thread that makes the value, and are let through again when it goes.
struct CaughtSignals: ~Copyable {
  private let descriptor: OwnedDescriptor
  private var blocked: sigset_t

  init(_ signals: [Int32]) throws(Errno) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    descriptor = OwnedDescriptor(
      try retryOnInterrupt {
        unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
      })
    var before = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
    // What was blocked before stays blocked after.
    for signal in signals where unsafe sigismember(&before, signal) == 1 { unsafe sigdelset(&set, signal) }
    blocked = set
  }

  deinit {
    // A second interrupt that came meanwhile would otherwise kill the program in the middle of its orderly end.
    while next() != nil {}
    var set = blocked
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  var number: Int32 { descriptor.number }

  /// The next signal that came; nil when there is none.
  func next() -> Int32? { Syscalls.nextSignal(descriptor.number) }
}

extension Syscalls {
  /// The next signal that came; nil when there is none.
  static func nextSignal(_ descriptor: Int32) -> Int32? {
    var found = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    return unsafe Glibc.read(descriptor, &found, size) == size ? Int32(found.ssi_signo) : nil
  }
}
