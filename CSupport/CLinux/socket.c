// SPDX-License-Identifier: Apache-2.0

// For accept4(2) and struct ucred.
#define _GNU_SOURCE

#include <errno.h>
#include <sys/socket.h>

#include "CLinux.h"

int clinux_accept(int descriptor) {
  int accepted = accept4(descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  return accepted < 0 ? -errno : accepted;
}

int clinux_get_peer(int descriptor, struct clinux_peer *peer) {
  struct ucred credentials;
  socklen_t size = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -errno;
  *peer = (struct clinux_peer){(int32_t)credentials.pid, credentials.uid, credentials.gid};
  return 0;
}
