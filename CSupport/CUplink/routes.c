// SPDX-License-Identifier: Apache-2.0
#include "CUplink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int cuplink_open_routes(void) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -errno;
  struct sockaddr_nl name = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
  if (bind(descriptor, (struct sockaddr *)&name, sizeof name) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  return -error;
}

void cuplink_drain_routes(int descriptor) {
  char bytes[8192];
  // ENOBUFS: messages were lost, which also means that routes changed.
  while (recv(descriptor, bytes, sizeof bytes, 0) > 0 || errno == EINTR || errno == ENOBUFS) {}
}

// A line of the file whose last word is an interface other than loopback: the column of the name differs.
static int has_route_of(const char *path, int name_is_first, int skips_heading) {
  FILE *file = fopen(path, "re");
  // Without /proc the connection attempt shows whether there is a route.
  if (!file) return 1;
  char line[512];
  int found = 0;
  if (skips_heading && !fgets(line, sizeof line, file)) line[0] = 0;
  while (!found && fgets(line, sizeof line, file)) {
    char first[64] = "", last[64] = "";
    char *space = strrchr(line, ' ');
    sscanf(line, "%63s", first);
    if (space) sscanf(space, "%63s", last);
    const char *name = name_is_first ? first : last;
    found = name[0] && strcmp(name, "lo") != 0;
  }
  fclose(file);
  return found;
}

int cuplink_has_route(void) {
  return has_route_of("/proc/net/route", 1, 1) || has_route_of("/proc/net/ipv6_route", 0, 0);
}
