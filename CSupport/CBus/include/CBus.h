// SPDX-License-Identifier: Apache-2.0

// sd-bus(3), loaded at run time: the library is needed only on a computer with a bus, and the build needs no header.
// Its objects are opaque pointers; each function calls the sd_bus_ function of the same name and returns its result: 0
// or more on success, the negative errno on failure. Three libraries have these functions: libsystemd, libelogind and
// libbasu.
#ifndef SEXTANT_CBUS_H
#define SEXTANT_CBUS_H

#include <stddef.h>
#include <stdint.h>

/// Loads the library. Returns 0, or -ENOENT if none of the three is installed. Callable from any thread, repeatedly.
int cbus_load(void);

// Only after cbus_load() succeeded. A connection belongs to one thread.
int cbus_open_system(void **bus);
/// The bus of the calling user.
int cbus_open_user(void **bus);
/// Closes the connection and releases it, without waiting.
void cbus_close(void *bus);
int cbus_get_fd(void *bus);
int cbus_get_events(void *bus);
int cbus_get_timeout(void *bus, uint64_t *microseconds);
/// Sets `message` if there is one; the caller releases it with cbus_message_unref().
int cbus_process(void *bus, void **message);
int cbus_send(void *bus, void *message, uint64_t *cookie);

int cbus_message_new_method_call(
    void *bus, void **message, const char *destination, const char *path, const char *interface, const char *member);
int cbus_message_append_basic(void *message, char type, const void *value);
int cbus_message_open_container(void *message, char type, const char *contents);
int cbus_message_close_container(void *message);
void cbus_message_unref(void *message);

int cbus_message_get_type(void *message, uint8_t *type);
int cbus_message_get_reply_cookie(void *message, uint64_t *cookie);
const char *cbus_message_get_path(void *message);
const char *cbus_message_get_interface(void *message);
const char *cbus_message_get_member(void *message);
/// Sets the name and the text of an error message; either may be a null pointer.
void cbus_message_get_error(void *message, const char **name, const char **text);
int cbus_message_peek_type(void *message, char *type, const char **contents);
int cbus_message_enter_container(void *message, char type, const char *contents);
int cbus_message_exit_container(void *message);
int cbus_message_read_basic(void *message, char type, void *value);
int cbus_message_read_array(void *message, char type, const void **bytes, size_t *count);

#endif
