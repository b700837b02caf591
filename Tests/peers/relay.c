// SPDX-License-Identifier: Apache-2.0

// baseline.c with one more process: the first reads the line and sends a message of the size of a location to the second, which
// writes a line. Its additional time over baseline.c is the minimum cost of a service between receiver and program.
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static const char line[] = "{\"event\":\"didUpdateLocations\"}\n";
  static const char message[294];
  char piece[4096];
  int ends[2];
  int port = count == 2 ? open(arguments[1], O_RDONLY | O_NOCTTY) : -1;
  if (port < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return 66;
  if (fork() == 0) {
    close(ends[0]);
    while (read(ends[1], piece, sizeof piece) > 0)
      if (write(1, line, strlen(line)) < 0) return 74;
    return 0;
  }
  close(ends[1]);
  while (read(port, piece, sizeof piece) > 0)
    if (write(ends[0], message, sizeof message) < 0) return 74;
  return 0;
}
