// SPDX-License-Identifier: Apache-2.0

// For SOCK_CLOEXEC and the like.
#define _GNU_SOURCE

#include "CTiming.h"

#include <errno.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// MARK: chronyd

struct sock_message {
  struct timeval system;
  double offset;
  int is_pulse;
  int leap;
  int padding;
  int magic;
};

size_t ctiming_sock_message(const struct ctiming_sample *sample, uint8_t *bytes, size_t capacity) {
  struct sock_message message;
  if (capacity < sizeof message) return 0;
  memset(&message, 0, sizeof message);
  message.system.tv_sec = sample->system.seconds;
  message.system.tv_usec = sample->system.nanoseconds / 1000;
  // The stamp has microseconds. The remainder is part of the offset, so that their sum is the receiver's time.
  message.offset = sample->offset + (sample->system.nanoseconds % 1000) * 1e-9;
  message.leap = sample->leap;
  // "SOCK".
  message.magic = 0x534f434b;
  memcpy(bytes, &message, sizeof message);
  return sizeof message;
}

int ctiming_connect(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
  strcpy(address.sun_path, path);
  int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return -errno;
  if (connect(socket_, (struct sockaddr *)&address, sizeof address) == 0) return socket_;
  int error = errno;
  close(socket_);
  return -error;
}

int ctiming_send(int socket, const uint8_t *bytes, size_t count) {
  return send(socket, bytes, count, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

// MARK: ntpd

struct segment {
  int mode;
  volatile int count;
  time_t clock_seconds;
  int clock_microseconds;
  time_t receive_seconds;
  int receive_microseconds;
  int leap;
  int precision;
  int samples;
  volatile int valid;
  unsigned clock_nanoseconds;
  unsigned receive_nanoseconds;
  int unused[8];
};

int ctiming_attach(int unit, int permissions, void **segment) {
  // "NTP0".
  int identifier = shmget(0x4e545030 + unit, sizeof(struct segment), IPC_CREAT | permissions);
  if (identifier < 0) return -errno;
  *segment = shmat(identifier, NULL, 0);
  return *segment == (void *)-1 ? -errno : identifier;
}

void ctiming_put(void *place, const struct ctiming_sample *sample) {
  struct segment *segment = place;
  segment->valid = 0;
  segment->count += 1;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  segment->mode = 1;
  segment->clock_seconds = (time_t)sample->real.seconds;
  segment->clock_microseconds = sample->real.nanoseconds / 1000;
  segment->clock_nanoseconds = (unsigned)sample->real.nanoseconds;
  segment->receive_seconds = (time_t)sample->system.seconds;
  segment->receive_microseconds = sample->system.nanoseconds / 1000;
  segment->receive_nanoseconds = (unsigned)sample->system.nanoseconds;
  segment->leap = sample->leap;
  segment->precision = sample->precision;
  segment->samples = 0;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  segment->count += 1;
  segment->valid = 1;
}

int ctiming_attached(int identifier) {
  struct shmid_ds state;
  return shmctl(identifier, IPC_STAT, &state) < 0 ? -errno : (int)state.shm_nattch;
}

void ctiming_detach(void *segment) { shmdt(segment); }
