// SPDX-License-Identifier: Apache-2.0

/// Prints the receivers of the location service, and then a number of locations.
///
///     cc locations.c $(pkg-config --cflags --libs libsextant) -o locations
///     ./locations /run/sextant/location 3

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sextant.h"

typedef struct progress {
  bool has_status;
  long locations;
  long wanted;
} progress;

static void on_status(void *context, const sextant_status *status) {
  ((progress *)context)->has_status = true;
  printf("sextantd %s\n", status->version);
  for (size_t index = 0; index < status->receiver_count; index++)
    printf("receiver %s: %s\n", status->receivers[index].device, status->receivers[index].state);
}

static void on_location(void *context, const sextant_location *location) {
  progress *progress = context;
  // One read can have several.
  if (progress->locations == progress->wanted) return;
  progress->locations++;
  printf("%lld %.9f %.9f %s\n", (long long)(location->time_nanoseconds_since_1970 / 1000000), location->latitude_degrees,
         location->longitude_degrees, location->is_simulated ? "simulated" : "measured");
}

static int failed(sextant_client_result result) {
  bool is_errno = result == SEXTANT_CLIENT_SYSTEM_ERROR;
  fprintf(stderr, "locations: %s\n", is_errno ? strerror(errno) : sextant_client_result_text(result));
  return 1;
}

/// Waits for the service, and reads what it has sent.
static sextant_client_result wait_and_receive(sextant_client *client) {
  struct pollfd wait = {.fd = sextant_client_descriptor(client), .events = POLLIN};
  // A signal ends the wait early; then there is nothing to read.
  poll(&wait, 1, -1);
  return sextant_client_receive(client);
}

int main(int count, char **arguments) {
  const char *path = count > 1 ? arguments[1] : SEXTANT_SERVICE_PATH;
  static alignas(max_align_t) unsigned char memory[SEXTANT_CLIENT_BYTES(16384)];
  progress progress = {.wanted = count > 2 ? atol(arguments[2]) : 3};
  sextant_client_handlers handlers = {.context = &progress, .on_location = on_location, .on_status = on_status};
  sextant_client *client = sextant_client_init(memory, sizeof memory, &handlers);
  sextant_client_result result = sextant_client_connect(client, path);
  if (result == SEXTANT_CLIENT_OK) result = sextant_client_get_status(client);
  while (result == SEXTANT_CLIENT_OK && !progress.has_status) result = wait_and_receive(client);
  if (result == SEXTANT_CLIENT_OK) result = sextant_client_subscribe(client, NAN, NAN);
  while (result == SEXTANT_CLIENT_OK && progress.locations < progress.wanted) result = wait_and_receive(client);
  sextant_client_disconnect(client);
  return result == SEXTANT_CLIENT_OK ? fflush(stdout) != 0 : failed(result);
}
