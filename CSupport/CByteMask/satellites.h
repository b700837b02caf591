// SPDX-License-Identifier: Apache-2.0

// The satellites of a GSV sentence in the form of a sky. Swift would process its vectors lane by lane.

#ifndef C_SATELLITES_H
#define C_SATELLITES_H

#include "small_numbers.h"

/// Four satellites, eight bytes each: system, number, elevation, 0, azimuth in two bytes, signal, and 1 when used.
typedef struct {
  unsigned long long first, second, third, fourth;
  /// A bit for each of their numbers; the lowest is 0.
  unsigned long long numbers;
  /// Not 0 when an id is outside the range, or two are equal.
  unsigned long long wrong;
} c_satellites;

/// The ranges of ids, indexed by the number of the system (gnssId) for systems whose ids start at 1; index 9 has the
/// GLONASS ids from 65 on, of the shared numbering. The highest number is 0 for systems without such ids. The lanes
/// hold two satellites.
static const struct {
  c_lanes8 base, highest, name;
} c_numberings[10] __attribute__((unused, aligned(16))) = {
#define C_NUMBERING(system, first, most)                                                                                    \
  {{first - 1, 0, 0, 0, first - 1, 0, 0, 0}, {most, 90, 359, 255, most, 90, 359, 255}, {system, 0, 0, 0, system, 0, 0, 0}}
  C_NUMBERING(0, 1, 32), C_NUMBERING(1, 1, 0), C_NUMBERING(2, 1, 36), C_NUMBERING(3, 1, 63), C_NUMBERING(4, 1, 0),
  C_NUMBERING(5, 1, 0), C_NUMBERING(6, 1, 32), C_NUMBERING(7, 1, 0), C_NUMBERING(8, 1, 0), C_NUMBERING(6, 65, 32),
#undef C_NUMBERING
};

enum { C_SHARED_NUMBERING = 9 };

/// The lanes of two satellites in the form of a sky, and whether each is inside its range.
static inline __attribute__((always_inline)) c_lanes8 c_two_satellites(c_lanes8 said, int numbering, c_lanes8 *inside) {
  // Id, elevation, azimuth, signal. Ids are counted from the base, and 360 degrees become 0.
  const c_lanes8 unknown = {0, 0x80, -128, 0, 0, 0x80, -128, 0}, north = {-1, -1, 360, -1, -1, -1, 360, -1};
  const c_lanes8 bytes = {-1, 0xFF, -1, -1, -1, 0xFF, -1, -1}, below = {0, -91, -1, -1, 0, -91, -1, -1};
  const c_lanes8 places = {256, 1, 1, 1, 256, 1, 1, 1};
  c_lanes8 values = (said - c_numberings[numbering].base) & ~(c_lanes8)(said == north);
  *inside = (c_lanes8)(values > below) & ~(c_lanes8)(values > c_numberings[numbering].highest);
  values = (values & bytes & *inside) | (unknown & ~*inside);
  return values * places | c_numberings[numbering].name;
}

/// The satellites of a GSV with the numbers `first` to `fourth`.
///
/// - count: the number of satellites, 0...4. The lanes after them have no meaning.
/// - numbering: an index of `c_numberings`.
/// - used: a bit for each used number.
static inline __attribute__((always_inline)) c_satellites c_satellites_of(
    c_lanes4 first, c_lanes4 second, c_lanes4 third, c_lanes4 fourth, long count, int numbering, unsigned long long used) {
  typedef unsigned long long c_words __attribute__((ext_vector_type(2)));
  static const unsigned int names[8] = {0, 1, 0x101, 0x10101, 0x1010101};
  c_lanes8 inside_a, inside_b;
  c_words a = (c_words)c_two_satellites(
      __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7), numbering, &inside_a);
  c_words b = (c_words)c_two_satellites(
      __builtin_shufflevector(third, fourth, 0, 1, 2, 3, 4, 5, 6, 7), numbering, &inside_b);
  unsigned int inside = c_high_bits((c_bytes16)inside_a) | (unsigned int)c_high_bits((c_bytes16)inside_b) << 16;
  c_satellites result = {a[0], a[1], b[0], b[1], 0, ~inside & names[count & 7]};
  unsigned long long twice = 0, bit;
#define C_ONE(satellite)                               \
  bit = 1ULL << (result.satellite >> 8 & 63);          \
  twice |= result.numbers & bit;                       \
  result.numbers |= bit;                               \
  result.satellite |= (used >> (result.satellite >> 8 & 63) & 1) << 56;
  C_ONE(first) C_ONE(second) C_ONE(third) C_ONE(fourth)
#undef C_ONE
  // Absent satellites, and lanes after the last one, have no number.
  result.numbers &= ~1ULL;
  result.wrong |= twice & ~1ULL;
  return result;
}

#endif
