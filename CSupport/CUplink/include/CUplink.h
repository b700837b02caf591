// SPDX-License-Identifier: Apache-2.0
#ifndef CUPLINK_H
#define CUPLINK_H

#include <stddef.h>
#include <stdint.h>

// The libraries of the uplink, which are loaded when a server needs them: MQTT by libmosquitto, HTTP by libcurl. And the routes of
// the kernel. Every function is called on one thread.

// Loads the library. Returns 0, or -ENOENT if it is not there or is too old.
int cuplink_load_mqtt(void);
int cuplink_load_http(void);

// MARK: MQTT

typedef struct cuplink_mqtt cuplink_mqtt;

// Files and texts are NULL where there are none.
typedef struct {
  const char *client_id;
  const char *user, *password;
  const char *ca, *certificate, *key, *alpn;
  const char *will_topic;
  const void *will;
  size_t will_length;
  int will_retained;
  // 4 for MQTT 3.1.1, 5 for MQTT 5.
  int version;
  int uses_tls;
  // Whether the broker forgets the subscriptions of this client between its connections.
  int clean;
} cuplink_mqtt_settings;

// What the broker said, in its order.
typedef enum {
  CUPLINK_MQTT_NONE,
  // `code` is 0, or the reason of the refusal with `text`.
  CUPLINK_MQTT_CONNECTED,
  // `identifier` is that of the message, `code` the reason of MQTT 5: 128 and above are refusals.
  CUPLINK_MQTT_PUBLISHED,
  // `topic` and `payload`, until the next call.
  CUPLINK_MQTT_MESSAGE,
  CUPLINK_MQTT_DISCONNECTED,
} cuplink_mqtt_kind;

typedef struct {
  cuplink_mqtt_kind kind;
  int code, identifier;
  const char *topic;
  const void *payload;
  size_t length;
} cuplink_mqtt_event;

// NULL without memory or with settings that the library refuses; `error` names the reason then.
cuplink_mqtt *cuplink_mqtt_open(const cuplink_mqtt_settings *settings, const char **error);
void cuplink_mqtt_close(cuplink_mqtt *mqtt);

// Begins to connect; looks up the host, which may take seconds. Returns 0 or the library's error.
int cuplink_mqtt_connect(cuplink_mqtt *mqtt, const char *host, int port, int keepalive);
// Begins the end of the connection.
void cuplink_mqtt_disconnect(cuplink_mqtt *mqtt);
// The socket; -1 without a connection.
int cuplink_mqtt_socket(cuplink_mqtt *mqtt);
int cuplink_mqtt_wants_write(cuplink_mqtt *mqtt);
// Reads, writes and sends what the time asks for. Returns 0 or the library's error.
int cuplink_mqtt_read(cuplink_mqtt *mqtt);
int cuplink_mqtt_write(cuplink_mqtt *mqtt);
int cuplink_mqtt_misc(cuplink_mqtt *mqtt);
// Returns 0 or the library's error; `identifier` becomes that of the message. Quality of service 1.
int cuplink_mqtt_publish(
    cuplink_mqtt *mqtt, int *identifier, const char *topic, const void *payload, size_t length, int retained);
int cuplink_mqtt_subscribe(cuplink_mqtt *mqtt, const char *topic);
// Returns the next event, or one of the kind NONE.
cuplink_mqtt_event cuplink_mqtt_next(cuplink_mqtt *mqtt);
// The library's words for an error, with those of the system for its errno.
const char *cuplink_mqtt_error(int code);
const char *cuplink_mqtt_refusal(int code, int version);

// MARK: HTTP

typedef struct cuplink_http cuplink_http;

typedef struct {
  const char *url;
  // NULL for GET.
  const void *body;
  size_t length;
  const char *content_type;
  const char *user, *password;
  const char *ca, *certificate, *key;
  const char *agent;
  long connect_milliseconds, milliseconds;
} cuplink_http_request;

typedef struct {
  // The library's error; 0 if there was an answer.
  int error;
  // The status of the answer.
  long status;
  // The bytes that were sent and received, without those of TLS.
  uint64_t bytes;
} cuplink_http_result;

// NULL without memory. The connection to a server stays open between its requests.
cuplink_http *cuplink_http_open(void);
void cuplink_http_close(cuplink_http *http);
cuplink_http_result cuplink_http_perform(cuplink_http *http, const cuplink_http_request *request);
// The library's words for the last error.
const char *cuplink_http_error(cuplink_http *http);

// MARK: Routes

// A socket that is readable after a change of the kernel's routes, rtnetlink(7); a negative errno without one.
int cuplink_open_routes(void);
// Reads the messages of the socket.
void cuplink_drain_routes(int descriptor);
// Whether a route leads beyond this computer, of IPv4 or IPv6.
int cuplink_has_route(void);

#endif
