// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The environment variable that shows a program that the location service has started it.
package enum LaunchEnvironment {
  /// `region`, `visit`, `significantChange` or `condition`. Absent in a program that was started otherwise.
  package static let name = "SEXTANT_LAUNCHED_BY"

  /// Sets the variable of this process, or removes it; setenv(3).
  package static func set(_ reason: String?) {
    if let reason {
      unsafe setenv(name, reason, 1)
    } else if unsafe getenv(name) != nil {
      unsafe unsetenv(name)
    }
  }
}
