// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The clocks of the computer. The pure modules do not read them: their callers pass the time (`make lint` checks it).
///
/// `unsafe` because the calls fill a local value through a pointer.
public enum SystemClock {
  /// The time for deadlines: it never steps, and stops while the system is suspended. The corresponding C function is
  /// clock_gettime(2) with CLOCK_MONOTONIC.
  public static var monotonic: Instant { Instant(nanoseconds: UInt64(nanoseconds(CLOCK_MONOTONIC))) }

  /// As `monotonic`, but it also runs while the system is suspended. The corresponding C function is clock_gettime(2)
  /// with CLOCK_BOOTTIME.
  public static var sinceBoot: Instant { Instant(nanoseconds: UInt64(nanoseconds(CLOCK_BOOTTIME))) }

  /// The oscillator's time: no time daemon slews it. The corresponding C function is clock_gettime(2) with CLOCK_MONOTONIC_RAW.
  public static var raw: Instant { Instant(nanoseconds: UInt64(nanoseconds(CLOCK_MONOTONIC_RAW))) }

  /// Nanoseconds since 1970, UTC; it steps when the clock is set. The corresponding C function is clock_gettime(2) with
  /// CLOCK_REALTIME.
  public static var utcNanoseconds: Int64 { nanoseconds(CLOCK_REALTIME) }

  /// Whether the clock of `utcNanoseconds` is set: boards without a battery start in 1970 or on the day of their image,
  /// and this program did not exist before 2026.
  public static var isSet: Bool { utcNanoseconds >= 1_767_225_600_000_000_000 }

  /// The greatest error of `utcNanoseconds` that the kernel estimates, in seconds; nil if the clock is not synchronised
  /// (no NTP). The corresponding C function is adjtimex(2).
  public static var utcErrorSeconds: Double? {
    var state = timex()
    let result = unsafe adjtimex(&state)
    return result < 0 || result == TIME_ERROR ? nil : Double(state.maxerror) / 1e6
  }

  // These clocks exist on every Linux system and the pointer is valid, so errors are impossible.
  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
