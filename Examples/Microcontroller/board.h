// SPDX-License-Identifier: Apache-2.0

#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>

/// Ends the program.
_Noreturn void board_exit(int isFailure);
/// The bytes of stack that were used since the start, at most.
unsigned board_stack_bytes(void);
/// The bytes of variables.
unsigned board_variable_bytes(void);

#endif
