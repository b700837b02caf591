// SPDX-License-Identifier: Apache-2.0

// The minimal program between a line and its client: it waits in read(), and writes a line for each piece. Its latency is
// the share of the kernel and the harness in every latency that compare_latency.py prints.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static const char line[] = "{\"class\":\"TPV\"}\n";
  char piece[4096];
  int port = count == 2 ? open(arguments[1], O_RDONLY | O_NOCTTY) : -1;
  if (port < 0) return 66;
  while (read(port, piece, sizeof piece) > 0)
    if (write(1, line, strlen(line)) < 0) return 74;
  return 0;
}
