// SPDX-License-Identifier: Apache-2.0

// The 24-bit cyclic redundancy check of RTCM 3: polynomial P = x^24 + ... = 0x1864CFB, start value 0, most significant bit first.
// Computed with carry-less multiplication where the processor has it (`carryless.h`), with tables elsewhere. Tests
// compare every length of both with the definition, bit by bit.

#ifndef C_CRC24Q_H
#define C_CRC24Q_H

#include "carryless.h"

// The tables are constants in C because Swift copies a constant array at each look-up on some processors.
// The remainder is linear: the remainder of a byte is the exclusive or of the remainders of its bits.
#define C_BIT(byte, bit, remainder) ((byte) >> (bit) & 1 ? (remainder) : 0u)
#define C_1(n, a, b, c, d, e, f, g, h)                                                                                \
  C_BIT(n, 0, a) ^ C_BIT(n, 1, b) ^ C_BIT(n, 2, c) ^ C_BIT(n, 3, d) ^ C_BIT(n, 4, e) ^ C_BIT(n, 5, f)                 \
      ^ C_BIT(n, 6, g) ^ C_BIT(n, 7, h)
#define C_4(n, ...) C_1(n, __VA_ARGS__), C_1(n + 1, __VA_ARGS__), C_1(n + 2, __VA_ARGS__), C_1(n + 3, __VA_ARGS__)
#define C_16(n, ...) C_4(n, __VA_ARGS__), C_4(n + 4, __VA_ARGS__), C_4(n + 8, __VA_ARGS__), C_4(n + 12, __VA_ARGS__)
#define C_64(n, ...) C_16(n, __VA_ARGS__), C_16(n + 16, __VA_ARGS__), C_16(n + 32, __VA_ARGS__), C_16(n + 48, __VA_ARGS__)
#define C_ROW(...) {C_64(0, __VA_ARGS__), C_64(64, __VA_ARGS__), C_64(128, __VA_ARGS__), C_64(192, __VA_ARGS__)}

// A microcontroller has little flash: one row, and one byte at a time.
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define C_CRC24Q_ROWS 1
#else
#define C_CRC24Q_ROWS 4
#endif

// Row n: the remainder of a byte followed by n bytes, in the upper 24 bits of a word.
static const unsigned int c_crc24q_table[C_CRC24Q_ROWS][256] = {
  C_ROW(0x864CFB00u, 0x8AD50D00u, 0x93E6E100u, 0xA1813900u, 0xC54E8900u, 0x0CD1E900u, 0x19A3D200u, 0x3347A400u),
#if C_CRC24Q_ROWS > 1
  C_ROW(0x668F4800u, 0xCD1E9000u, 0x1C71DB00u, 0x38E3B600u, 0x71C76C00u, 0xE38ED800u, 0x41514B00u, 0x82A29600u),
  C_ROW(0x8309D700u, 0x805F5500u, 0x86F25100u, 0x8BA85900u, 0x911C4900u, 0xA4746900u, 0xCEA42900u, 0x1B04A900u),
  C_ROW(0x36095200u, 0x6C12A400u, 0xD8254800u, 0x36066B00u, 0x6C0CD600u, 0xD819AC00u, 0x367FA300u, 0x6CFF4600u),
#endif
};

#undef C_BIT
#undef C_1
#undef C_4
#undef C_16
#undef C_64
#undef C_ROW

/// The check of `count` bytes with tables, four bytes at a time ("slicing by four").
static __attribute__((noinline, unused)) unsigned int c_crc24q_by_tables(const unsigned char *bytes, unsigned long count) {
  unsigned int remainder = 0;
  for (; count % C_CRC24Q_ROWS != 0 || (C_CRC24Q_ROWS == 1 && count > 0); count--) {
    remainder = remainder << 8 ^ c_crc24q_table[0][remainder >> 24 ^ *bytes++];
  }
#if C_CRC24Q_ROWS > 1
  for (; count > 0; count -= 4, bytes += 4) {
    remainder = c_crc24q_table[3][bytes[0] ^ remainder >> 24] ^ c_crc24q_table[2][bytes[1] ^ (remainder >> 16 & 0xFF)]
                ^ c_crc24q_table[1][bytes[2] ^ (remainder >> 8 & 0xFF)] ^ c_crc24q_table[0][bytes[3]];
  }
#endif
  return remainder >> 8;
}

#ifdef C_CARRYLESS

/// The check of `count` bytes, 16 or more, with carry-less multiplication, which the processor must have.
///
/// `sum` is a polynomial of degree below 128 that has the same remainder as the bytes so far: for sixteen more bytes both of its
/// halves are multiplied by the remainders of x^192 and x^128, and the bytes are added. The last steps multiply by x^24, bring
/// the sum below x^64, and divide by P: the quotient is the upper half of the sum times x^64 / P (Barrett), exactly,
/// because polynomials have no carries.
static __attribute__((noinline, unused, C_CARRYLESS)) unsigned int c_crc24q_carryless(
    const unsigned char *bytes, unsigned long count) {
  const c_words2 by_128 = {0x6243DA, 0xB22B31}, by_24 = {0x864CFB, 0xFD7E0C}, by_64 = {0x36EB3D, 0}, polynomial = {0x1864CFB, 0};
  const c_words2 quotient_of_64 = {0x1F845FE2493, 0};
  // Zeros before the first byte change nothing: they pad the first block.
  unsigned char first[16] = {0};
  unsigned long odd = count & 15;
  for (unsigned long place = 0; place < odd; place++) first[16 - odd + place] = bytes[place];
  c_words2 sum = c_block(first);
  for (const unsigned char *end = bytes + count, *at = bytes + odd; at < end; at += 16) {
    sum = c_low_product(sum, by_128) ^ c_high_product(sum, by_128) ^ c_block(at);
  }
  sum = c_low_product(sum, by_24) ^ c_high_product(sum, by_24);
  sum ^= c_low_product(sum.yx, by_64);
  c_words2 quotient = c_low_product(sum, quotient_of_64);
  return (unsigned int)(sum ^ c_low_product(quotient.yx, polynomial)).x & 0xFFFFFF;
}

#endif

/// The check of `count` bytes.
static inline unsigned int c_crc24q(const unsigned char *bytes, unsigned long count) {
#ifdef C_CARRYLESS
  if (count >= 16 && c_has_carryless()) return c_crc24q_carryless(bytes, count);
#endif
  return c_crc24q_by_tables(bytes, count);
}

#endif
