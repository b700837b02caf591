// SPDX-License-Identifier: Apache-2.0

// All the small numbers of a sentence at once. Swift would process its vectors lane by lane.
//
// For each field the four characters up to its end are loaded, four fields to a vector. The digits directly before the end are
// the number. A number has up to three digits, so nothing here depends on the length of a field.

#ifndef C_SMALL_NUMBERS_H
#define C_SMALL_NUMBERS_H

#include "byte_mask.h"

typedef unsigned int c_texts4 __attribute__((ext_vector_type(4)));
typedef unsigned short c_numbers8 __attribute__((ext_vector_type(8)));
typedef short c_lanes4 __attribute__((ext_vector_type(4)));
typedef short c_lanes8 __attribute__((ext_vector_type(8)));

/// Four numbers of sixteen bits in each word, the first in the low bits; 0x8000 for an absent one.
typedef struct {
  unsigned long long head, first, second, third, fourth;
  /// How many blocks of four follow the head.
  long blocks;
  /// The ends that no number was taken from.
  unsigned long long left;
  /// Not 0 when a field is not a number of up to three digits, or a number is out of its range.
  unsigned long long wrong;
} c_small_numbers;

/// The last `places` of four numbers, in the upper half of their lanes; 0x8000 for an absent one.
///
/// - start: the character that places are counted from.
/// - left: the remaining ends, at least `places`.
/// - others: for each byte, minus the number of characters before an end that are not digits of its number.
static inline __attribute__((always_inline)) c_texts4 c_next_numbers(
    const unsigned char *start, unsigned long long *left, int places, c_bytes16 *others) {
  c_texts4 texts = 0;
  for (int lane = 4 - places; lane < 4; lane++) {
    unsigned int text;
    __builtin_memcpy(&text, start + __builtin_ctzll(*left) - 3, 4);
    texts[lane] = text;
    *left &= *left - 1;
  }
  // From here on the lowest byte of a lane is the hundreds digit, the third the ones digit. The fourth, a comma or `*`,
  // becomes 0 or 6, which has no weight.
  c_bytes16 digits = (c_bytes16)(texts ^ 0x2C303030);
  c_texts4 no_digits = (c_texts4)(c_bytes16)(digits > 9);
  no_digits |= no_digits >> 8;
  no_digits |= no_digits >> 16;
  *others += (c_bytes16)no_digits;
  c_numbers8 parts = (c_numbers8)((c_texts4)digits & ~no_digits);
  const c_numbers8 even = {100, 1, 100, 1, 100, 1, 100, 1}, odd = {10, 0, 10, 0, 10, 0, 10, 0};
  parts = (parts & 0xFF) * even + (parts >> 8) * odd;
  c_texts4 numbers = (c_texts4)parts;
  numbers += numbers << 16;
  return numbers | (no_digits << 8 & 0x80000000);
}

/// Reads the last `places` (1...3) of four numbers and after them `rooms` (3 or 4) blocks of four.
///
/// - start: the character that places are counted from; three characters must precede it.
/// - ends: a bit for the position of each comma or `*`.
/// - from: the position where the first number's field begins.
/// - may_be_fewer: whether there may be fewer blocks than `rooms`; ends that do not fill a whole block are then left
///   over.
static inline __attribute__((always_inline)) c_small_numbers c_read_small_numbers(
    const unsigned char *start, unsigned long long ends, long from, int places, int rooms, int may_be_fewer,
    c_lanes4 head_lowest, c_lanes4 head_highest, c_lanes4 highest) {
  c_small_numbers result;
  int fields = __builtin_popcountll(ends);
  result.blocks = rooms;
  if (fields < places + 4 * rooms) {
    result.wrong = 1;
    if (!may_be_fewer || fields < places) return result;
    result.blocks = (fields - places) / 4;
  }

  unsigned long long left = ends;
  c_bytes16 others = 0;
  c_texts4 head = c_next_numbers(start, &left, places, &others), first, second, third, fourth;
  first = second = third = fourth = 0x80000000;
  if (result.blocks > 0) first = c_next_numbers(start, &left, 4, &others);
  if (result.blocks > 1) second = c_next_numbers(start, &left, 4, &others);
  if (result.blocks > 2) third = c_next_numbers(start, &left, 4, &others);
  if (result.blocks > 3) fourth = c_next_numbers(start, &left, 4, &others);
#define C_UPPER_HALVES(a, b) __builtin_shufflevector((c_lanes8)(a), (c_lanes8)(b), 1, 3, 5, 7, 9, 11, 13, 15)
  c_lanes8 a = C_UPPER_HALVES(head, first), b = C_UPPER_HALVES(second, third), c = C_UPPER_HALVES(fourth, fourth);
#undef C_UPPER_HALVES

  c_lanes8 most = __builtin_shufflevector(highest, highest, 0, 1, 2, 3, 4, 5, 6, 7);
  c_lanes8 most_of_a = __builtin_shufflevector(head_highest, highest, 0, 1, 2, 3, 4, 5, 6, 7);
  c_lanes8 least_of_a = __builtin_shufflevector(head_lowest, (c_lanes4)0, 0, 1, 2, 3, 4, 5, 6, 7);
  c_lanes8 outside = (a > most_of_a) | ((a < least_of_a) & (a >= 0)) | (b > most) | (c > most);

  // Each position is an end or a digit of a number, up to the last number that is read: otherwise a field has other
  // characters or more than three digits.
  unsigned long long taken = ends & ~left;
  int numbers = places + 4 * (int)result.blocks;
  int digits = 3 * 4 * (1 + (int)result.blocks) - c_sum(-(c_bytes16)((c_texts4)others & 0xFFFFFF));
  int length = 64 - __builtin_clzll(taken) - (int)from;
  result.wrong = c_high_bits((c_bytes16)outside) | (unsigned int)(length - numbers - digits);
  result.left = left;

  typedef unsigned long long c_words __attribute__((ext_vector_type(2)));
  c_words words_a = (c_words)a, words_b = (c_words)b, words_c = (c_words)c;
  result.head = words_a[0];
  result.first = words_a[1];
  result.second = words_b[0];
  result.third = words_b[1];
  result.fourth = words_c[0];
  return result;
}

#endif
