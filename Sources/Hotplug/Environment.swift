// SPDX-License-Identifier: Apache-2.0

// The environment, read through the C library: getenv(3) returns a pointer, the reason for `unsafe`. The text is copied at once.
import Glibc

enum Environment {
  /// A variable of the environment.
  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }
}
