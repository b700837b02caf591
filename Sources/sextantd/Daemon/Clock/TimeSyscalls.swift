// SPDX-License-Identifier: Apache-2.0

// The calls of CTiming.h. Each `unsafe` passes a pointer to memory that the call's own frame owns; the owner of a
// shared segment keeps its address until it is detached.
import CLinux
import Glibc
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverStream
import SystemPackage

extension ClockReading {
  /// The current time of both clocks: one is read between two readings of the other.
  static func now() -> ClockReading {
    let before = SystemClock.raw
    let system = SystemClock.utcNanoseconds
    let after = SystemClock.raw
    return ClockReading(
      raw: Instant(nanoseconds: before.nanoseconds + (after.nanoseconds - before.nanoseconds) / 2),
      system: UTCTime(nanosecondsSince1970: system))
  }
}

extension TimeSample {
  fileprivate var record: ctiming_sample {
    ctiming_sample(
      real: real.record, system: system.record, offset: offsetSeconds, leap: leap.rawValue, precision: Int32(precision))
  }

  /// The datagram of chronyd's refclock driver SOCK.
  var sockMessage: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 64)
    var record = record
    let count = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      unsafe ctiming_sock_message(&record, bytes.baseAddress, bytes.count)
    }
    return Array(bytes.prefix(count))
  }
}

extension UTCTime {
  /// Seconds rounded down, so that the nanoseconds are never negative.
  fileprivate var record: ctiming_time {
    let (second, rest) = nanosecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0
      ? ctiming_time(seconds: second - 1, nanoseconds: Int32(rest + 1_000_000_000))
      : ctiming_time(seconds: second, nanoseconds: Int32(rest))
  }

  fileprivate init(_ record: ctiming_time) {
    self.init(nanosecondsSince1970: record.seconds &* 1_000_000_000 &+ Int64(record.nanoseconds))
  }
}

/// The socket of a time daemon.
struct TimeSocket: ~Copyable {
  private let owned: OwnedDescriptor

  init(path: String) throws(Errno) {
    let descriptor = unsafe ctiming_connect(path)
    if descriptor < 0 { throw Errno(rawValue: -descriptor) }
    owned = OwnedDescriptor(descriptor)
  }

  /// Sends a datagram. Returns false if the daemon has closed the socket; a full socket drops the datagram.
  func send(_ bytes: [UInt8]) -> Bool {
    let descriptor = owned.number
    let result = unsafe bytes.withUnsafeBufferPointer { unsafe ctiming_send(descriptor, $0.baseAddress, $0.count) }
    return result == 0 || result == -EAGAIN
  }
}

/// A segment of ntpd's shared memory driver. Its address is attached for the lifetime of this value.
@safe final class TimeSegment {
  private let place: UnsafeMutableRawPointer
  private let identifier: Int32

  /// - Parameter permissions: the permissions of a newly created segment.
  init(unit: Int32, permissions: Int32) throws(Errno) {
    var found: UnsafeMutableRawPointer?
    let result = unsafe ctiming_attach(unit, permissions, &found)
    guard result >= 0, let found = unsafe found else { throw Errno(rawValue: -result) }
    unsafe place = found
    identifier = result
  }

  func put(_ sample: TimeSample) {
    var record = sample.record
    unsafe ctiming_put(place, &record)
  }

  /// The number of other processes that have the segment attached.
  var readers: Int { max(0, Int(ctiming_attached(identifier)) - 1) }

  deinit { unsafe ctiming_detach(place) }
}

/// A source of pulses: a kernel source, which stamps the edges (RFC 2783), or the carrier line of a serial port, whose
/// changes this process stamps (ioctl_tty(2), TIOCMIWAIT). The latter stamps are late by the scheduling delay of the
/// process.
struct PulseDevice: ~Copyable {
  private enum Stamps {
    /// The sequence numbers of the last edges; nil before the first fetch.
    case kernel(last: (rising: UInt32, falling: UInt32)?)
    case process
  }

  private let owned: OwnedDescriptor
  private var stamps: Stamps

  static func open(_ path: String) throws(Errno) -> PulseDevice {
    let owned = OwnedDescriptor(try retryOnInterrupt { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC) })
    let edges = ctiming_pulse_edges(owned.number)
    if edges < 0 { throw Errno(rawValue: -edges) }
    return PulseDevice(owned: owned, stamps: .kernel(last: nil))
  }

  /// - Parameter descriptor: the descriptor of the port, which the caller owns.
  static func carrier(ofPort descriptor: Int32) throws(Errno) -> PulseDevice {
    let owned = OwnedDescriptor(try retryOnInterrupt { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) })
    let state = ctiming_carrier(owned.number)
    if state < 0 { throw Errno(rawValue: -state) }
    return PulseDevice(owned: owned, stamps: .process)
  }

  /// Waits for edges for at most 1.5 s, or 0.5 s for a port, which stays open during the wait. Returns the new edges,
  /// the earlier one first.
  mutating func fetch() throws(Errno) -> [(edge: PulseShape.Edge, time: UTCTime)] {
    guard case .kernel(let last) = stamps else {
      var time = ctiming_time()
      let result = unsafe ctiming_wait_carrier(owned.number, 500, &time)
      if result == -ETIMEDOUT { return [] }
      if result < 0 { throw Errno(rawValue: -result) }
      return [(result == 0 ? .falling : .rising, UTCTime(time))]
    }
    var (rising, falling) = (ctiming_edge(), ctiming_edge())
    let result = unsafe ctiming_fetch_pulse(owned.number, 1500, &rising, &falling)
    if result == -ETIMEDOUT || result == -EINTR { return [] }
    if result < 0 { throw Errno(rawValue: -result) }
    stamps = .kernel(last: (rising.sequence, falling.sequence))
    // Edges before the first call are old.
    guard let last else { return [] }
    var edges: [(edge: PulseShape.Edge, time: UTCTime)] = []
    if rising.sequence != last.rising { edges.append((.rising, UTCTime(rising.time))) }
    if falling.sequence != last.falling { edges.append((.falling, UTCTime(falling.time))) }
    return edges.sorted { $0.time < $1.time }
  }

  /// Makes the kernel stamp the carrier line of a serial port, with a dedicated source.
  static func stampCarrier(ofPort descriptor: Int32) throws(Errno) {
    let result = ctiming_stamp_carrier(descriptor)
    if result < 0 { throw Errno(rawValue: -result) }
  }
}
