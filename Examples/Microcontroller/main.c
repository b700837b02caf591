// SPDX-License-Identifier: Apache-2.0

/// Decodes a receiver at UART 0 and prints its fixes at UART 1, on Arm's MPS2 board with the image AN386. `-DDECODER_INIT=` names the
/// function that makes the decoder, and thereby the protocols whose code the program contains.
///
/// The number of bytes to read comes at UART 1, in digits and a line end, so that the program has an end.

#include <stdalign.h>
#include <stdint.h>
#include "board.h"
#include "fix_line.h"

#ifndef DECODER_INIT
#define DECODER_INIT sextant_decoder_init_nmea
#endif
#ifndef UBX_PAYLOAD
#define UBX_PAYLOAD 0
#endif

/// The UART of Arm's CMSDK (Cortex-M System Design Kit Technical Reference Manual, "APB UART").
typedef struct {
  volatile uint32_t data, state, control, interrupts, divider;
} uart;

#define RECEIVER ((uart *)0x40004000)
#define CONSOLE ((uart *)0x40005000)
enum { OUTPUT_FULL = 1, INPUT_FULL = 2, OUTPUT_ON = 1, INPUT_ON = 2 };

static void start_uart(uart *uart) {
  uart->divider = 16;
  uart->control = OUTPUT_ON | INPUT_ON;
}

static uint8_t read_byte(uart *uart) {
  while (!(uart->state & INPUT_FULL)) {}
  return (uint8_t)uart->data;
}

static void write_bytes(const char *bytes, size_t count) {
  for (size_t index = 0; index < count; index++) {
    while (CONSOLE->state & OUTPUT_FULL) {}
    CONSOLE->data = (uint8_t)bytes[index];
  }
}

static void write_number(const char *name, uint32_t value) {
  char digits[10];
  size_t count = 0;
  while (name[count]) count++;
  write_bytes(name, count);
  size_t at = sizeof digits;
  do digits[--at] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  write_bytes(digits + at, sizeof digits - at);
  write_bytes("\n", 1);
}

static void print(void *context, const sextant_report *report) {
  static char line[FIX_LINE_BYTES];
  (void)context;
  write_bytes(line, fix_line(report, line));
}

int main(void) {
  start_uart(RECEIVER);
  start_uart(CONSOLE);
  static alignas(SEXTANT_DECODER_ALIGNMENT) unsigned char memory[SEXTANT_DECODER_BYTES(UBX_PAYLOAD)];
  static const sextant_options options = {.on_report = print};
  sextant_decoder *decoder = DECODER_INIT(memory, sizeof memory, &options);
  if (!decoder) return 1;
  uint32_t left = 0;
  for (uint8_t digit; (digit = read_byte(CONSOLE)) >= '0';) left = left * 10 + (digit - '0');
  for (; left > 0; left--) {
    uint8_t byte = read_byte(RECEIVER);
    sextant_decoder_feed(decoder, &byte, 1);
  }
  sextant_decoder_finish(decoder);
  write_number("variables: ", board_variable_bytes());
  write_number("stack: ", board_stack_bytes());
  return 0;
}
