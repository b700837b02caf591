#include "CI2C.h"

#include <errno.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/ioctl.h>

int ci2c_does_transfers(int descriptor) {
  unsigned long functions = 0;
  if (ioctl(descriptor, I2C_FUNCS, &functions) < 0) return -errno;
  return (functions & I2C_FUNC_I2C) != 0;
}

int ci2c_transfer(
    int descriptor, uint16_t address, const uint8_t *out, uint16_t out_count, uint8_t *in, uint16_t in_count) {
  struct i2c_msg messages[2];
  uint32_t count = 0;
  if (out_count > 0) {
    // The kernel does not write to the buffer of a message that is sent.
    messages[count++] = (struct i2c_msg){.addr = address, .len = out_count, .buf = (uint8_t *)out};
  }
  if (in_count > 0) {
    messages[count++] = (struct i2c_msg){.addr = address, .flags = I2C_M_RD, .len = in_count, .buf = in};
  }
  struct i2c_rdwr_ioctl_data transfer = {.msgs = messages, .nmsgs = count};
  return ioctl(descriptor, I2C_RDWR, &transfer) < 0 ? -errno : 0;
}
