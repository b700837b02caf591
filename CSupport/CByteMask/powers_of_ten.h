// SPDX-License-Identifier: Apache-2.0

// Powers of ten: those that are exact as a double, and those that fit in 32 bits. Swift would copy its own table at
// each read, or call a function for its address from another module.

#ifndef C_POWERS_OF_TEN_H
#define C_POWERS_OF_TEN_H

static const double c_powers_of_ten[19] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
                                           1e15, 1e16, 1e17, 1e18};

/// 10^`digits` for 0...18; above 18, 10^18.
static inline __attribute__((always_inline)) double c_power_of_ten(unsigned char digits) {
  return c_powers_of_ten[digits < 18 ? digits : 18];
}

static const unsigned int c_whole_powers_of_ten[10] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

/// 10^`digits` for 0...9; above 9, 10^9.
static inline __attribute__((always_inline)) unsigned int c_whole_power_of_ten(unsigned long digits) {
  return c_whole_powers_of_ten[digits < 9 ? digits : 9];
}

#endif
