// SPDX-License-Identifier: Apache-2.0

// bridge.c - a USB bridge to I2C and GPIO (Silicon Labs CP2112, after its interface specification, AN495) that is a program:
// the kernel's own driver finds it through /dev/uhid. Behind it are a u-blox receiver at 0x42, whose stream is a terminal's,
// and a Bosch accelerometer at 0x18 (BMA255, after its data sheet), whose interrupt is GPIO line 0.
// usage: bridge TERMINAL      commands, a line each: shake; unplug. Prints the changes of the GPIO lines.
#include <errno.h>
#include <fcntl.h>
#include <linux/uhid.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { receiver_address = 0x42, sensor_address = 0x18, longest_stream = 8192 };

static int uhid, terminal;

// The receiver's registers (u-blox's "DDC": 0xFD and 0xFE are the number of waiting bytes, 0xFF is the stream, or 0xFF if it is empty).
static uint8_t stream[longest_stream];
static int stream_count, receiver_register = 0xFF;
static time_t last_read;

static time_t seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static uint8_t read_receiver(void) {
  last_read = seconds();
  if (receiver_register == 0xFD) return receiver_register++, stream_count >> 8;
  if (receiver_register == 0xFE) return receiver_register++, stream_count & 0xFF;
  if (stream_count == 0) return 0xFF;
  uint8_t byte = stream[0];
  memmove(stream, stream + 1, --stream_count);
  return byte;
}

static void write_receiver(const uint8_t *bytes, int count) {
  if (count == 1) receiver_register = bytes[0];
  if (count > 1 && write(terminal, bytes, count) != count) perror("bridge: terminal");
}

// A receiver that is not read for 1.5 s stops writing until it is read again.
static void fill_stream(void) {
  if (seconds() > last_read + 1) stream_count = 0;
  uint8_t more[longest_stream];
  ssize_t count = read(terminal, more, longest_stream - stream_count);
  if (count <= 0) return;
  memcpy(stream + stream_count, more, count);
  stream_count += count;
}

// The accelerometer lies on its back: 1 g upwards, 12 bits at 2 g in the upper bits of each pair of bytes.
static uint8_t sensor[256];
static int sensor_register, is_interrupting;

static void set_axis(int axis, int counts) {
  sensor[2 + 2 * axis] = (counts << 4) & 0xF0;
  sensor[3 + 2 * axis] = counts >> 4;
}

static void reset_sensor(void) {
  memset(sensor, 0, sizeof sensor);
  sensor[0x00] = 0xFA;
  sensor[0x0F] = 0x03;
  sensor[0x10] = 0x0F;
  sensor[0x28] = 0x14;
  set_axis(2, 1024);
}

static void write_sensor(const uint8_t *bytes, int count) {
  sensor_register = bytes[0];
  for (int i = 1; i < count; i++) {
    uint8_t at = sensor_register++, value = bytes[i];
    if (at == 0x14 && value == 0xB6) reset_sensor();
    else if (at >= 0x0F) sensor[at] = value;
    // The interrupt is latched until it is reset.
    if (at == 0x21 && value & 0x80) is_interrupting = 0;
  }
}

// A knock along x; it raises the interrupt if the slope interrupt is enabled.
static void shake(void) {
  set_axis(0, 600);
  sensor[0x0B] = 0x01;
  if (sensor[0x16] & 0x07) is_interrupting = 1;
  printf("shaken interrupt=%d threshold=%d\n", is_interrupting, sensor[0x28]);
}

// The bridge itself.
static uint8_t gpio_outputs, gpio_levels, pending[512];
static int pending_count, pending_at, last_status;

static void send_input(const uint8_t *report, int count) {
  struct uhid_event event = {.type = UHID_INPUT2};
  event.u.input2.size = count;
  memcpy(event.u.input2.data, report, count);
  if (write(uhid, &event, sizeof event) < 0) perror("bridge: uhid");
}

// Returns whether a device is at the address; reads `count` bytes from it.
static int read_device(int address, int count) {
  if (address != receiver_address && address != sensor_address) return 0;
  for (int i = 0; i < count; i++)
    pending[i] = address == receiver_address ? read_receiver() : sensor[sensor_register++ & 0xFF];
  pending_count = count;
  pending_at = 0;
  return 1;
}

static int write_device(int address, const uint8_t *bytes, int count) {
  if (count == 0) return address == receiver_address || address == sensor_address;
  if (address == receiver_address) write_receiver(bytes, count);
  else if (address == sensor_address) write_sensor(bytes, count);
  else return 0;
  return 1;
}

static void take_output(const uint8_t *report) {
  int address = report[1] >> 1, count = report[2] << 8 | report[3];
  if (count > (int)sizeof pending) count = sizeof pending;
  switch (report[0]) {
  case 0x10: last_status = read_device(address, count); break;
  case 0x11:
    last_status = write_device(address, report + 5, report[4] & 0x1F) && read_device(address, count);
    break;
  case 0x12: {
    uint8_t reply[64] = {0x13, 2};
    int rest = pending_count - pending_at;
    reply[2] = rest < 61 ? rest : 61;
    memcpy(reply + 3, pending + pending_at, reply[2]);
    pending_at += reply[2];
    send_input(reply, sizeof reply);
    break;
  }
  case 0x14: pending_count = 0; last_status = write_device(address, report + 3, report[2]); break;
  case 0x15: {
    // Complete, or an error: the address was not acknowledged.
    uint8_t reply[7] = {0x16, last_status ? 2 : 3, 0, 0, 0, pending_count >> 8, pending_count & 0xFF};
    send_input(reply, sizeof reply);
    break;
  }
  }
}

static int get_feature(int number, uint8_t *data) {
  switch (number) {
  case 0x02: memcpy(data, (uint8_t[]){2, gpio_outputs, 0, 0, 0}, 5); return 5;
  case 0x03: memcpy(data, (uint8_t[]){3, (gpio_levels & gpio_outputs & ~1) | is_interrupting}, 2); return 2;
  case 0x05: memcpy(data, (uint8_t[]){5, 0x0C, 2}, 3); return 3;
  case 0x06: memset(data, 0, 14); data[0] = 6; return 14;
  default: memset(data, 0, 62); data[0] = number; return 62;
  }
}

static void set_feature(const uint8_t *data) {
  uint8_t before = gpio_levels & gpio_outputs;
  if (data[0] == 0x02) gpio_outputs = data[1];
  if (data[0] == 0x04) gpio_levels = (gpio_levels & ~data[2]) | (data[1] & data[2]);
  uint8_t changed = before ^ (gpio_levels & gpio_outputs);
  for (int line = 0; line < 8; line++)
    if (changed >> line & 1) printf("line %d %d\n", line, !(before >> line & 1));
}

static void reply_to_kernel(void) {
  struct uhid_event event, reply;
  if (read(uhid, &event, sizeof event) <= 0) return;
  memset(&reply, 0, sizeof reply);
  switch (event.type) {
  case UHID_OUTPUT: take_output(event.u.output.data); return;
  case UHID_GET_REPORT:
    reply.type = UHID_GET_REPORT_REPLY;
    reply.u.get_report_reply.id = event.u.get_report.id;
    reply.u.get_report_reply.size = get_feature(event.u.get_report.rnum, reply.u.get_report_reply.data);
    break;
  case UHID_SET_REPORT:
    set_feature(event.u.set_report.data);
    reply.type = UHID_SET_REPORT_REPLY;
    reply.u.set_report_reply.id = event.u.set_report.id;
    break;
  default: return;
  }
  if (write(uhid, &reply, sizeof reply) < 0) perror("bridge: uhid");
}

// Reports of bytes, by number: the driver does not check their meaning.
static int describe(uint8_t *to) {
  static const struct { uint8_t number, kind, size; } reports[] = {
    {0x02, 0xB1, 4}, {0x03, 0xB1, 1}, {0x04, 0xB1, 2}, {0x05, 0xB1, 2}, {0x06, 0xB1, 13}, {0x10, 0x91, 3},
    {0x11, 0x91, 20}, {0x12, 0x91, 2}, {0x13, 0x81, 63}, {0x14, 0x91, 63}, {0x15, 0x91, 1}, {0x16, 0x81, 6},
    {0x20, 0xB1, 61}, {0x21, 0xB1, 9}, {0x22, 0xB1, 61}, {0x23, 0xB1, 61}, {0x24, 0xB1, 61}, {0x25, 0xB1, 61},
  };
  static const uint8_t head[] = {0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08};
  int count = sizeof head;
  memcpy(to, head, count);
  for (unsigned i = 0; i < sizeof reports / sizeof *reports; i++) {
    uint8_t item[] = {0x85, reports[i].number, 0x95, reports[i].size, 0x09, 0x01, reports[i].kind, 0x02};
    memcpy(to + count, item, sizeof item);
    count += sizeof item;
  }
  to[count++] = 0xC0;
  return count;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc != 2) return fprintf(stderr, "usage: bridge TERMINAL\n"), 64;
  reset_sensor();
  terminal = open(argv[1], O_RDWR | O_NOCTTY | O_NONBLOCK);
  uhid = open("/dev/uhid", O_RDWR);
  if (terminal < 0 || uhid < 0) return perror("bridge"), 69;
  struct uhid_event create = {.type = UHID_CREATE2};
  strcpy((char *)create.u.create2.name, "CP2112 HID USB-to-SMBus bridge");
  create.u.create2.bus = 3;
  create.u.create2.vendor = 0x10C4;
  create.u.create2.product = 0xEA90;
  create.u.create2.rd_size = describe(create.u.create2.rd_data);
  if (write(uhid, &create, sizeof create) < 0) return perror("bridge: uhid"), 69;

  struct pollfd files[] = {{.fd = uhid, .events = POLLIN}, {.fd = terminal}, {.fd = 0, .events = POLLIN}};
  for (;;) {
    files[1].events = stream_count < longest_stream ? POLLIN : 0;
    if (poll(files, 3, -1) < 0) return perror("bridge"), 74;
    if (files[0].revents) reply_to_kernel();
    if (files[1].revents & POLLIN) fill_stream();
    if (files[1].revents & POLLHUP) return 0;
    if (files[2].revents) {
      char command[32];
      ssize_t count = read(0, command, sizeof command - 1);
      if (count <= 0 || strncmp(command, "unplug", 6) == 0) return 0;
      if (strncmp(command, "shake", 5) == 0) shake();
    }
  }
}
