// All the small numbers of a sentence at once, as `small_numbers.h` reads them, on processors with AVX-512 and its VBMI2 part
// (Intel since 2019, AMD since 2022), which are asked for at run time. Swift has no way to these instructions. Tests compare
// the two.

#ifndef C_NUMBERS_AVX512_H
#define C_NUMBERS_AVX512_H

#include "satellites.h"
#include "small_numbers.h"

/// Small numbers, and what follows them: a digit, or -1 where there is none.
typedef struct {
  c_small_numbers numbers;
  int last;
} c_group;

/// A character, small numbers, three decimal numbers in hundredths, and a digit, or -1 where there is none.
typedef struct {
  c_small_numbers numbers;
  unsigned long long hundredths[4];
  int last;
  unsigned char before;
} c_used_satellites;

/// The satellites of a sentence as a sky keeps them (`c_satellites`), and what the sentence says besides.
typedef struct {
  unsigned long long satellites[4];
  /// The three numbers before them, in the last lanes.
  unsigned long long head;
  /// A bit for each of their numbers.
  unsigned long long numbers;
  /// How many there are.
  long count;
  /// How they are numbered: a place in `c_numberings`.
  int numbering;
  /// A digit, or -1 where there is none.
  int signal;
  /// Not 0 when they are not numbered in one way, when one is there twice, and as in `c_small_numbers`.
  unsigned long long wrong;
} c_sky_group;

/// What a GSA says, as far as a fix takes it.
typedef struct {
  /// Of position, horizontal, vertical; a bit for each, known where it is more than 0 and less than 99.
  double dilutions[4];
  unsigned char known;
  /// How the satellites are numbered: a place in `c_numberings`.
  int numbering;
  /// 1 no fix, 2 2D, 3 3D; negative where it is absent.
  long mode;
  /// A bit for each satellite's number, and how many satellites there are.
  unsigned long long numbers;
  long count;
  /// Not 0 when they are not numbered in one way, and as in `c_small_numbers`.
  unsigned long long wrong;
} c_use;

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
typedef _Bool c_bools4 __attribute__((ext_vector_type(4)));
typedef _Bool c_bools32 __attribute__((ext_vector_type(32)));
// The types that clang's builtins have.
typedef char c_builtin_bytes64 __attribute__((__vector_size__(64)));
typedef char c_builtin_bytes32 __attribute__((__vector_size__(32)));
typedef short c_builtin_lanes32 __attribute__((__vector_size__(64)));
typedef short c_builtin_lanes16 __attribute__((__vector_size__(32)));
typedef short c_lanes16 __attribute__((ext_vector_type(16)));
typedef unsigned short c_numbers16 __attribute__((ext_vector_type(16)));
typedef unsigned long long c_words4 __attribute__((ext_vector_type(4)));
typedef int c_ints4 __attribute__((ext_vector_type(4)));
typedef double c_doubles4 __attribute__((ext_vector_type(4)));

/// Four numbers, four times.
#define C_FOUR_TIMES(a, b, c, d) {a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d}

/// A bit for each byte or lane for which a comparison holds.
#define C_BITS32(holds) __builtin_bit_cast(unsigned int, __builtin_convertvector(holds, c_bools32))
#define C_BITS4(holds) __builtin_bit_cast(unsigned char, __builtin_convertvector(holds, c_bools4))
#define C_BITS16(holds) __builtin_bit_cast(unsigned short, __builtin_convertvector(holds, c_bools16))

/// Small numbers, the first four of which are the head's, and then zeros or absent ones.
typedef struct {
  c_words8 words;
  long blocks;
  unsigned long long left, wrong;
} c_number_words;

/// Where the first end of a sentence is that has an address of five characters.
enum { C_SHORT_ADDRESS = 6 };

/// What `c_read_small_numbers` finds, for the same parameters; `sentence` need not have 14 characters from `base` on.
///
/// The characters before all ends come to stand side by side by one instruction: the last ones of the numbers, those
/// before them, and those before these.
static inline __attribute__((always_inline, C_AVX512)) c_number_words c_numbers_at_once(
    const unsigned char *sentence, long base, unsigned long long ends, long from, int places, int rooms,
    int may_be_fewer, c_lanes4 head_lowest, c_lanes4 head_highest, c_lanes4 highest) {
  c_number_words result;
  int fields = __builtin_popcountll(ends), numbers_to_take = places + 4 * rooms;
  result.blocks = rooms;
  if (fields < numbers_to_take) {
    result.wrong = 1;
    result.left = 0;
    if (!may_be_fewer || fields < places) return result;
    result.blocks = (fields - places) / 4;
    numbers_to_take = places + 4 * (int)result.blocks;
  }

  const c_builtin_bytes64 none = {0};
  const unsigned char *start = sentence + base;
  unsigned long long taken = __builtin_ia32_pdep_di(__builtin_ia32_bzhi_di(~0ULL, numbers_to_take), ends);
  result.left = ends ^ taken;

#define C_BEFORE(distance) \
  (((c_bytes64)__builtin_ia32_compressqi512_mask( \
       (c_builtin_bytes64)__builtin_ia32_loaddquqi512_mask((const void *)(start - distance), none, taken), none, taken)).lo \
   ^ (c_bytes32)'0')
  c_bytes32 ones = C_BEFORE(1), tens = C_BEFORE(2), hundreds = C_BEFORE(3);
#undef C_BEFORE
  unsigned int have_ones = C_BITS32(ones < (c_bytes32)10);
  unsigned int have_tens = C_BITS32(tens < (c_bytes32)10) & have_ones;
  unsigned int have_hundreds = C_BITS32(hundreds < (c_bytes32)10) & have_tens;
  // Each place must be an end or a digit of these, as far as numbers are taken: then no number has more of them or anything
  // else before it.
  int places_taken = 64 - __builtin_clzll(taken | 1ULL << from) - (int)from;
  result.wrong = places_taken
                 - (__builtin_popcount(have_ones) + __builtin_popcount(have_tens) + __builtin_popcount(have_hundreds)
                    + numbers_to_take);
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
  result.words = (c_words8)(c_lanes32)__builtin_ia32_selectw_512(
      present, (c_builtin_lanes32)numbers, (c_builtin_lanes32)(c_lanes32)(short)0x8000);
  return result;
}

/// The numbers as they are handed out.
static inline __attribute__((always_inline, C_AVX512)) void c_hand_out(c_number_words numbers, c_small_numbers *result) {
  // By wide stores: the caller loads pairs of them.
  __builtin_memcpy(&result->head, &numbers.words, 5 * sizeof(unsigned long long));
  result->blocks = numbers.blocks;
  result->left = numbers.left;
  result->wrong = numbers.wrong;
}

static __attribute__((noinline, unused, C_AVX512)) c_small_numbers c_read_small_numbers_at_once(
    const unsigned char *sentence, long count, long base, unsigned long long ends, long from, int places, int rooms,
    int may_be_fewer, c_lanes4 head_lowest, c_lanes4 head_highest, c_lanes4 highest) {
  c_small_numbers result;
  c_hand_out(
      c_numbers_at_once(
          sentence, base, ends, from, places, rooms, may_be_fewer, head_lowest, head_highest, highest), &result);
  return result;
}

/// The ends behind the character at `first`, the first of them, counted from the next one on; 0 where not all are known.
static inline __attribute__((always_inline, C_AVX512)) unsigned long long c_ends_behind(
    long first, unsigned long long low, unsigned long long high) {
  if (first < 3 || first > 62 || high >> (first + 1) != 0) return 0;
  unsigned long long ends = low >> (first + 1) | high << (63 - first);
  return ends >> 63 ? 0 : ends;
}

/// The value of a hexadecimal digit; 255 for another character.
static inline __attribute__((always_inline, C_AVX512)) int c_hexadecimal(unsigned char character) {
  unsigned int digit = character - '0', letter = (character | 0x20) - 'a';
  return digit < 10 ? digit : letter < 6 ? letter + 10 : 255;
}

/// Three numbers, four satellites or fewer, and perhaps a hexadecimal digit: GSV behind the end at `first`.
static inline __attribute__((always_inline, C_AVX512)) c_number_words c_group_at_once(
    const unsigned char *sentence, long first, unsigned long long low, unsigned long long high, c_lanes4 head_highest,
    c_lanes4 highest, int *last) {
  unsigned long long ends = c_ends_behind(first, low, high);
  c_number_words numbers =
      c_numbers_at_once(sentence, first + 1, ends, 0, 3, 4, 1, (c_lanes4)0, head_highest, highest);
  *last = -1;
  if (numbers.left != 0 && numbers.wrong == 0) {
    const unsigned char *end = sentence + first + 1 + __builtin_ctzll(numbers.left);
    *last = c_hexadecimal(end[-1]);
    numbers.wrong = *last > 15 || (numbers.left & (numbers.left - 1)) != 0 || (ends & numbers.left >> 2) == 0;
  }
  return numbers;
}

static __attribute__((noinline, unused, C_AVX512)) c_group c_read_group_at_once(
    const unsigned char *sentence, long first, unsigned long long low, unsigned long long high,
    c_lanes4 head_highest, c_lanes4 highest) {
  c_group group;
  c_hand_out(c_group_at_once(sentence, first, low, high, head_highest, highest, &group.last), &group.numbers);
  return group;
}

/// The satellites of a GSV with an address of five characters.
///
/// - numbering: a place in `c_numberings`, of the talker's system.
/// - used, used_of_shared: a bit for each number that is used, of that system and of GLONASS.
static __attribute__((noinline, unused, C_AVX512)) c_sky_group c_read_sky_at_once(
    const unsigned char *sentence, unsigned long long low, unsigned long long high, int numbering, unsigned long long used,
    unsigned long long used_of_shared) {
  c_sky_group sky;
  const c_lanes4 head_highest = {32767, 99, 99, 99}, highest = {999, 99, 360, 99};
  c_number_words numbers = c_group_at_once(sentence, C_SHORT_ADDRESS, low, high, head_highest, highest, &sky.signal);
  sky.wrong = numbers.wrong;
  if (sky.wrong != 0) return sky;
  sky.head = numbers.words[0];
  sky.count = numbers.blocks;
  // Ids that only GLONASS has.
  int is_shared = (unsigned short)(numbers.words[1] - 65) < 32;
  sky.numbering = is_shared ? C_SHARED_NUMBERING : numbering;
  if (is_shared) used = used_of_shared;

  c_words4 said = __builtin_shufflevector(numbers.words, numbers.words, 1, 2, 3, 4);
  const c_lanes16 unknown = C_FOUR_TIMES(0, 0x80, -128, 0), north = C_FOUR_TIMES(-1, -1, 360, -1), bytes = C_FOUR_TIMES(-1, 0xFF, -1, -1);
  const c_lanes16 below = C_FOUR_TIMES(0, -91, -1, -1), places = C_FOUR_TIMES(256, 1, 1, 1);
  c_lanes16 base, most, name;
  __builtin_memcpy(&base, &c_numberings[sky.numbering].base, 16);
  __builtin_memcpy(&most, &c_numberings[sky.numbering].highest, 16);
  __builtin_memcpy(&name, &c_numberings[sky.numbering].name, 16);
#define C_BOTH(lanes) lanes = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
  C_BOTH(base);
  C_BOTH(most);
  C_BOTH(name);
#undef C_BOTH
  c_lanes16 values = (c_lanes16)said;
  values = values == north ? (c_lanes16)0 : values - base;
  values = ((values > below) & (values <= most)) ? values : unknown;
  c_words4 satellites = (c_words4)((values & bytes) * places | name);
  c_words4 bits = (c_words4)1 << (satellites >> 8 & 63);
  satellites |= (bits & used) != 0 ? (c_words4)(1ULL << 56) : (c_words4)0;
  __builtin_memcpy(sky.satellites, &satellites, sizeof satellites);
  // Absent ones, those behind the last, and those that are numbered in another way have no number.
  sky.numbers = __builtin_reduce_or(bits) & ~1ULL;
  sky.wrong = __builtin_popcountll(sky.numbers) != sky.count;
  return sky;
}

/// What `c_used_at_once` finds.
typedef struct {
  c_number_words numbers;
  c_words4 hundredths;
  int last;
  unsigned char before;
} c_used_words;

/// A character, a number, twelve others, three decimal numbers with two digits behind the point, and perhaps a hexadecimal
/// digit: GSA behind the end at `first`.
static inline __attribute__((always_inline, C_AVX512)) c_used_words c_used_at_once(
    const unsigned char *sentence, long first, unsigned long long low, unsigned long long high, c_lanes4 head_lowest,
    c_lanes4 head_highest, c_lanes4 highest) {
  c_used_words found;
  unsigned long long ends = c_ends_behind(first, low, high), later = ends & (ends - 1);
  const unsigned char *start = sentence + first + 1;
  found.numbers = c_numbers_at_once(sentence, first + 1, later, 2, 1, 3, 0, head_lowest, head_highest, highest);
  // One character before them, and three ends or four behind them.
  unsigned long long left = found.numbers.left, fourth = left & (left - 1);
  fourth &= fourth - 1;
  found.before = start[0];
  if ((ends & 3) != 2 || fourth == 0 || found.before == ' ') found.numbers.wrong = 1;
  if (found.numbers.wrong != 0) return found;
  fourth &= fourth - 1;

  // The eight characters before each of the three ends.
  unsigned long long first_eight, second_eight, third_eight;
  __builtin_memcpy(&first_eight, start + __builtin_ctzll(left) - 8, 8);
  left &= left - 1;
  __builtin_memcpy(&second_eight, start + __builtin_ctzll(left) - 8, 8);
  left &= left - 1;
  __builtin_memcpy(&third_eight, start + __builtin_ctzll(left) - 8, 8);
  c_words4 before = {first_eight, second_eight, third_eight, 0};
  const c_builtin_bytes32 none32 = {0};
  c_bytes32 digits = (c_bytes32)before ^ (c_bytes32)'0';
  unsigned int are_digits = C_BITS32(digits < (c_bytes32)10);
  unsigned int points = C_BITS32(digits == (c_bytes32)('.' ^ '0')), commas = C_BITS32(digits == (c_bytes32)(',' ^ '0'));
  // d.dd behind a comma, or dd.dd.
  unsigned int right = are_digits >> 4 & points >> 5 & are_digits >> 6 & are_digits >> 7
                       & (commas >> 3 | (are_digits >> 3 & commas >> 2));
  found.numbers.wrong = ~right & 0x010101;
  digits = (c_bytes32)__builtin_ia32_selectb_256(are_digits, (c_builtin_bytes32)digits, none32);
  const c_bytes32 four = {3, 4, 6, 7, 128, 128, 128, 128, 11, 12, 14, 15, 128, 128, 128, 128,
                          3, 4, 6, 7, 128, 128, 128, 128, 11, 12, 14, 15, 128, 128, 128, 128};
  c_builtin_lanes16 pairs = __builtin_ia32_pmaddubsw256(
      __builtin_ia32_pshufb256((c_builtin_bytes32)digits, (c_builtin_bytes32)four), (c_builtin_bytes32)(c_words4)0x010A010A);
  found.hundredths = (c_words4)__builtin_ia32_pmaddwd256(pairs, (c_builtin_lanes16)(c_words4)0x00010064);

  found.last = -1;
  if (fourth != 0) {
    const unsigned char *end = start + __builtin_ctzll(fourth);
    found.last = c_hexadecimal(end[-1]);
    found.numbers.wrong |= fourth >> 2 != (left & -left) || (fourth & (fourth - 1)) != 0 || found.last > 15;
  }
  return found;
}

static __attribute__((noinline, unused, C_AVX512)) c_used_satellites c_read_used_at_once(
    const unsigned char *sentence, long first, unsigned long long low, unsigned long long high, c_lanes4 head_lowest,
    c_lanes4 head_highest, c_lanes4 highest) {
  c_used_words words = c_used_at_once(sentence, first, low, high, head_lowest, head_highest, highest);
  c_used_satellites found;
  c_hand_out(words.numbers, &found.numbers);
  __builtin_memcpy(found.hundredths, &words.hundredths, sizeof words.hundredths);
  found.last = words.last;
  found.before = words.before;
  return found;
}

/// What a fix takes of a GSA with an address of five characters; `numbering` as above, where no system is said.
static __attribute__((noinline, unused, C_AVX512)) c_use c_read_use_at_once(
    const unsigned char *sentence, unsigned long long low, unsigned long long high, int numbering) {
  c_use use;
  const c_lanes4 lowest = {0, 0, 0, 1}, head_highest = {32767, 32767, 32767, 3}, highest = 999;
  c_used_words words = c_used_at_once(sentence, C_SHORT_ADDRESS, low, high, lowest, head_highest, highest);
  use.wrong = words.numbers.wrong;
  if (use.wrong != 0) return use;
  use.mode = (short)(words.numbers.words[0] >> 48);
  c_doubles4 dilutions = __builtin_convertvector(__builtin_convertvector(words.hundredths, c_ints4), c_doubles4) / 100.0;
  __builtin_memcpy(use.dilutions, &dilutions, sizeof dilutions);
  // 99 and more stand for "none", and 0 for a field that is not computed.
  use.known = C_BITS4((dilutions > 0.0) & (dilutions < 99.0));

  static const signed char by_system[16] = {-1, 0, 6, 2, 3, 5, 7, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  if (words.last > 0 && by_system[words.last] >= 0) numbering = by_system[words.last];
  c_lanes16 ids = (c_lanes16)__builtin_shufflevector(words.numbers.words, words.numbers.words, 1, 2, 3, 4);
  if ((unsigned short)(ids[0] - 65) < 32) numbering = C_SHARED_NUMBERING;
  use.numbering = numbering;
  c_numbers16 numbers = (c_numbers16)ids - (unsigned short)c_numberings[numbering].base[0];
  c_lanes16 inside = numbers - 1 < (unsigned short)c_numberings[numbering].highest[0];
  unsigned int are_there = C_BITS16(ids >= 0);
  use.wrong = are_there ^ C_BITS16(inside);
  numbers &= (c_numbers16)inside;
  c_words8 low_bits = (c_words8)1 << (__builtin_convertvector(numbers.lo, c_words8) & 63);
  c_words8 high_bits = (c_words8)1 << (__builtin_convertvector(numbers.hi, c_words8) & 63);
  use.numbers = __builtin_reduce_or(low_bits | high_bits) & ~1ULL;
  use.count = __builtin_popcount(are_there);
  return use;
}

#undef C_BITS32
#undef C_BITS16
#undef C_BITS4
#undef C_FOUR_TIMES
#undef C_AVX512

#else

static inline int c_has_avx512(void) { return 0; }
static inline c_small_numbers c_read_small_numbers_at_once(
    const unsigned char *sentence, long count, long base, unsigned long long ends, long from, int places, int rooms,
    int may_be_fewer, c_lanes4 head_lowest, c_lanes4 head_highest, c_lanes4 highest) {
  return c_read_small_numbers(
      sentence, count, base, ends, from, places, rooms, may_be_fewer, head_lowest, head_highest, highest);
}

static inline c_group c_read_group_at_once(
    const unsigned char *sentence, long first, unsigned long long low, unsigned long long high,
    c_lanes4 head_highest, c_lanes4 highest) {
  return (c_group){.numbers = {.wrong = 1}};
}

static inline c_used_satellites c_read_used_at_once(
    const unsigned char *sentence, long first, unsigned long long low, unsigned long long high, c_lanes4 head_lowest,
    c_lanes4 head_highest, c_lanes4 highest) {
  return (c_used_satellites){.numbers = {.wrong = 1}};
}

static inline c_use c_read_use_at_once(
    const unsigned char *sentence, unsigned long long low, unsigned long long high, int numbering) {
  return (c_use){.wrong = 1};
}

static inline c_sky_group c_read_sky_at_once(
    const unsigned char *sentence, unsigned long long low, unsigned long long high, int numbering, unsigned long long used,
    unsigned long long used_of_shared) {
  return (c_sky_group){.wrong = 1};
}

#endif
#endif
