// All the small numbers of a sentence at once: what Swift's vectors would do lane by lane.
//
// For sixteen characters at a time each digit is put together with the one before it: a byte for each character with the
// digit in the low four bits and the digit before it, or 0, in the high ones. What is no digit has other bits in the low
// ones: a comma has 12, a `*` has 10. A field's number is what its last character and the one before that have; a field
// that is empty has what the comma before it has, which is no number. So nothing here depends on how long the fields are.

#ifndef C_SMALL_NUMBERS_H
#define C_SMALL_NUMBERS_H

#include "byte_mask.h"

typedef unsigned short c_numbers4 __attribute__((ext_vector_type(4)));
typedef unsigned short c_numbers8 __attribute__((ext_vector_type(8)));
typedef short c_lanes4 __attribute__((ext_vector_type(4)));
typedef short c_lanes8 __attribute__((ext_vector_type(8)));

/// Four numbers in each word, of sixteen bits, the first in the low bits; 0x8000 for one that is absent.
typedef struct {
  unsigned long long head, first, second, third, fourth;
  /// How many of the fours behind the first are there.
  long blocks;
  /// The ends that no number was taken from.
  unsigned long long left;
  /// Not 0 when a field is no number of up to three digits, or one is out of its range.
  unsigned long long wrong;
} c_small_numbers;

/// What ends with the next number. Behind the last end comes place 63, where no digit is.
static inline __attribute__((always_inline)) unsigned short c_next_number(
    const unsigned char *digits, unsigned long long *left) {
  unsigned short number;
  __builtin_memcpy(&number, digits + __builtin_ctzll(*left | 1ULL << 63), 2);
  *left &= *left - 1;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  number = __builtin_bswap16(number);
#endif
  return number;
}

/// The numbers of what was found: 0 for those that are absent, whose lanes are all ones in `absent`.
static inline __attribute__((always_inline)) c_lanes8 c_values(c_numbers8 found, c_lanes8 *absent) {
  c_numbers8 ones = found >> 8 & 15;
  c_numbers8 sums = ones + (found >> 12) * 10 + (found >> 4 & 15) * 100;
  *absent = (c_lanes8)ones > 9;
  return (c_lanes8)sums & ~*absent;
}

/// Reads the last `places` (1...3) of four numbers and behind them `rooms` (3 or 4) times four.
///
/// - sentence, count: its characters; at least 14 from `base` on.
/// - base: the character that places are counted from, 3 or more.
/// - ends: a bit for the place of each comma or `*`; bit 63 must be 0. Numbers beyond them are absent.
/// - from: the place where the first number's field begins.
/// - may_be_fewer: whether there may be fewer fours than `rooms`; an end that makes no whole one is left then.
static inline __attribute__((always_inline)) c_small_numbers c_read_small_numbers(
    const unsigned char *sentence, long count, long base, unsigned long long ends, long from, int places, int rooms,
    int may_be_fewer, c_lanes4 head_lowest, c_lanes4 head_highest, c_lanes4 highest) {
  c_small_numbers result;
  int fields = __builtin_popcountll(ends);
  unsigned long long behind = 0;
  result.blocks = rooms;
  if (fields < places + 4 * rooms) {
    result.wrong = 1;
    if (!may_be_fewer || fields < places) return result;
    result.blocks = (fields - places) / 4;
    for (int more = (fields - places) % 4; more > 0; more--) {
      behind |= 1ULL << 63 >> __builtin_clzll(ends);
      ends &= ~behind;
    }
  }

  unsigned char digits[80] __attribute__((aligned(16)));
  unsigned long long are_digits = 0;
  digits[63] = digits[64] = 15;
  for (int block = 0; block < 4; block++) {
    // Behind the sentence nothing may be loaded: its last characters are gone through again.
    long place = 16 * block, last = count - 14 - base;
    if (place > last) place = last;
    c_bytes16 these, before;
    __builtin_memcpy(&these, sentence + base - 2 + place, 16);
    __builtin_memcpy(&before, sentence + base - 3 + place, 16);
    c_bytes16 ones = these ^ '0';
    c_bytes16 are_ones = (c_bytes16)(ones < 10);
    c_bytes16 tens = __builtin_elementwise_sub_sat(before, (c_bytes16)'0') << 4;
    c_bytes16 both = (tens & are_ones) | (ones & 15);
    __builtin_memcpy(digits + place, &both, 16);
    are_digits |= (unsigned long long)c_high_bits(are_ones) << place;
  }

  unsigned long long left = ends;
  c_numbers8 a = 0x0F00, b = 0x0F00, c = 0x0F00;
  if (places >= 3) a[1] = c_next_number(digits, &left);
  if (places >= 2) a[2] = c_next_number(digits, &left);
  a[3] = c_next_number(digits, &left);
  for (int lane = 4; lane < 8; lane++) a[lane] = c_next_number(digits, &left);
  for (int lane = 0; lane < 8; lane++) b[lane] = c_next_number(digits, &left);
  if (rooms == 4) for (int lane = 0; lane < 4; lane++) c[lane] = c_next_number(digits, &left);

  c_lanes8 most = __builtin_shufflevector(highest, highest, 0, 1, 2, 3, 4, 5, 6, 7);
  c_lanes8 most_of_a = __builtin_shufflevector(head_highest, highest, 0, 1, 2, 3, 4, 5, 6, 7);
  c_lanes8 least_of_a = __builtin_shufflevector(head_lowest, (c_lanes4)0, 0, 1, 2, 3, 4, 5, 6, 7);
  c_lanes8 absent_a, absent_b, absent_c;
  c_lanes8 values_a = c_values(a, &absent_a), values_b = c_values(b, &absent_b), values_c = c_values(c, &absent_c);
  c_lanes8 outside =
      (values_a > most_of_a) | ((values_a < least_of_a) & ~absent_a) | (values_b > most) | (values_c > most);

  // A place must have a digit or an end, as far as numbers were taken; and none may have four digits in a row before it.
  unsigned long long taken = ends & ~left;
  unsigned long long region = taken == 0 ? 0 : ~0ULL >> __builtin_clzll(taken) & ~0ULL << from;
  unsigned long long four_digits = are_digits & are_digits >> 1 & are_digits >> 2 & are_digits >> 3;
  result.wrong = c_high_bits((c_bytes16)outside) | ((~(are_digits >> 2 | ends) | four_digits >> 2) & region);
  result.left = left | behind;

  const c_lanes8 none = (short)0x8000;
  typedef unsigned long long c_words __attribute__((ext_vector_type(2)));
  c_words words_a = (c_words)(values_a | (absent_a & none)), words_b = (c_words)(values_b | (absent_b & none));
  c_words words_c = (c_words)(values_c | (absent_c & none));
  result.head = words_a[0];
  result.first = words_a[1];
  result.second = words_b[0];
  result.third = words_b[1];
  result.fourth = words_c[0];
  return result;
}

#endif
