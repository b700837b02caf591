// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The clocks of the computer. The pure modules do not call them: they are handed the time (`make lint` checks it).
///
/// The calls fill a value of ours, the reason for `unsafe`.
public enum SystemClock {
  /// The time that deadlines are counted in: it never steps, and stands still while the system is suspended. The corresponding
  /// C function is clock_gettime(2) with CLOCK_MONOTONIC.
  public static var monotonic: Instant { Instant(nanoseconds: UInt64(nanoseconds(CLOCK_MONOTONIC))) }

  /// As `monotonic`, and it runs on while the system is suspended. The corresponding C function is clock_gettime(2) with
  /// CLOCK_BOOTTIME.
  public static var sinceBoot: Instant { Instant(nanoseconds: UInt64(nanoseconds(CLOCK_BOOTTIME))) }

  /// The oscillator's time: no time daemon slews it. The corresponding C function is clock_gettime(2) with CLOCK_MONOTONIC_RAW.
  public static var raw: Instant { Instant(nanoseconds: UInt64(nanoseconds(CLOCK_MONOTONIC_RAW))) }

  /// Nanoseconds since 1970, UTC; it steps when the clock is set. The corresponding C function is clock_gettime(2) with
  /// CLOCK_REALTIME.
  public static var utcNanoseconds: Int64 { nanoseconds(CLOCK_REALTIME) }

  /// Whether the clock of `utcNanoseconds` is set: boards without a battery begin in 1970 or at the day of their image, and
  /// this program did not exist before 2026.
  public static var isSet: Bool { utcNanoseconds >= 1_767_225_600_000_000_000 }

  /// The greatest error of `utcNanoseconds` that the kernel estimates, in seconds; nil when nothing synchronises the clock (no
  /// NTP). The corresponding C function is adjtimex(2).
  public static var utcErrorSeconds: Double? {
    var state = timex()
    let result = unsafe adjtimex(&state)
    return result < 0 || result == TIME_ERROR ? nil : Double(state.maxerror) / 1e6
  }

  // These clocks exist on every Linux and the pointer is good: there is no error to report.
  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
