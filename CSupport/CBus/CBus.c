// SPDX-License-Identifier: Apache-2.0
#include "CBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

// The part of sd_bus_error that is read (sd-bus-protocol's public layout).
struct error {
  const char *name;
  const char *message;
  int need_free;
};

// The result, name and parameters of each function (sd-bus.h, unchanged since its first release; close_unref came later, so
// close and unref are called).
#define FUNCTIONS(F)                                                                                                   \
  F(int, open_system, (void **))                                                                                      \
  F(int, open_user, (void **))                                                                                        \
  F(void, close, (void *))                                                                                            \
  F(void *, unref, (void *))                                                                                          \
  F(int, get_fd, (void *))                                                                                            \
  F(int, get_events, (void *))                                                                                        \
  F(int, get_timeout, (void *, uint64_t *))                                                                           \
  F(int, process, (void *, void **))                                                                                  \
  F(int, send, (void *, void *, uint64_t *))                                                                          \
  F(int, message_new_method_call, (void *, void **, const char *, const char *, const char *, const char *))          \
  F(int, message_append_basic, (void *, char, const void *))                                                          \
  F(int, message_open_container, (void *, char, const char *))                                                        \
  F(int, message_close_container, (void *))                                                                           \
  F(void *, message_unref, (void *))                                                                                  \
  F(int, message_get_type, (void *, uint8_t *))                                                                       \
  F(int, message_get_reply_cookie, (void *, uint64_t *))                                                              \
  F(const char *, message_get_path, (void *))                                                                         \
  F(const char *, message_get_interface, (void *))                                                                    \
  F(const char *, message_get_member, (void *))                                                                       \
  F(const struct error *, message_get_error, (void *))                                                                \
  F(int, message_peek_type, (void *, char *, const char **))                                                          \
  F(int, message_enter_container, (void *, char, const char *))                                                       \
  F(int, message_exit_container, (void *))                                                                            \
  F(int, message_read_basic, (void *, char, void *))                                                                  \
  F(int, message_read_array, (void *, char, const void **, size_t *))

#define MEMBER(result, name, arguments) result(*name) arguments;
static struct { FUNCTIONS(MEMBER) } sd;
static int state = -ENOENT;

static void load(void) {
  static const char *const names[] = {"libsystemd.so.0", "libelogind.so.0", "libbasu.so.0"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    int complete = 1;
#define FIND(result, name, arguments)                     \
  sd.name = (result(*) arguments)dlsym(library, "sd_bus_" #name); \
  if (!sd.name) complete = 0;
    FUNCTIONS(FIND)
    if (complete) {
      state = 0;
      return;
    }
    dlclose(library);
  }
}

int cbus_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return state;
}

int cbus_open_system(void **bus) { return sd.open_system(bus); }
int cbus_open_user(void **bus) { return sd.open_user(bus); }
void cbus_close(void *bus) {
  sd.close(bus);
  sd.unref(bus);
}
int cbus_get_fd(void *bus) { return sd.get_fd(bus); }
int cbus_get_events(void *bus) { return sd.get_events(bus); }
int cbus_get_timeout(void *bus, uint64_t *microseconds) { return sd.get_timeout(bus, microseconds); }
int cbus_process(void *bus, void **message) { return sd.process(bus, message); }
int cbus_send(void *bus, void *message, uint64_t *cookie) { return sd.send(bus, message, cookie); }

int cbus_message_new_method_call(
    void *bus, void **message, const char *destination, const char *path, const char *interface, const char *member) {
  return sd.message_new_method_call(bus, message, destination, path, interface, member);
}
int cbus_message_append_basic(void *message, char type, const void *value) {
  return sd.message_append_basic(message, type, value);
}
int cbus_message_open_container(void *message, char type, const char *contents) {
  return sd.message_open_container(message, type, contents);
}
int cbus_message_close_container(void *message) { return sd.message_close_container(message); }
void cbus_message_unref(void *message) { sd.message_unref(message); }

int cbus_message_get_type(void *message, uint8_t *type) { return sd.message_get_type(message, type); }
int cbus_message_get_reply_cookie(void *message, uint64_t *cookie) {
  return sd.message_get_reply_cookie(message, cookie);
}
const char *cbus_message_get_path(void *message) { return sd.message_get_path(message); }
const char *cbus_message_get_interface(void *message) { return sd.message_get_interface(message); }
const char *cbus_message_get_member(void *message) { return sd.message_get_member(message); }
void cbus_message_get_error(void *message, const char **name, const char **text) {
  const struct error *error = sd.message_get_error(message);
  *name = error ? error->name : NULL;
  *text = error ? error->message : NULL;
}
int cbus_message_peek_type(void *message, char *type, const char **contents) {
  return sd.message_peek_type(message, type, contents);
}
int cbus_message_enter_container(void *message, char type, const char *contents) {
  return sd.message_enter_container(message, type, contents);
}
int cbus_message_exit_container(void *message) { return sd.message_exit_container(message); }
int cbus_message_read_basic(void *message, char type, void *value) {
  return sd.message_read_basic(message, type, value);
}
int cbus_message_read_array(void *message, char type, const void **bytes, size_t *count) {
  return sd.message_read_array(message, type, bytes, count);
}
