// SPDX-License-Identifier: Apache-2.0

/// What a Cortex-M4 needs before `main`: vectors, variables (ARMv7-M Architecture Reference Manual, B1.5), and the end of the program by
/// semihosting (Arm, "Semihosting for AArch32 and AArch64", SYS_EXIT).

#include <stdint.h>
#include "board.h"

extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[], stack_bottom[], stack_top[];

#define UNUSED_STACK 0xA5A5A5A5u

_Noreturn void board_exit(int isFailure) {
  // 0x20026 is ADP_Stopped_ApplicationExit, 0x20023 ADP_Stopped_RunTimeErrorUnknown.
  register uint32_t operation __asm__("r0") = 0x18;
  register uint32_t reason __asm__("r1") = isFailure ? 0x20023 : 0x20026;
  for (;;) __asm__ volatile("bkpt 0xAB" : "+r"(operation) : "r"(reason) : "memory");
}

unsigned board_stack_bytes(void) {
  const uint32_t *at = stack_bottom;
  while (at < stack_top && *at == UNUSED_STACK) at++;
  return (unsigned)((stack_top - at) * sizeof *at);
}

unsigned board_variable_bytes(void) { return (unsigned)((data_end - data_start + bss_end - bss_start) * sizeof *bss_end); }

int main(void);

/// The Coprocessor Access Control Register (ARMv7-M Architecture Reference Manual, B3.2.20).
#define COPROCESSOR_ACCESS (*(volatile uint32_t *)0xE000ED88)

_Noreturn void start(void) {
  // The library is compiled for a processor with a floating-point unit, and moves data with its registers.
  COPROCESSOR_ACCESS |= 0xFu << 20;
  __asm__ volatile("dsb\n isb");
  for (uint32_t *to = data_start, *from = data_load; to < data_end;) *to++ = *from++;
  for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
  // The unused part of the stack is marked, so that its use can be measured. The margin is this function's own frame.
  for (uint32_t *to = stack_bottom, *end = (uint32_t *)__builtin_frame_address(0) - 32; to < end;) *to++ = UNUSED_STACK;
  board_exit(main());
}

static void fault(void) { board_exit(1); }

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
  stack_top, start, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault,
};
