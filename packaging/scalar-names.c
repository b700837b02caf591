// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

// The names of Unicode characters, half a megabyte of the Swift library, which no program asks for: `Unicode.Scalar.Properties.name` is
// nil (`--wrap` in packaging/flags.sh).
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *name, intptr_t capacity) {
  (void)scalar, (void)name, (void)capacity;
  return 0;
}
