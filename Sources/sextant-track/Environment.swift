/// The process's surroundings, by calls of the C library. Their pointers are to strings that live as long as the call, which
/// is the reason for `unsafe`.
import Glibc

/// Sets a variable for the location service of this process.
func setVariable(_ name: String, _ value: String, replacing: Bool = true) {
  unsafe setenv(name, value, replacing ? 1 : 0)
}

/// Leaves signals to the run loop's sources, and takes a reader that has gone for an error of writing.
func leaveSignalsToSources() {
  for number in [SIGINT, SIGTERM, SIGPIPE] { signal(number, SIG_IGN) }
}
