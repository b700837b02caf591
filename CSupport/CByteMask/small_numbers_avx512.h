// All the small numbers of a sentence at once, as `small_numbers.h` reads them, on processors with AVX-512 and its VBMI2 part
// (Intel since 2019, AMD since 2022), which are asked for at run time. Swift has no way to these instructions. Tests compare
// the two.

#ifndef C_NUMBERS_AVX512_H
#define C_NUMBERS_AVX512_H

#include "small_numbers.h"

#if defined(__x86_64__) && defined(__linux__)

#define C_AVX512 target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,lzcnt,popcnt")

/// Whether the processor has the instructions.
static inline int c_has_avx512(void) {
  return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
         && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt")
         && __builtin_cpu_supports("popcnt");
}

typedef unsigned char c_bytes64 __attribute__((ext_vector_type(64)));
typedef unsigned char c_bytes32 __attribute__((ext_vector_type(32)));
typedef short c_lanes32 __attribute__((ext_vector_type(32)));
typedef unsigned long long c_words8 __attribute__((ext_vector_type(8)));
typedef _Bool c_bools64 __attribute__((ext_vector_type(64)));
typedef _Bool c_bools32 __attribute__((ext_vector_type(32)));
// The types that clang's builtins have.
typedef char c_builtin_bytes64 __attribute__((__vector_size__(64)));
typedef char c_builtin_bytes32 __attribute__((__vector_size__(32)));
typedef short c_builtin_lanes32 __attribute__((__vector_size__(64)));

/// A bit for each byte or lane for which a comparison holds.
#define C_BITS64(holds) __builtin_bit_cast(unsigned long long, __builtin_convertvector(holds, c_bools64))
#define C_BITS32(holds) __builtin_bit_cast(unsigned int, __builtin_convertvector(holds, c_bools32))

/// What `c_read_small_numbers` finds, for the same parameters; `sentence` need not have 14 characters from `base` on.
///
/// The characters before all ends come to stand side by side by one instruction: the last ones of the numbers, those
/// before them, and those before these.
static __attribute__((noinline, unused, C_AVX512)) c_small_numbers c_read_small_numbers_at_once(
    const unsigned char *sentence, long count, long base, unsigned long long ends, long from, int places, int rooms,
    int may_be_fewer, c_lanes4 head_lowest, c_lanes4 head_highest, c_lanes4 highest) {
  c_small_numbers result;
  int fields = __builtin_popcountll(ends), numbers_to_take = places + 4 * rooms;
  result.blocks = rooms;
  if (fields < numbers_to_take) {
    result.wrong = 1;
    if (!may_be_fewer || fields < places) return result;
    result.blocks = (fields - places) / 4;
    numbers_to_take = places + 4 * (int)result.blocks;
  }

  const c_builtin_bytes64 none = {0};
  const unsigned char *start = sentence + base;
  unsigned long long there = __builtin_ia32_bzhi_di(~0ULL, count - base < 64 ? count - base : 64);
  unsigned long long taken = __builtin_ia32_pdep_di(__builtin_ia32_bzhi_di(~0ULL, numbers_to_take), ends);
  c_bytes64 text = (c_bytes64)__builtin_ia32_loaddquqi512_mask((const void *)start, none, there);
  unsigned long long digits = C_BITS64((text ^ (c_bytes64)'0') < (c_bytes64)10);
  // In a general register: shifts of mask registers are slow.
  __asm__("" : "+r"(digits));

  result.left = ends ^ taken;
  // A place must have a digit or an end, as far as numbers are taken; and none may begin four digits in a row.
  unsigned long long region = taken == 0 ? 0 : ~0ULL >> __builtin_clzll(taken) & ~0ULL << from;
  unsigned long long four_digits = digits & digits >> 1 & digits >> 2 & digits >> 3;
  result.wrong = (~(digits | ends) | four_digits) & region;

#define C_BEFORE(distance) \
  (((c_bytes64)__builtin_ia32_compressqi512_mask( \
       (c_builtin_bytes64)__builtin_ia32_loaddquqi512_mask((const void *)(start - distance), none, taken), none, taken)).lo \
   ^ (c_bytes32)'0')
  c_bytes32 ones = C_BEFORE(1), tens = C_BEFORE(2), hundreds = C_BEFORE(3);
#undef C_BEFORE
  unsigned int have_ones = C_BITS32(ones < (c_bytes32)10);
  unsigned int have_tens = C_BITS32(tens < (c_bytes32)10) & have_ones;
  unsigned int have_hundreds = C_BITS32(hundreds < (c_bytes32)10) & have_tens;
  const c_builtin_bytes32 none32 = {0};
  tens = (c_bytes32)__builtin_ia32_selectb_256(have_tens, (c_builtin_bytes32)tens, none32);
  hundreds = (c_bytes32)__builtin_ia32_selectb_256(have_hundreds, (c_builtin_bytes32)hundreds, none32);
  c_lanes32 numbers = __builtin_convertvector(ones, c_lanes32) + __builtin_convertvector(tens, c_lanes32) * 10
                      + __builtin_convertvector(hundreds, c_lanes32) * 100;

  // The head's numbers move to the last lanes of the first word. Lanes before them get something that is not present.
  const c_lanes32 lanes = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  unsigned int present = have_ones << (4 - places);
  numbers = (c_lanes32)__builtin_ia32_permvarhi512(
      (c_builtin_lanes32)numbers, (c_builtin_lanes32)(lanes - (c_lanes32)(short)(4 - places)));
  unsigned long long head_most = __builtin_bit_cast(unsigned long long, head_highest);
  c_words8 most = (c_words8)__builtin_bit_cast(unsigned long long, highest);
  c_words8 least = {__builtin_bit_cast(unsigned long long, head_lowest), 0, 0, 0, 0, 0, 0, 0};
  most[0] = head_most;
  result.wrong |= (C_BITS32(numbers > (c_lanes32)most) | C_BITS32(numbers < (c_lanes32)least)) & present;
  c_words8 words = (c_words8)(c_lanes32)__builtin_ia32_selectw_512(
      present, (c_builtin_lanes32)numbers, (c_builtin_lanes32)(c_lanes32)(short)0x8000);
  // By wide stores: the caller loads pairs of them.
  __builtin_memcpy(&result.head, &words, 5 * sizeof(unsigned long long));
  return result;
}

#undef C_BITS64
#undef C_BITS32
#undef C_AVX512

#else

static inline int c_has_avx512(void) { return 0; }
static inline c_small_numbers c_read_small_numbers_at_once(
    const unsigned char *sentence, long count, long base, unsigned long long ends, long from, int places, int rooms,
    int may_be_fewer, c_lanes4 head_lowest, c_lanes4 head_highest, c_lanes4 highest) {
  return c_read_small_numbers(
      sentence, count, base, ends, from, places, rooms, may_be_fewer, head_lowest, head_highest, highest);
}

#endif
#endif
