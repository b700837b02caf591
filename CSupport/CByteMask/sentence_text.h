// The sentence at a `$`, by vectors of 32 bytes on processors that have them (AVX2: Intel since 2013, AMD since 2015), which
// are asked for at run time. Tests compare with what Swift finds by sixteen.
//
// The instructions are written out: so they become part of the Swift that looks. A function that is compiled for another
// processor would be called for each sentence, and the call costs as much as they save. Each block ends with VZEROUPPER, so
// that what follows does not wait for the upper halves.

#ifndef C_SENTENCE_TEXT_H
#define C_SENTENCE_TEXT_H

/// A sentence and where its fields end.
typedef struct {
  /// With the line's end; 0 where none was found.
  long length;
  /// A bit for each of the first 64 characters that is a comma or the `*`, and for the 64 behind them.
  unsigned long long low_ends, high_ends;
} c_sentence;

#if defined(__x86_64__) && defined(__linux__)

/// Whether the processor has the instructions.
static inline __attribute__((always_inline)) int c_has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }

#define C_4(x) x, x, x, x
#define C_16(x) C_4(x), C_4(x), C_4(x), C_4(x)

static const struct {
  unsigned char comma[32], minus_one[32], limit[32];
  // 80 bytes of ones and 80 of zeros: from place 80 - n on, n of ones.
  unsigned char first[160];
  // The digits of a checksum, the first in the low byte.
  unsigned short digits[256];
} c_text __attribute__((aligned(32))) = {
  {C_16(','), C_16(',')},
  {C_16(0xFF), C_16(0xFF)},
  {C_16(0x2E), C_16(0x2E)},
  {C_16(0xFF), C_16(0xFF), C_16(0xFF), C_16(0xFF), C_16(0xFF)},
  {
#define C_DIGITS(high, low) (high) | (low) << 8
#define C_ROW(high)                                                                                                          \
  C_DIGITS(high, '0'), C_DIGITS(high, '1'), C_DIGITS(high, '2'), C_DIGITS(high, '3'), C_DIGITS(high, '4'),                   \
      C_DIGITS(high, '5'), C_DIGITS(high, '6'), C_DIGITS(high, '7'), C_DIGITS(high, '8'), C_DIGITS(high, '9'),               \
      C_DIGITS(high, 'A'), C_DIGITS(high, 'B'), C_DIGITS(high, 'C'), C_DIGITS(high, 'D'), C_DIGITS(high, 'E'),               \
      C_DIGITS(high, 'F')
    C_ROW('0'), C_ROW('1'), C_ROW('2'), C_ROW('3'), C_ROW('4'), C_ROW('5'), C_ROW('6'), C_ROW('7'), C_ROW('8'), C_ROW('9'),
    C_ROW('A'), C_ROW('B'), C_ROW('C'), C_ROW('D'), C_ROW('E'), C_ROW('F'),
#undef C_ROW
#undef C_DIGITS
  },
};

#undef C_16
#undef C_4

/// The sentence that begins with the `$` at `text`, if it is like nearly all, as Swift's `quickLook` has it. 88 bytes must be
/// readable.
static inline __attribute__((always_inline)) c_sentence c_sentence_at(const unsigned char *text) {
  c_sentence found = {0, 0, 0};
  if ((unsigned char)(text[1] - 'A') >= 26) return found;

  // Commas, and those that may end a sentence's content: control characters, those up to the comma, and what is not ASCII.
  unsigned int comma0, comma1, comma2, stop0, stop1, stop2;
  __asm__(
      "vmovdqu (%[text]), %%ymm0\n\t"
      "vmovdqu 32(%[text]), %%ymm1\n\t"
      "vmovdqu 64(%[text]), %%xmm2\n\t"
      "vpcmpeqb (%[c]), %%ymm0, %%ymm3\n\t"
      "vpmovmskb %%ymm3, %[comma0]\n\t"
      "vpcmpeqb (%[c]), %%ymm1, %%ymm4\n\t"
      "vpmovmskb %%ymm4, %[comma1]\n\t"
      "vpcmpeqb (%[c]), %%xmm2, %%xmm5\n\t"
      "vpmovmskb %%xmm5, %[comma2]\n\t"
      "vmovdqa 64(%[c]), %%ymm6\n\t"
      "vpsubb 32(%[c]), %%ymm0, %%ymm0\n\t"
      "vpcmpgtb %%ymm0, %%ymm6, %%ymm0\n\t"
      "vpmovmskb %%ymm0, %[stop0]\n\t"
      "vpsubb 32(%[c]), %%ymm1, %%ymm1\n\t"
      "vpcmpgtb %%ymm1, %%ymm6, %%ymm1\n\t"
      "vpmovmskb %%ymm1, %[stop1]\n\t"
      "vpsubb 32(%[c]), %%xmm2, %%xmm2\n\t"
      "vpcmpgtb %%xmm2, %%xmm6, %%xmm2\n\t"
      "vpmovmskb %%xmm2, %[stop2]\n\t"
      "vzeroupper"
      : [comma0] "=&r"(comma0), [comma1] "=&r"(comma1), [comma2] "=&r"(comma2), [stop0] "=&r"(stop0),
        [stop1] "=&r"(stop1), [stop2] "=&r"(stop2)
      : [text] "r"(text), [c] "r"(&c_text), "m"(*(const unsigned char(*)[80])text), "m"(c_text)
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6");
  unsigned long long commas = comma0 | (unsigned long long)comma1 << 32;
  // The first character is the `$`, which would end a sentence before it.
  unsigned long long stops = (stop0 | (unsigned long long)stop1 << 32) & ~(commas | 1);
  unsigned int later_stops = stop2 & ~comma2;
  if ((stops | later_stops) == 0) return found;
  // The place is computed: a branch that depends on which side of 64 it is would be guessed wrong half the time. It is hidden
  // from the compiler that it could be one.
  unsigned long long if_later = stops == 0 ? ~0ULL : 0;
  __asm__("" : "+r"(if_later));
  long star = (stops == 0 ? 64 : __builtin_ctzll(stops)) + (long)(__builtin_ctz(later_stops | 1U << 31) & if_later);

  // `*`, two digits, and the line's end, which files that a computer wrote have without the CR. Where the next sentence begins
  // shall not depend on what is loaded here or summed up below: so these are branches, which are guessed right.
  unsigned long long tail;
  __builtin_memcpy(&tail, text + star, 8);
  int line_end;
  if (__builtin_expect((tail >> 24 & 0xFFFF) == 0x0A0D, 1)) line_end = 2;
  else if ((tail >> 24 & 0xFF) == 0x0A) line_end = 1;
  else return found;

  unsigned long long sum;
  __asm__(
      "vmovdqu (%[first]), %%ymm0\n\t"
      "vmovdqu 32(%[first]), %%ymm1\n\t"
      "vmovdqu 64(%[first]), %%xmm2\n\t"
      "vpand (%[text]), %%ymm0, %%ymm0\n\t"
      "vpand 32(%[text]), %%ymm1, %%ymm1\n\t"
      "vpand 64(%[text]), %%xmm2, %%xmm2\n\t"
      "vpxor %%ymm1, %%ymm0, %%ymm0\n\t"
      "vextracti128 $1, %%ymm0, %%xmm1\n\t"
      "vpxor %%xmm2, %%xmm0, %%xmm0\n\t"
      "vpxor %%xmm1, %%xmm0, %%xmm0\n\t"
      "vpshufd $0xEE, %%xmm0, %%xmm1\n\t"
      "vpxor %%xmm1, %%xmm0, %%xmm0\n\t"
      "vmovq %%xmm0, %[sum]\n\t"
      "vzeroupper"
      : [sum] "=r"(sum)
      : [text] "r"(text), [first] "r"(c_text.first + 80 - star), "m"(*(const unsigned char(*)[80])text), "m"(c_text)
      : "xmm0", "xmm1", "xmm2");
  sum ^= sum >> 32;
  sum ^= sum >> 16;
  sum ^= sum >> 8;
  if ((tail & 0xFFFFFF) != ('*' | (unsigned int)c_text.digits[(sum ^ '$') & 0xFF] << 8)) return found;

  found.length = star + 3 + line_end;
  // Up to the `*`: all bits up to the lowest stop, and all when there is none.
  found.low_ends = (commas | stops) & (stops ^ (stops - 1));
  found.high_ends = (comma2 | later_stops) & (later_stops ^ (later_stops - 1)) & if_later;
  return found;
}

#else

static inline int c_has_avx2(void) { return 0; }
static inline c_sentence c_sentence_at(const unsigned char *text) { return (c_sentence){0, 0, 0}; }

#endif
#endif
