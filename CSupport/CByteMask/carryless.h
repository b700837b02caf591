// SPDX-License-Identifier: Apache-2.0

// Multiplication of polynomials over GF(2), "carry-less": one instruction on x86-64 (PCLMULQDQ, since 2010) and on ARMv8 (PMULL,
// but not on a Raspberry Pi 3 or 4). The processor is asked at run time. Elsewhere C_CARRYLESS is not defined.

#ifndef C_CARRYLESS_H
#define C_CARRYLESS_H

typedef unsigned long long c_words2 __attribute__((ext_vector_type(2)));

#if defined(__x86_64__) && defined(__linux__)

#define C_CARRYLESS target("pclmul,ssse3")

typedef long long c_pclmul_words __attribute__((__vector_size__(16)));

static inline int c_has_carryless(void) { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3"); }

/// The product of the first words, and the product of the second words.
static inline __attribute__((always_inline, C_CARRYLESS)) c_words2 c_low_product(c_words2 a, c_words2 b) {
  return (c_words2)__builtin_ia32_pclmulqdq128((c_pclmul_words)a, (c_pclmul_words)b, 0x00);
}
static inline __attribute__((always_inline, C_CARRYLESS)) c_words2 c_high_product(c_words2 a, c_words2 b) {
  return (c_words2)__builtin_ia32_pclmulqdq128((c_pclmul_words)a, (c_pclmul_words)b, 0x11);
}

#elif defined(__aarch64__) && defined(__linux__)

#define C_CARRYLESS target("aes")

unsigned long getauxval(unsigned long type);

/// Asks for HWCAP_PMULL of AT_HWCAP, getauxval(3).
static inline int c_has_carryless(void) { return (getauxval(16) >> 4 & 1) != 0; }

/// The product of the first words, and the product of the second words.
static inline __attribute__((always_inline, C_CARRYLESS)) c_words2 c_low_product(c_words2 a, c_words2 b) {
  return __builtin_bit_cast(c_words2, __builtin_neon_vmull_p64(a.x, b.x));
}
static inline __attribute__((always_inline, C_CARRYLESS)) c_words2 c_high_product(c_words2 a, c_words2 b) {
  return __builtin_bit_cast(c_words2, __builtin_neon_vmull_p64(a.y, b.y));
}

#endif

#ifdef C_CARRYLESS

/// Sixteen bytes as a number, the first byte the most significant.
static inline __attribute__((always_inline, C_CARRYLESS)) c_words2 c_block(const unsigned char *bytes) {
  typedef unsigned char c_block16 __attribute__((ext_vector_type(16)));
  c_block16 block;
  __builtin_memcpy(&block, bytes, 16);
  return (c_words2)__builtin_shufflevector(block, block, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

#endif
#endif
