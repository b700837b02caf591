// The 24-bit cyclic redundancy check of RTCM 3 by multiplication of polynomials over GF(2), "without carries". Processors
// that have an instruction for it are asked at run time; Swift has no way to that instruction.
//
// Bytes are the coefficients of a polynomial, the first bit the highest. It is cut into words of 64 bits: word m from the
// end counts x^(64 m), and the check is the remainder of all, times x^24, by P = x^24 + ... = 0x1864CFB. So each word is
// multiplied by the remainder of x^(64 m + 24), which has 24 bits; the products are added (which is exclusive or), and no
// word waits for another. The sum has 87 bits. Those above 64 are multiplied by the remainder of x^64 and added below. What
// is left, T, has 64 bits: its quotient by P is the upper half of T times the quotient of x^64 by P (Barrett), exactly, as
// polynomials have no carries; and the remainder is T less quotient times P.
//
// Tests compare all lengths with the definition, bit by bit, so that no number below can be wrong.

#ifndef C_CARRYLESS_CRC_H
#define C_CARRYLESS_CRC_H

/// The most bytes whose check can be made at once: a whole RTCM 3 frame has 1029.
#define C_CRC24Q_MOST 1040

#if defined(__x86_64__) && defined(__linux__)

// The remainder of x^(64 m + 24) by P, for m = 0, 1, ...
static const long long c_crc24q_powers[C_CRC24Q_MOST / 8] = {
  0x864CFB, 0xFD7E0C, 0xC4B14D, 0x911CF1, 0x674E18, 0x6E7A2C, 0x6708E3, 0x74B44A, 0x08289A, 0xA38DEA,
  0x8669BD, 0x7D79CA, 0xBDACC4, 0xFE0729, 0x11BDA1, 0x1A43EA, 0xAEE5D5, 0x605224, 0x625D7C, 0xABE9B0,
  0xDE9F8C, 0xAF0D59, 0x30D4D9, 0x7A80B6, 0x6284A3, 0x5AC9CD, 0x413F80, 0x776774, 0xAC28BA, 0x1D5856,
  0x1DFEE7, 0x5D2B63, 0x213427, 0xDBCE7D, 0xD3C921, 0xC06848, 0x954E2C, 0x8CDEF0, 0xB72E16, 0x772EA8,
  0x0A171C, 0xC49F99, 0x155DA2, 0x91F50F, 0x3C1EB5, 0x7D8DA7, 0xF8B5DF, 0x30361C, 0xFBF42A, 0x963349,
  0xB9704F, 0xB52513, 0xE040CB, 0xB8BC1D, 0x10C257, 0x104A4F, 0xA0164B, 0xEA1E93, 0x94EBD1, 0x91EFCB,
  0x6CFC51, 0x5F5D17, 0xA32223, 0x3E6234, 0x8A6D26, 0x69606B, 0x30F8C6, 0xF0E60C, 0x88CDC0, 0x30D494,
  0xA8360F, 0xE53AFC, 0x9A12D6, 0x4E5C31, 0x71D21C, 0xD7DADE, 0xE53ACF, 0x6751FB, 0xAF8A8B, 0x37532E,
  0x15F384, 0x749343, 0x406C87, 0xA71F1F, 0x7DCA75, 0x1A4057, 0x85B337, 0xD832A5, 0x03B1CE, 0xD7EEB5,
  0xF32B25, 0xB852F0, 0xD0713F, 0x07D169, 0xE7CB84, 0xE9EA3B, 0xB6C9AC, 0xCF988E, 0xFB60F6, 0xEFE881,
  0x92739E, 0xCC81E0, 0xFB3F6F, 0x869093, 0xE2AED2, 0x7AAAEB, 0x12B528, 0xC3E593, 0x21847C, 0x3C4467,
  0xA5EE3E, 0x6502F3, 0x57264A, 0x36F0A8, 0x5315CA, 0xE7F211, 0x42D1A4, 0x3A569D, 0x3A3159, 0xE1DAEE,
  0x456528, 0x83EAC7, 0x518D71, 0x0CD54B, 0x0E7DE7, 0x5F2E89, 0x1303BE, 0x877F71, 0x5D0339, 0xA6B707,
};

typedef long long c_words2 __attribute__((ext_vector_type(2)));
typedef char c_chars16 __attribute__((ext_vector_type(16)));

/// Whether the processor has the instructions.
static inline int c_crc24q_is_fast(void) { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3"); }

/// Sixteen bytes, put in order, times the powers of their words.
static inline __attribute__((always_inline, target("pclmul,ssse3"))) c_words2 c_crc24q_product(
    const unsigned char *bytes, const signed char *order, const long long *powers) {
  c_chars16 block, places;
  c_words2 factors;
  __builtin_memcpy(&block, bytes, 16);
  __builtin_memcpy(&places, order, 16);
  __builtin_memcpy(&factors, powers, 16);
  c_words2 words = (c_words2)__builtin_ia32_pshufb128(block, places);
  return (c_words2)__builtin_ia32_pclmulqdq128(words, factors, 0x00)
         ^ (c_words2)__builtin_ia32_pclmulqdq128(words, factors, 0x11);
}

/// The check of `count` (16...C_CRC24Q_MOST) bytes. The processor must have the instructions.
static __attribute__((noinline, unused, target("pclmul,ssse3"))) unsigned int c_crc24q(
    const unsigned char *bytes, unsigned long count) {
  // From here on sixteen places reverse sixteen bytes, and from n places behind it the first 16 - n of them; zeros before.
  static const signed char reversing[32] = {15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0,
                                            -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  // The first block is the one that may have fewer than sixteen bytes: zeros before the first change nothing.
  unsigned long first = ((count - 1) & 15) + 1;
  const long long *powers = c_crc24q_powers + (count + 15) / 16 * 2 - 2;
  const unsigned char *end = bytes + count;
  c_words2 sum = c_crc24q_product(bytes, reversing + (16 - first), powers);
  bytes += first;
  for (; end - bytes >= 32; bytes += 32) {
    powers -= 4;
    sum ^= c_crc24q_product(bytes, reversing, powers + 2) ^ c_crc24q_product(bytes + 16, reversing, powers);
  }
  if (bytes < end) sum ^= c_crc24q_product(bytes, reversing, powers - 2);
  const c_words2 ofWord = {0x36EB3D, 0x1F845FE2493};
  const c_words2 polynomial = {0x1864CFB, 0};
  sum ^= (c_words2)__builtin_ia32_pclmulqdq128(sum, ofWord, 0x01);
  c_words2 quotient = (c_words2)__builtin_ia32_pclmulqdq128(sum, ofWord, 0x10);
  sum ^= (c_words2)__builtin_ia32_pclmulqdq128(quotient, polynomial, 0x01);
  return (unsigned int)sum[0] & 0xFFFFFF;
}

#else

static inline int c_crc24q_is_fast(void) { return 0; }
static inline unsigned int c_crc24q(const unsigned char *bytes, unsigned long count) { return 0; }

#endif
#endif
