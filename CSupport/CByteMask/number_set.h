// SPDX-License-Identifier: Apache-2.0

// Twelve small numbers as a set. Swift would process its vectors lane by lane.

#ifndef C_NUMBER_SET_H
#define C_NUMBER_SET_H

#include "small_numbers.h"

typedef struct {
  /// A bit for each number, counted from the base. The lowest bit, which represents the base, is 0.
  unsigned long long bits;
  /// The count of present numbers.
  long count;
  /// Not 0 when a number is outside the range.
  unsigned long long others;
} c_number_set;

/// The bits of the four numbers in the lanes of a word, each below 64.
static inline __attribute__((always_inline)) unsigned long long c_bits_of(unsigned long long numbers) {
  return 1ULL << (numbers & 63) | 1ULL << (numbers >> 16 & 63) | 1ULL << (numbers >> 32 & 63) | 1ULL << (numbers >> 48 & 63);
}

/// The numbers from `base` + 1 to `base` + `most` (1…63) as a set. Absent numbers are negative.
///
/// Empty places take the same instructions as the others: their number depends on the sky, so a branch would often be
/// mispredicted.
static inline __attribute__((always_inline)) c_number_set c_numbers_after(
    c_lanes4 first, c_lanes4 second, c_lanes4 third, short base, unsigned short most) {
  typedef unsigned long long c_words __attribute__((ext_vector_type(2)));
  const c_lanes4 none = (short)0x8000;
  c_lanes8 a = __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
  c_lanes8 b = __builtin_shufflevector(third, none, 0, 1, 2, 3, 4, 5, 6, 7);
  c_lanes8 here_a = a >= 0, here_b = b >= 0;
  c_numbers8 from_a = (c_numbers8)(a - base), from_b = (c_numbers8)(b - base);
  c_lanes8 inside_a = from_a - (c_numbers8)1 < (c_numbers8)most, inside_b = from_b - (c_numbers8)1 < (c_numbers8)most;
  c_words other = (c_words)((here_a ^ inside_a) | (here_b ^ inside_b));
  // Numbers outside the range become 0, whose bit is removed.
  c_words in_a = (c_words)(from_a & (c_numbers8)inside_a), in_b = (c_words)(from_b & (c_numbers8)inside_b);
  c_number_set set;
  set.bits = (c_bits_of(in_a[0]) | c_bits_of(in_a[1]) | c_bits_of(in_b[0])) & ~1ULL;
  set.count = __builtin_reduce_add((c_numbers8)-(here_a + here_b));
  set.others = other[0] | other[1];
  return set;
}

#endif
