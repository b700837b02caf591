// SPDX-License-Identifier: Apache-2.0

// For accept4(2) and struct ucred.
#define _GNU_SOURCE

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

int clinux_get_peer_process(int descriptor) {
  // Since Linux 6.5; older headers lack the number, which is the generic one.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
  int process = -1;
  socklen_t size = sizeof process;
  // The kernel opens it with O_CLOEXEC.
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &process, &size) != 0 ? -errno : process;
}

// Reads the reply of sock_diag(7): one message with the attributes of the socket, or an error.
static int64_t peer_inode_of_reply(const char *bytes, size_t count) {
  const struct nlmsghdr *header = (const struct nlmsghdr *)bytes;
  if (count < sizeof *header || header->nlmsg_len > count) return -EBADMSG;
  if (header->nlmsg_type == NLMSG_ERROR) {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr))) return -EBADMSG;
    int error = ((const struct nlmsgerr *)NLMSG_DATA(header))->error;
    return error < 0 ? error : -EBADMSG;
  }
  size_t start = NLMSG_LENGTH(sizeof(struct unix_diag_msg));
  while (start + sizeof(struct nlattr) <= header->nlmsg_len) {
    const struct nlattr *attribute = (const struct nlattr *)(bytes + start);
    if (attribute->nla_len < sizeof *attribute || start + attribute->nla_len > header->nlmsg_len) break;
    if (attribute->nla_type == UNIX_DIAG_PEER && attribute->nla_len >= sizeof *attribute + sizeof(uint32_t)) {
      uint32_t inode;
      memcpy(&inode, bytes + start + sizeof *attribute, sizeof inode);
      return inode;
    }
    start += NLA_ALIGN(attribute->nla_len);
  }
  return 0;
}

int64_t clinux_peer_inode(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return -errno;
  int diagnostics = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (diagnostics < 0) return -errno;
  struct {
    struct nlmsghdr header;
    struct unix_diag_req request;
  } message = {
      .header = {.nlmsg_len = sizeof message, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
      .request = {.sdiag_family = AF_UNIX,
                  .udiag_states = ~0u,
                  .udiag_ino = (uint32_t)status.st_ino,
                  .udiag_show = UDIAG_SHOW_PEER,
                  .udiag_cookie = {~0u, ~0u}},
  };
  // The kernel replies within the call that sends the request.
  union {
    struct nlmsghdr header;
    char bytes[1024];
  } reply;
  int64_t result = -EIO;
  if (send(diagnostics, &message, sizeof message, 0) == (ssize_t)sizeof message) {
    ssize_t count = recv(diagnostics, &reply, sizeof reply, MSG_DONTWAIT);
    result = count < 0 ? -errno : peer_inode_of_reply(reply.bytes, (size_t)count);
  } else {
    result = -errno;
  }
  close(diagnostics);
  return result;
}

// Space for more descriptors than this library ever sends, so that every descriptor that a peer sends is closed here.
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
