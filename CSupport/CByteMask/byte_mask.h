// SPDX-License-Identifier: Apache-2.0

// Vector operations that Swift does not have: the result of a comparison as an integer with a bit for each byte, and the sum of
// all bytes. Clang emits a few instructions for each on processors with vector units, and scalar code on others.

#ifndef C_BYTE_MASK_H
#define C_BYTE_MASK_H

typedef unsigned char c_bytes16 __attribute__((ext_vector_type(16)));
typedef signed char c_signed_bytes16 __attribute__((ext_vector_type(16)));
typedef _Bool c_bools16 __attribute__((ext_vector_type(16)));

/// The high bit of each byte as a mask; the first byte is in the low bit.
static inline __attribute__((always_inline)) unsigned short c_high_bits(c_bytes16 bytes) {
  return __builtin_bit_cast(unsigned short, __builtin_convertvector((c_signed_bytes16)bytes < 0, c_bools16));
}

/// The sum of the bytes, modulo 256.
static inline __attribute__((always_inline)) unsigned char c_sum(c_bytes16 bytes) {
  return __builtin_reduce_add(bytes);
}

#endif
