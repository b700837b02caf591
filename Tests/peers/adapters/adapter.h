// SPDX-License-Identifier: Apache-2.0

/// The program around a decoder in C, for compare.py:
///
///     PROGRAM PROTOCOL FILE count     a line for each frame: its name, the values that the decoder has of it, -1 for none
///     PROGRAM PROTOCOL FILE ROUNDS    the whole file, ROUNDS times, without output
///
/// FILE has whole frames of one protocol: nmea, ubx or rtcm3.

#pragma once

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Decodes the whole file.
void decode(const char *protocol, const unsigned char *bytes, size_t size);
/// Prints a line for each frame.
void count(const char *protocol, const unsigned char *bytes, size_t size);

/// The length of the frame at `bytes`, which is whole.
static inline size_t frame_length(const unsigned char *bytes, size_t size) {
  if (bytes[0] == 0xB5) return 8 + bytes[4] + 256 * (size_t)bytes[5];
  if (bytes[0] == 0xD3) return 6 + (bytes[1] & 3) * 256 + (size_t)bytes[2];
  const unsigned char *end = memchr(bytes, '\n', size);
  return end ? (size_t)(end + 1 - bytes) : size;
}

/// Prints a frame's name and its number of values.
static inline void print_count(const unsigned char *frame, long values) {
  if (frame[0] == 0xB5) {
    printf("%02X-%02X %ld\n", frame[2], frame[3], values);
  } else if (frame[0] == 0xD3) {
    printf("%d %ld\n", frame[3] << 4 | frame[4] >> 4, values);
  } else {
    int length = (int)strcspn((const char *)frame, ",*");
    int skipped = frame[1] == 'P' || length < 6 ? 1 : 3;
    printf("%.*s %ld\n", length - skipped, frame + skipped, values);
  }
}

/// Reads a file into memory; it ends with a zero.
static inline unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(66);
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size + 1);
  if (!bytes || fread(bytes, 1, *size, file) != *size) exit(74);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

int main(int count_of_arguments, char **arguments) {
  if (count_of_arguments != 4) return 64;
  size_t size;
  unsigned char *bytes = read_file(arguments[2], &size);
  if (!strcmp(arguments[3], "count")) {
    count(arguments[1], bytes, size);
    return 0;
  }
  for (long rounds = atol(arguments[3]); rounds > 0; rounds--) decode(arguments[1], bytes, size);
  return 0;
}
