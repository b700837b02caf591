// SPDX-License-Identifier: Apache-2.0

// The environment, read through the C library: `unsafe` because getenv(3) returns a pointer. The text is copied at
// once.
import Glibc

enum Environment {
  /// An environment variable.
  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }
}
