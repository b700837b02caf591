// SPDX-License-Identifier: Apache-2.0

// The user of the other end of a TCP connection, from sock_diag(7): one request for one socket, independent of the
// number of sockets.
#define _GNU_SOURCE

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CLinux.h"

// Writes the address of an end, four bytes of IPv4 or sixteen of IPv6, and returns its port; 0 for another family.
static uint16_t end_of(const struct sockaddr_storage *address, uint8_t family, void *bytes) {
  if (address->ss_family == AF_INET) {
    const struct sockaddr_in *end = (const struct sockaddr_in *)address;
    memcpy(bytes, &end->sin_addr, 4);
    return end->sin_port;
  }
  if (address->ss_family != AF_INET6) return 0;
  const struct sockaddr_in6 *end = (const struct sockaddr_in6 *)address;
  if (family == AF_INET) memcpy(bytes, end->sin6_addr.s6_addr + 12, 4);
  else memcpy(bytes, end->sin6_addr.s6_addr, 16);
  return end->sin6_port;
}

int64_t clinux_tcp_user(int descriptor) {
  struct sockaddr_storage own, other;
  socklen_t own_size = sizeof own, other_size = sizeof other;
  if (getsockname(descriptor, (struct sockaddr *)&own, &own_size) != 0) return -errno;
  if (getpeername(descriptor, (struct sockaddr *)&other, &other_size) != 0) return -errno;
  // An IPv4 client of a dual-stack socket has an IPv4 socket.
  int is_mapped = own.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&((struct sockaddr_in6 *)&own)->sin6_addr);
  struct {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
  } message = {
      .header = {.nlmsg_len = sizeof message, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
      .request = {.sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0u},
  };
  message.request.sdiag_family = is_mapped ? AF_INET : (uint8_t)own.ss_family;
  // The other end's local address is this end's remote address.
  struct inet_diag_sockid *id = &message.request.id;
  id->idiag_sport = end_of(&other, message.request.sdiag_family, id->idiag_src);
  id->idiag_dport = end_of(&own, message.request.sdiag_family, id->idiag_dst);
  id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (id->idiag_sport == 0 || id->idiag_dport == 0) return -EAFNOSUPPORT;

  int diagnostics = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (diagnostics < 0) return -errno;
  int64_t result = -EBADMSG;
  union {
    struct nlmsghdr header;
    char bytes[1024];
  } reply;
  if (send(diagnostics, &message, sizeof message, 0) < 0) {
    result = -errno;
  } else {
    ssize_t count = recv(diagnostics, &reply, sizeof reply, 0);
    if (count < 0) {
      result = -errno;
    } else if ((size_t)count >= sizeof reply.header && reply.header.nlmsg_len <= (size_t)count) {
      if (reply.header.nlmsg_type == NLMSG_ERROR && reply.header.nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        int error = ((struct nlmsgerr *)NLMSG_DATA(&reply.header))->error;
        result = error < 0 ? error : -EBADMSG;
      } else if (reply.header.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
                 reply.header.nlmsg_len >= NLMSG_LENGTH(sizeof(struct inet_diag_msg))) {
        const struct inet_diag_msg *found = NLMSG_DATA(&reply.header);
        size_t size = message.request.sdiag_family == AF_INET ? 4 : 16;
        // Without such a connection the kernel returns the socket that listens at the port.
        int is_same = found->id.idiag_sport == id->idiag_sport && found->id.idiag_dport == id->idiag_dport &&
                      memcmp(found->id.idiag_src, id->idiag_src, size) == 0 &&
                      memcmp(found->id.idiag_dst, id->idiag_dst, size) == 0;
        // A socket that its process has closed has no inode, and user 0; one that is only shut down for writing keeps both.
        result = !is_same || found->idiag_inode == 0 ? -ENOTCONN : (int64_t)found->idiag_uid;
      }
    }
  }
  close(diagnostics);
  return result;
}
