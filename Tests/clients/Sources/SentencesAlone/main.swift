// SPDX-License-Identifier: Apache-2.0

// A decoder without an operating system: no other module of the program refers to the C library.
import NMEA

if let rounded = FixedPoint(rounding: 48.11735, fractionDigits: 3) {
  print("rounded \(rounded.mantissa)")
}
