// SPDX-License-Identifier: Apache-2.0

// For accept4(2) and struct ucred.
#define _GNU_SOURCE

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

int clinux_get_peer_groups(int descriptor, uint32_t *groups, int capacity) {
  // Since Linux 4.13; older headers lack the number, which is the generic one.
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
  socklen_t size = (socklen_t)capacity * sizeof *groups;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) return -errno;
  return (int)(size / sizeof *groups);
}

// Space for more descriptors than this library ever sends, so that all that a peer sends are closed here.
union control {
  struct cmsghdr header;
  char space[CMSG_SPACE(16 * sizeof(int))];
};

int clinux_send_descriptor(int socket, const void *bytes, size_t count, int passed) {
  union control control;
  memset(&control, 0, sizeof control);
  struct iovec part = {(void *)bytes, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                           .msg_controllen = CMSG_SPACE(sizeof passed)};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof passed);
  memcpy(CMSG_DATA(header), &passed, sizeof passed);
  ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  return sent < 0 ? -errno : (int)sent;
}

int clinux_receive_descriptor(int socket, void *bytes, size_t count, int *passed) {
  union control control;
  struct iovec part = {bytes, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  *passed = -1;
  ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (received < 0) return -errno;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < number; index++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + index * sizeof descriptor, sizeof descriptor);
      if (*passed < 0) {
        *passed = descriptor;
      } else {
        close(descriptor);
      }
    }
  }
  return (int)received;
}
