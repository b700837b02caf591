#include "CGPIO.h"

#include <errno.h>
#include <linux/gpio.h>
#include <string.h>
#include <sys/ioctl.h>

int cgpio_line_count(int chip) {
  struct gpiochip_info info;
  memset(&info, 0, sizeof info);
  if (ioctl(chip, GPIO_GET_CHIPINFO_IOCTL, &info) < 0) return -errno;
  return (int)info.lines;
}

int cgpio_is_named(int chip, uint32_t offset, const char *name) {
  struct gpio_v2_line_info info;
  memset(&info, 0, sizeof info);
  info.offset = offset;
  if (ioctl(chip, GPIO_V2_GET_LINEINFO_IOCTL, &info) < 0) return -errno;
  return strncmp(info.name, name, sizeof info.name) == 0;
}

int cgpio_open_output(int chip, uint32_t offset, int is_active_low, int is_active, const char *consumer) {
  struct gpio_v2_line_request request;
  memset(&request, 0, sizeof request);
  request.offsets[0] = offset;
  request.num_lines = 1;
  strncpy(request.consumer, consumer, sizeof request.consumer - 1);
  request.config.flags = GPIO_V2_LINE_FLAG_OUTPUT | (is_active_low ? GPIO_V2_LINE_FLAG_ACTIVE_LOW : 0);
  request.config.num_attrs = 1;
  request.config.attrs[0].mask = 1;
  request.config.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES;
  request.config.attrs[0].attr.values = is_active ? 1 : 0;
  if (ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &request) < 0) return -errno;
  return request.fd;
}

int cgpio_set(int line, int is_active) {
  struct gpio_v2_line_values values = {.bits = is_active ? 1 : 0, .mask = 1};
  return ioctl(line, GPIO_V2_LINE_SET_VALUES_IOCTL, &values) < 0 ? -errno : 0;
}
