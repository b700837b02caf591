// SPDX-License-Identifier: Apache-2.0

// A decoder without an operating system: no other module of the program refers to the C library.
import UBX

if let item = ConfigurationItem.named("CFG-RATE-MEAS") {
  print("key \(item.id)")
}
