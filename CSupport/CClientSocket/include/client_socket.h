// SPDX-License-Identifier: Apache-2.0

// The socket of the service's client in libsextant. No function blocks. A negative result is a `sextant_client_result`
// with its sign changed; after -SEXTANT_CLIENT_SYSTEM_ERROR errno has the reason.
#ifndef CLIENT_SOCKET_H
#define CLIENT_SOCKET_H

#include <stddef.h>
#include <stdint.h>

/// Connects to the Unix socket at `path`. Returns its descriptor, which is closed on exec.
int32_t client_socket_connect(const char *path);

/// Sends all bytes. Returns 0.
int32_t client_socket_send(int32_t descriptor, const void *bytes, size_t count);

/// Stores up to `capacity` received bytes. Returns their number; 0 if none has arrived.
ptrdiff_t client_socket_receive(int32_t descriptor, void *bytes, size_t capacity);

/// Closes the descriptor. errno is unchanged.
void client_socket_close(int32_t descriptor);

#endif
