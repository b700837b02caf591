// SPDX-License-Identifier: Apache-2.0

// About the least that a server of reports costs: it waits for the bytes of a line, and sends a text of the size of an epoch's TPV and
// SKY to each client of port 2947. It decodes nothing. The additional time of gpsd and sextantd is their own work.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 2947, MOST_CLIENTS = 64, REPORT = 2500 };

int main(int count, char **arguments) {
  char piece[4096], report[REPORT];
  memset(report, ' ', sizeof report);
  memcpy(report, "{\"class\":\"TPV\",\"lat\":0}", 23);
  report[REPORT - 1] = '\n';
  int clients[MOST_CLIENTS], connected = 0, on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int port = count == 2 ? open(arguments[1], O_RDONLY | O_NOCTTY) : -1;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (port < 0 || listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 8) < 0) return 66;
  struct pollfd waits[2] = {{port, POLLIN, 0}, {listener, POLLIN, 0}};
  while (poll(waits, 2, -1) > 0) {
    if (waits[1].revents) {
      int client = accept(listener, NULL, NULL);
      if (client < 0) return 71;
      setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      clients[connected++] = client;
    }
    // A negative descriptor is not waited for.
    waits[1].fd = connected < MOST_CLIENTS ? listener : -1;
    if (!waits[0].revents) continue;
    if (read(port, piece, sizeof piece) <= 0) return 0;
    for (int index = 0; index < connected; index++)
      if (send(clients[index], report, sizeof report, MSG_NOSIGNAL) < 0) {
        close(clients[index]);
        clients[index--] = clients[--connected];
      }
  }
  return 71;
}
