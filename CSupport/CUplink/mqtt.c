// SPDX-License-Identifier: Apache-2.0
#include "CUplink.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The declarations of mosquitto.h: its message, and the functions, from their manual pages. Its objects are opaque
// pointers.
struct message {
  int mid;
  char *topic;
  void *payload;
  int payloadlen;
  int qos;
  bool retain;
};

#define FUNCTIONS(F)                                                                                       \
  F(int, mosquitto_lib_init, (void))                                                                       \
  F(void *, mosquitto_new, (const char *, bool, void *))                                                   \
  F(void, mosquitto_destroy, (void *))                                                                     \
  F(int, mosquitto_int_option, (void *, int, int))                                                         \
  F(int, mosquitto_string_option, (void *, int, const char *))                                             \
  F(int, mosquitto_username_pw_set, (void *, const char *, const char *))                                  \
  F(int, mosquitto_will_set, (void *, const char *, int, const void *, int, bool))                         \
  F(int, mosquitto_tls_set,                                                                                \
    (void *, const char *, const char *, const char *, const char *, int (*)(char *, int, int, void *)))   \
  F(int, mosquitto_connect_async, (void *, const char *, int, int))                                        \
  F(int, mosquitto_disconnect, (void *))                                                                   \
  F(int, mosquitto_socket, (void *))                                                                       \
  F(bool, mosquitto_want_write, (void *))                                                                  \
  F(int, mosquitto_loop_read, (void *, int))                                                               \
  F(int, mosquitto_loop_write, (void *, int))                                                              \
  F(int, mosquitto_loop_misc, (void *))                                                                    \
  F(int, mosquitto_publish, (void *, int *, const char *, int, const void *, int, bool))                   \
  F(int, mosquitto_subscribe, (void *, int *, const char *, int))                                          \
  F(const char *, mosquitto_strerror, (int))                                                               \
  F(const char *, mosquitto_connack_string, (int))                                                         \
  F(const char *, mosquitto_reason_string, (int))                                                          \
  F(void, mosquitto_connect_callback_set, (void *, void (*)(void *, void *, int)))                         \
  F(void, mosquitto_disconnect_callback_set, (void *, void (*)(void *, void *, int)))                      \
  F(void, mosquitto_publish_v5_callback_set, (void *, void (*)(void *, void *, int, int, const void *)))   \
  F(void, mosquitto_subscribe_callback_set, (void *, void (*)(void *, void *, int, int, const int *)))     \
  F(void, mosquitto_message_callback_set, (void *, void (*)(void *, void *, const struct message *)))

#define MEMBER(result, name, arguments) result(*name) arguments;
static struct { FUNCTIONS(MEMBER) } lib;
static int state = -ENOENT;

// Values of mosquitto.h.
enum { OPTION_VERSION = 1, OPTION_ALPN = 10, ERROR_ERRNO = 14 };

static void load(void) {
  void *library = dlopen("libmosquitto.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  int complete = 1;
#define FIND(result, name, arguments)                    \
  lib.name = (result(*) arguments)dlsym(library, #name); \
  if (!lib.name) complete = 0;
  FUNCTIONS(FIND)
  if (complete && lib.mosquitto_lib_init() == 0) state = 0;
}

int cuplink_load_mqtt(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return state;
}

// The library calls back within its own functions. Its events are stored until the caller reads them.
struct stored {
  struct stored *next;
  cuplink_mqtt_event event;
  char bytes[];
};

struct cuplink_mqtt {
  void *client;
  size_t payload_limit;
  struct stored *first, **last;
  // The event that the caller reads.
  struct stored *taken;
};

static void store(cuplink_mqtt *mqtt, cuplink_mqtt_event event) {
  size_t topic = event.topic ? strlen(event.topic) + 1 : 0;
  struct stored *stored = malloc(sizeof *stored + topic + event.length);
  // If there is no memory, the message is not acknowledged, and the broker sends it again.
  if (!stored) return;
  stored->next = NULL;
  stored->event = event;
  if (event.topic) stored->event.topic = memcpy(stored->bytes, event.topic, topic);
  if (event.length) stored->event.payload = memcpy(stored->bytes + topic, event.payload, event.length);
  *mqtt->last = stored;
  mqtt->last = &stored->next;
}

static void on_connect(void *client, void *owner, int code) {
  (void)client;
  store(owner, (cuplink_mqtt_event){.kind = CUPLINK_MQTT_CONNECTED, .code = code});
}

static void on_disconnect(void *client, void *owner, int code) {
  (void)client;
  store(owner, (cuplink_mqtt_event){.kind = CUPLINK_MQTT_DISCONNECTED, .code = code});
}

static void on_publish(void *client, void *owner, int identifier, int code, const void *properties) {
  (void)client;
  (void)properties;
  store(owner, (cuplink_mqtt_event){.kind = CUPLINK_MQTT_PUBLISHED, .code = code, .identifier = identifier});
}

static void on_subscribe(void *client, void *owner, int identifier, int count, const int *codes) {
  (void)client;
  (void)identifier;
  store(owner, (cuplink_mqtt_event){.kind = CUPLINK_MQTT_SUBSCRIBED, .code = count > 0 ? codes[0] : 0});
}

static void on_message(void *client, void *owner, const struct message *message) {
  (void)client;
  size_t size = message->payloadlen > 0 ? (size_t)message->payloadlen : 0, limit = ((cuplink_mqtt *)owner)->payload_limit;
  store(owner, (cuplink_mqtt_event){.kind = CUPLINK_MQTT_MESSAGE, .topic = message->topic, .payload = message->payload,
                                    .length = size < limit ? size : limit, .size = size});
}

static int configure(void *client, const cuplink_mqtt_settings *settings) {
  int code = lib.mosquitto_int_option(client, OPTION_VERSION, settings->version);
  if (!code && settings->user) code = lib.mosquitto_username_pw_set(client, settings->user, settings->password);
  if (!code && settings->will_topic) {
    code = lib.mosquitto_will_set(client, settings->will_topic, (int)settings->will_length, settings->will, 1,
                                  settings->will_retained);
  }
  if (!code && settings->uses_tls) {
    // The system's certificates, unless the configuration names a certificate authority.
    code = lib.mosquitto_tls_set(client, settings->ca, settings->ca ? NULL : "/etc/ssl/certs", settings->certificate,
                                 settings->key, NULL);
  }
  if (!code && settings->alpn) code = lib.mosquitto_string_option(client, OPTION_ALPN, settings->alpn);
  return code;
}

cuplink_mqtt *cuplink_mqtt_open(const cuplink_mqtt_settings *settings, const char **error) {
  *error = "no memory";
  cuplink_mqtt *mqtt = calloc(1, sizeof *mqtt);
  if (!mqtt) return NULL;
  mqtt->last = &mqtt->first;
  mqtt->payload_limit = settings->payload_limit;
  mqtt->client = lib.mosquitto_new(settings->client_id, settings->clean, mqtt);
  int code = mqtt->client ? configure(mqtt->client, settings) : ERROR_ERRNO;
  if (code) {
    *error = cuplink_mqtt_error(code);
    cuplink_mqtt_close(mqtt);
    return NULL;
  }
  lib.mosquitto_connect_callback_set(mqtt->client, on_connect);
  lib.mosquitto_disconnect_callback_set(mqtt->client, on_disconnect);
  lib.mosquitto_publish_v5_callback_set(mqtt->client, on_publish);
  lib.mosquitto_subscribe_callback_set(mqtt->client, on_subscribe);
  lib.mosquitto_message_callback_set(mqtt->client, on_message);
  return mqtt;
}

void cuplink_mqtt_close(cuplink_mqtt *mqtt) {
  if (!mqtt) return;
  if (mqtt->client) lib.mosquitto_destroy(mqtt->client);
  free(mqtt->taken);
  for (struct stored *next, *stored = mqtt->first; stored; stored = next) {
    next = stored->next;
    free(stored);
  }
  free(mqtt);
}

int cuplink_mqtt_connect(cuplink_mqtt *mqtt, const char *host, int port, int keepalive) {
  return lib.mosquitto_connect_async(mqtt->client, host, port, keepalive);
}

void cuplink_mqtt_disconnect(cuplink_mqtt *mqtt) { lib.mosquitto_disconnect(mqtt->client); }
int cuplink_mqtt_socket(cuplink_mqtt *mqtt) { return lib.mosquitto_socket(mqtt->client); }
int cuplink_mqtt_wants_write(cuplink_mqtt *mqtt) { return lib.mosquitto_want_write(mqtt->client); }
int cuplink_mqtt_read(cuplink_mqtt *mqtt) { return lib.mosquitto_loop_read(mqtt->client, 1); }
int cuplink_mqtt_write(cuplink_mqtt *mqtt) { return lib.mosquitto_loop_write(mqtt->client, 1); }
int cuplink_mqtt_misc(cuplink_mqtt *mqtt) { return lib.mosquitto_loop_misc(mqtt->client); }

int cuplink_mqtt_publish(
    cuplink_mqtt *mqtt, int *identifier, const char *topic, const void *payload, size_t length, int retained) {
  return lib.mosquitto_publish(mqtt->client, identifier, topic, (int)length, payload, 1, retained);
}

int cuplink_mqtt_subscribe(cuplink_mqtt *mqtt, const char *topic) {
  return lib.mosquitto_subscribe(mqtt->client, NULL, topic, 1);
}

cuplink_mqtt_event cuplink_mqtt_next(cuplink_mqtt *mqtt) {
  free(mqtt->taken);
  mqtt->taken = mqtt->first;
  if (!mqtt->taken) return (cuplink_mqtt_event){.kind = CUPLINK_MQTT_NONE};
  mqtt->first = mqtt->taken->next;
  if (!mqtt->first) mqtt->last = &mqtt->first;
  return mqtt->taken->event;
}

const char *cuplink_mqtt_error(int code) { return code == ERROR_ERRNO ? strerror(errno) : lib.mosquitto_strerror(code); }

const char *cuplink_mqtt_refusal(int code, int version) {
  return version == 5 ? lib.mosquitto_reason_string(code) : lib.mosquitto_connack_string(code);
}
