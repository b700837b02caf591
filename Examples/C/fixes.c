// SPDX-License-Identifier: Apache-2.0

/// Prints the fixes of a receiver's bytes on standard input.
///
///     cc fixes.c fix_line.c $(pkg-config --cflags --libs libsextant) -o fixes
///     ./fixes < recording

#include <stdalign.h>
#include <stdio.h>
#include "fix_line.h"

static void print(void *context, const sextant_report *report) {
  char line[FIX_LINE_BYTES];
  fwrite(line, 1, fix_line(report, line), context);
}

int main(void) {
  if (sextant_abi_version() != SEXTANT_ABI_VERSION) {
    fputs("fixes: libsextant has another version than sextant.h\n", stderr);
    return 1;
  }
  static alignas(SEXTANT_DECODER_ALIGNMENT) unsigned char memory[SEXTANT_DECODER_BYTES(SEXTANT_LONGEST_UBX_PAYLOAD)];
  sextant_options options = {.context = stdout, .on_report = print};
  sextant_decoder *decoder = sextant_decoder_init(memory, sizeof memory, &options);
  unsigned char bytes[4096];
  size_t count;
  while ((count = fread(bytes, 1, sizeof bytes, stdin)) > 0) sextant_decoder_feed(decoder, bytes, count);
  sextant_decoder_finish(decoder);
  return fflush(stdout) != 0;
}
