// The requests of <linux/gpio.h> (character device, version 2) that Swift cannot import: variadic ioctl(2) and structures
// of nested arrays. Each function returns 0 (or the value it names) on success and the negative errno on failure; none of
// them retries, keeps state or allocates.
#ifndef SEXTANT_CGPIO_H
#define SEXTANT_CGPIO_H

#include <stdint.h>

/// GPIO_GET_CHIPINFO_IOCTL: the number of lines of a chip.
int cgpio_line_count(int chip);
/// GPIO_V2_GET_LINEINFO_IOCTL: 1 if the line's name is `name`.
int cgpio_is_named(int chip, uint32_t offset, const char *name);
/// GPIO_V2_GET_LINE_IOCTL: the descriptor of the line, as an output that is active, from now on until it is closed.
int cgpio_open_output(int chip, uint32_t offset, int is_active_low, int is_active, const char *consumer);
/// GPIO_V2_LINE_SET_VALUES_IOCTL.
int cgpio_set(int line, int is_active);

#endif
