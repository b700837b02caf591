// SPDX-License-Identifier: Apache-2.0
// Functions of glibc 2.38 that the Swift library of Debian unstable calls, for glibc 2.36 (Debian 12, Raspberry Pi OS 12).
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions of C23 also accept the prefix 0b, for base 0 and base 2 (glibc's NEWS, 2.38). The library reads the numbers of
// environment variables with them.
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoull(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int count = vsscanf(text, format, values);
  va_end(values);
  return count;
}

// strlcpy(3): copies what fits, always with an end, and returns the length of the source.
size_t strlcpy(char *to, const char *from, size_t size) {
  size_t length = strlen(from);
  if (size > 0) {
    size_t copied = length < size ? length : size - 1;
    memcpy(to, from, copied);
    to[copied] = 0;
  }
  return length;
}

// strlcat(3): appends what fits, always with an end, and returns the length that it tried to make.
size_t strlcat(char *to, const char *from, size_t size) {
  size_t before = strnlen(to, size);
  return before == size ? size + strlen(from) : before + strlcpy(to + before, from, size - before);
}

#include "../scalar-names.c"
