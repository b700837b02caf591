/// The time that deadlines are counted in: it never jumps, and stands still while the system is suspended.
public enum MonotonicClock {
  /// Nanoseconds since some moment about the start of the system. The corresponding C function is clock_gettime(2)
  /// with CLOCK_MONOTONIC.
  public static func now() -> UInt64 { Syscalls.monotonicNanoseconds() }
}
