// SPDX-License-Identifier: Apache-2.0

// For O_PATH and ptsname_r(3).
#define _GNU_SOURCE

#include "CLinux.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <linux/ioctl.h>
#include <linux/serial.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// <sys/ioctl.h> would bring in <bits/ioctl-types.h>, which clashes with <asm/termbits.h> on some architectures.
extern int ioctl(int descriptor, unsigned long request, ...);

static int result(int returned) { return returned < 0 ? -errno : returned; }

// MARK: Files

const int clinux_o_path = O_PATH;
const int clinux_at_empty_path = AT_EMPTY_PATH;

// MARK: Serial lines and pseudo-terminals

_Static_assert(sizeof(struct termios2) <= sizeof(struct cserial_settings), "termios2 does not fit");

static struct termios2 opened(const struct cserial_settings *settings) {
  struct termios2 inner;
  memcpy(&inner, settings, sizeof inner);
  return inner;
}

static void store(struct cserial_settings *settings, struct termios2 inner) { memcpy(settings, &inner, sizeof inner); }

int cserial_get_settings(int descriptor, struct cserial_settings *settings) {
  struct termios2 inner;
  int returned = ioctl(descriptor, TCGETS2, &inner);
  if (returned == 0) store(settings, inner);
  return result(returned);
}

int cserial_set_settings(int descriptor, const struct cserial_settings *settings) {
  struct termios2 inner = opened(settings);
  return result(ioctl(descriptor, TCSETS2, &inner));
}

void cserial_make_raw(struct cserial_settings *settings) {
  struct termios2 inner = opened(settings);
  inner.c_iflag &= ~(IGNBRK | BRKINT | IGNPAR | PARMRK | INPCK | ISTRIP | INLCR | IGNCR | ICRNL | IXON | IXOFF | IXANY);
  inner.c_oflag &= ~OPOST;
  inner.c_lflag &= ~(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
  inner.c_cflag &= ~(CSIZE | PARENB | CSTOPB | CRTSCTS | HUPCL);
  inner.c_cflag |= CS8 | CLOCAL | CREAD;
  inner.c_cc[VMIN] = 1;
  inner.c_cc[VTIME] = 0;
  store(settings, inner);
}

// The rates that have a constant, from <asm/termbits.h>.
static tcflag_t constant_of_rate(uint32_t rate) {
  switch (rate) {
    case 1200: return B1200;
    case 2400: return B2400;
    case 4800: return B4800;
    case 9600: return B9600;
    case 19200: return B19200;
    case 38400: return B38400;
    case 57600: return B57600;
    case 115200: return B115200;
    case 230400: return B230400;
    case 460800: return B460800;
    case 500000: return B500000;
    case 576000: return B576000;
    case 921600: return B921600;
    case 1000000: return B1000000;
    case 1152000: return B1152000;
    case 1500000: return B1500000;
    case 2000000: return B2000000;
    case 2500000: return B2500000;
    case 3000000: return B3000000;
    case 3500000: return B3500000;
    case 4000000: return B4000000;
    default: return BOTHER;
  }
}

void cserial_set_rate(struct cserial_settings *settings, uint32_t rate) {
  struct termios2 inner = opened(settings);
  // An input rate of 0 in c_cflag means "as the output rate".
  inner.c_cflag &= ~(CBAUD | (CBAUD << IBSHIFT));
  inner.c_cflag |= constant_of_rate(rate);
  inner.c_ispeed = rate;
  inner.c_ospeed = rate;
  store(settings, inner);
}

uint32_t cserial_rate(const struct cserial_settings *settings) { return opened(settings).c_ospeed; }

void cserial_set_character(struct cserial_settings *settings, struct cserial_form character) {
  struct termios2 inner = opened(settings);
  inner.c_cflag &= ~(CSIZE | PARENB | PARODD | CMSPAR | CSTOPB);
  switch (character.bits) {
    case 5: inner.c_cflag |= CS5; break;
    case 6: inner.c_cflag |= CS6; break;
    case 7: inner.c_cflag |= CS7; break;
    default: inner.c_cflag |= CS8;
  }
  switch (character.parity) {
    case CSERIAL_ODD: inner.c_cflag |= PARENB | PARODD; break;
    case CSERIAL_EVEN: inner.c_cflag |= PARENB; break;
    case CSERIAL_MARK: inner.c_cflag |= PARENB | PARODD | CMSPAR; break;
    case CSERIAL_SPACE: inner.c_cflag |= PARENB | CMSPAR; break;
    default: break;
  }
  if (character.two_stop_bits) inner.c_cflag |= CSTOPB;
  store(settings, inner);
}

struct cserial_form cserial_character(const struct cserial_settings *settings) {
  tcflag_t flags = opened(settings).c_cflag;
  uint8_t parity = CSERIAL_NO_PARITY;
  if (flags & PARENB) {
    bool is_sticky = flags & CMSPAR;
    parity = flags & PARODD ? (is_sticky ? CSERIAL_MARK : CSERIAL_ODD) : (is_sticky ? CSERIAL_SPACE : CSERIAL_EVEN);
  }
  tcflag_t size = flags & CSIZE;
  return (struct cserial_form){
      .bits = size == CS5 ? 5 : size == CS6 ? 6 : size == CS7 ? 7 : 8,
      .parity = parity,
      .two_stop_bits = (flags & CSTOPB) != 0,
  };
}

void cserial_set_read_threshold(struct cserial_settings *settings, uint8_t minimum, uint8_t deciseconds) {
  struct termios2 inner = opened(settings);
  inner.c_cc[VMIN] = minimum;
  inner.c_cc[VTIME] = deciseconds;
  store(settings, inner);
}

bool cserial_same_settings(const struct cserial_settings *one, const struct cserial_settings *other) {
  return memcmp(one, other, sizeof(struct termios2)) == 0;
}

int cserial_set_exclusive(int descriptor, bool exclusive) {
  return result(ioctl(descriptor, exclusive ? TIOCEXCL : TIOCNXCL));
}

int cserial_is_exclusive(int descriptor) {
  int exclusive = 0;
  int returned = ioctl(descriptor, TIOCGEXCL, &exclusive);
  return returned < 0 ? -errno : exclusive != 0;
}

int cserial_line_counters(int descriptor, struct cserial_counters *counters) {
  struct serial_icounter_struct found;
  memset(&found, 0, sizeof found);
  int returned = ioctl(descriptor, TIOCGICOUNT, &found);
  if (returned < 0) return -errno;
  *counters = (struct cserial_counters){
      .framing = found.frame,
      .parity = found.parity,
      .overrun = found.overrun,
      .buffer_overrun = found.buf_overrun,
      .breaks = found.brk,
  };
  return 0;
}

int cserial_low_latency(int descriptor) {
  struct serial_struct found;
  int returned = ioctl(descriptor, TIOCGSERIAL, &found);
  return returned < 0 ? -errno : (found.flags & ASYNC_LOW_LATENCY) != 0;
}

int cserial_set_low_latency(int descriptor, bool low_latency) {
  struct serial_struct found;
  if (ioctl(descriptor, TIOCGSERIAL, &found) < 0) return -errno;
  found.flags = low_latency ? found.flags | ASYNC_LOW_LATENCY : found.flags & ~ASYNC_LOW_LATENCY;
  return result(ioctl(descriptor, TIOCSSERIAL, &found));
}

int cserial_modem_lines(int descriptor, uint32_t *lines) {
  int bits = 0;
  int returned = ioctl(descriptor, TIOCMGET, &bits);
  if (returned == 0) *lines = (uint32_t)bits;
  return result(returned);
}

int cserial_switch_modem_lines(int descriptor, uint32_t lines, bool on) {
  int bits = (int)lines;
  return result(ioctl(descriptor, on ? TIOCMBIS : TIOCMBIC, &bits));
}

int cserial_send_break(int descriptor) { return result(ioctl(descriptor, TCSBRK, 0)); }

int cserial_drain(int descriptor) { return result(ioctl(descriptor, TCSBRK, 1)); }

int cserial_discard_input(int descriptor) { return result(ioctl(descriptor, TCFLSH, TCIFLUSH)); }

int cserial_unsent(int descriptor) {
  int bytes = 0;
  int returned = ioctl(descriptor, TIOCOUTQ, &bytes);
  return returned < 0 ? -errno : bytes;
}

int cserial_open_pty(void) {
  // Linux opens /dev/ptmx with all of these flags (posix_openpt(3) documents only the first two).
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (master < 0) return -errno;
  if (grantpt(master) == 0 && unlockpt(master) == 0) return master;
  int code = errno;
  close(master);
  return -code;
}

int cserial_pty_slave_path(int master, char *path, size_t size) { return -ptsname_r(master, path, size); }

// MARK: I2C

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
    // The kernel does not write to the buffer of an outgoing message.
    messages[count++] = (struct i2c_msg){.addr = address, .len = out_count, .buf = (uint8_t *)out};
  }
  if (in_count > 0) {
    messages[count++] = (struct i2c_msg){.addr = address, .flags = I2C_M_RD, .len = in_count, .buf = in};
  }
  struct i2c_rdwr_ioctl_data transfer = {.msgs = messages, .nmsgs = count};
  return ioctl(descriptor, I2C_RDWR, &transfer) < 0 ? -errno : 0;
}

// MARK: GPIO

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

// MARK: Sensors

// As <linux/iio/events.h> has it, which Debian's kernel headers for user space may lack.
#define EVENT_DESCRIPTOR _IOR('i', 0x90, int)

int ciio_open_events(int device) {
  int descriptor = -1;
  if (ioctl(device, EVENT_DESCRIPTOR, &descriptor) < 0) return -errno;
  if (fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0 || fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0) return -errno;
  return descriptor;
}
