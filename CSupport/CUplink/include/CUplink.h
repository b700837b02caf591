// SPDX-License-Identifier: Apache-2.0
#ifndef CUPLINK_H
#define CUPLINK_H

#include <stddef.h>
#include <stdint.h>

// The libraries of the uplink, which are loaded when a server needs them: libmosquitto for MQTT, libcurl for HTTP. Also
// the kernel's routes. Every function is called on one thread.

// Loads the library. Returns 0, or -ENOENT if it is missing or too old.
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
  // The largest number of bytes of a message's payload that are kept.
  size_t payload_limit;
  // Whether the broker discards the subscriptions of this client between its connections.
  int clean;
} cuplink_mqtt_settings;

// The events of the broker, in their order.
typedef enum {
  CUPLINK_MQTT_NONE,
  // `code` is 0, or the reason of the refusal with `text`.
  CUPLINK_MQTT_CONNECTED,
  // `identifier` identifies the message, `code` is the reason code of MQTT 5: 128 and above are refusals.
  CUPLINK_MQTT_PUBLISHED,
  // `code` is 128 or above if the broker refuses the subscription.
  CUPLINK_MQTT_SUBSCRIBED,
  // `topic`, and the first `length` bytes of the `size` bytes of `payload`, until the next call.
  CUPLINK_MQTT_MESSAGE,
  CUPLINK_MQTT_DISCONNECTED,
} cuplink_mqtt_kind;

typedef struct {
  cuplink_mqtt_kind kind;
  int code, identifier;
  const char *topic;
  const void *payload;
  size_t length, size;
} cuplink_mqtt_event;

// NULL if there is no memory, or if the library rejects the settings; `error` names the reason then.
cuplink_mqtt *cuplink_mqtt_open(const cuplink_mqtt_settings *settings, const char **error);
void cuplink_mqtt_close(cuplink_mqtt *mqtt);

// Begins to connect; looks up the host, which may take seconds. Returns 0 or the library's error.
int cuplink_mqtt_connect(cuplink_mqtt *mqtt, const char *host, int port, int keepalive);
// Starts closing the connection.
void cuplink_mqtt_disconnect(cuplink_mqtt *mqtt);
// The socket; -1 without a connection.
int cuplink_mqtt_socket(cuplink_mqtt *mqtt);
int cuplink_mqtt_wants_write(cuplink_mqtt *mqtt);
// Reads, writes and sends messages that are due. Returns 0 or the library's error.
int cuplink_mqtt_read(cuplink_mqtt *mqtt);
int cuplink_mqtt_write(cuplink_mqtt *mqtt);
int cuplink_mqtt_misc(cuplink_mqtt *mqtt);
// Returns 0 or the library's error; `identifier` is set to the message's identifier. Quality of service 1.
int cuplink_mqtt_publish(
    cuplink_mqtt *mqtt, int *identifier, const char *topic, const void *payload, size_t length, int retained);
int cuplink_mqtt_subscribe(cuplink_mqtt *mqtt, const char *topic);
// Returns the next event, or an event of the kind NONE.
cuplink_mqtt_event cuplink_mqtt_next(cuplink_mqtt *mqtt);
// The library's text for an error, with the system's text for its errno.
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
  // The library's error; 0 if there was a reply.
  int error;
  // The status of the reply.
  long status;
  // The bytes that were sent and received, without TLS overhead.
  uint64_t bytes;
} cuplink_http_result;

// NULL if there is no memory. The connection to a server stays open between its requests.
cuplink_http *cuplink_http_open(void);
void cuplink_http_close(cuplink_http *http);
cuplink_http_result cuplink_http_perform(cuplink_http *http, const cuplink_http_request *request);
// The library's text for the last error.
const char *cuplink_http_error(cuplink_http *http);

// MARK: Routes

// A socket that is readable after a change of the kernel's routes, rtnetlink(7); a negative errno on failure.
int cuplink_open_routes(void);
// Reads the messages of the socket.
void cuplink_drain_routes(int descriptor);
// Whether a route leads beyond this computer, of IPv4 or IPv6.
int cuplink_has_route(void);

#endif
