// SPDX-License-Identifier: Apache-2.0

// The client of a program for compare_latency.py: it waits in read() and records the time of each piece. When the program has
// ended, it writes for each piece the nanoseconds of the monotonic clock and the length, eight bytes each, and the bytes.
// A client in an interpreted language takes longer to wake after a longer sleep, which would distort the measurement.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  static char piece[65536];
  char *notes = NULL;
  size_t used = 0, room = 0;
  ssize_t count;
  while ((count = read(0, piece, sizeof piece)) > 0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t head[2] = {(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, (uint64_t)count};
    if (room - used < sizeof head + sizeof piece) {
      room = 2 * room + (1 << 24);
      if (!(notes = realloc(notes, room))) return 71;
    }
    memcpy(notes + used, head, sizeof head);
    memcpy(notes + used + sizeof head, piece, (size_t)count);
    used += sizeof head + (size_t)count;
  }
  return fwrite(notes, 1, used, stdout) == used && fflush(stdout) == 0 ? 0 : 74;
}
