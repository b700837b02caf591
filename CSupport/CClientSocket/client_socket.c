// SPDX-License-Identifier: Apache-2.0

// For SOCK_CLOEXEC and MSG_NOSIGNAL.
#define _GNU_SOURCE

#include "client_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sextant.h"

int32_t client_socket_connect(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(path);
  if (length == 0 || length >= sizeof address.sun_path) return -SEXTANT_CLIENT_INVALID_ARGUMENT;
  memcpy(address.sun_path, path, length);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -SEXTANT_CLIENT_SYSTEM_ERROR;
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  client_socket_close(descriptor);
  return errno == ENOENT || errno == ECONNREFUSED ? -SEXTANT_CLIENT_NO_SERVICE : -SEXTANT_CLIENT_SYSTEM_ERROR;
}

int32_t client_socket_send(int32_t descriptor, const void *bytes, size_t count) {
  ssize_t sent = send(descriptor, bytes, count, MSG_NOSIGNAL);
  if (sent == (ssize_t)count) return 0;
  if (sent >= 0) errno = EAGAIN;
  return errno == EPIPE || errno == ECONNRESET ? -SEXTANT_CLIENT_DISCONNECTED : -SEXTANT_CLIENT_SYSTEM_ERROR;
}

ptrdiff_t client_socket_receive(int32_t descriptor, void *bytes, size_t capacity) {
  ssize_t received = recv(descriptor, bytes, capacity, 0);
  if (received > 0) return received;
  if (received == 0 || errno == ECONNRESET) return -SEXTANT_CLIENT_DISCONNECTED;
  return errno == EAGAIN || errno == EINTR ? 0 : -SEXTANT_CLIENT_SYSTEM_ERROR;
}

void client_socket_close(int32_t descriptor) {
  int reason = errno;
  close(descriptor);
  errno = reason;
}
