// The requests of <linux/i2c-dev.h> that Swift cannot import: variadic ioctl(2) and arrays of messages with pointers.
// Each function returns 0 (or the value it names) on success and the negative errno on failure; none of them retries,
// keeps state or allocates.
#ifndef SEXTANT_CI2C_H
#define SEXTANT_CI2C_H

#include <stddef.h>
#include <stdint.h>

/// I2C_FUNCS: 1 if the adapter does plain transfers (I2C_FUNC_I2C), 0 if it speaks SMBus alone.
int ci2c_does_transfers(int descriptor);
/// I2C_RDWR: one transfer that writes `out_count` bytes and, behind a repeated start, reads `in_count` bytes. Either may
/// be 0, not both.
int ci2c_transfer(
    int descriptor, uint16_t address, const uint8_t *out, uint16_t out_count, uint8_t *in, uint16_t in_count);

#endif
