// SPDX-License-Identifier: Apache-2.0

// The powers of ten that are exact as a double. Swift would copy a table of its own at each read.

#ifndef C_POWERS_OF_TEN_H
#define C_POWERS_OF_TEN_H

static const double c_powers_of_ten[19] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
                                           1e15, 1e16, 1e17, 1e18};

/// 10^`digits` for 0...18; beyond, 10^18.
static inline __attribute__((always_inline)) double c_power_of_ten(unsigned char digits) {
  return c_powers_of_ten[digits < 18 ? digits : 18];
}

#endif
