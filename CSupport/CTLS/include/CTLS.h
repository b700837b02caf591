// SPDX-License-Identifier: Apache-2.0

// The client side of TLS with OpenSSL 3, loaded at run time: the library is needed only for an encrypted caster, and
// the build needs no header. It has no socket: the caller carries the records (RFC 8446, section 5) to the server and
// back.
#ifndef SEXTANT_CTLS_H
#define SEXTANT_CTLS_H

#include <stddef.h>
#include <stdint.h>

/// One connection. It belongs to one thread.
typedef struct ctls ctls;

/// The results of ctls_handshake(), ctls_read() and ctls_write().
#define CTLS_NEEDS_RECORDS 0
#define CTLS_CLOSED (-1)
#define CTLS_FAILED (-2)

/// Loads the library. Returns 0, or -ENOENT if it is not installed. Callable from any thread, repeatedly.
int ctls_load(void);

/// Makes a connection to a host, only after ctls_load() succeeded: TLS 1.2 or later, the certificates that the system trusts
/// (SSL_CERT_FILE and SSL_CERT_DIR replace them), and the server's certificate must contain the name or address of the
/// host. NULL if there is no memory.
ctls *ctls_open(const char *host);
void ctls_close(ctls *tls);

/// Receives records of the server. Returns 0, or -1 if there is no memory.
int ctls_put(ctls *tls, const uint8_t *bytes, size_t count);
/// Removes records for the server from the connection, at most `count` bytes. Returns their number.
size_t ctls_take(ctls *tls, uint8_t *bytes, size_t count);

/// Continues the handshake. Returns 1 if it is complete.
int ctls_handshake(ctls *tls);
/// Reads bytes that the server sent. Returns their number, at most `count`, a positive number below 2^31.
int ctls_read(ctls *tls, uint8_t *bytes, size_t count);
/// Encrypts bytes for the server, `count` a positive number below 2^31. Returns the number of accepted bytes, which is
/// `count` after the handshake.
int ctls_write(ctls *tls, const uint8_t *bytes, size_t count);

/// The result of the check of the server's certificate: 0 if it is accepted, else X509_V_ERR_… (X509_STORE_CTX_get_error(3)).
long ctls_verification(ctls *tls);
/// OpenSSL's text for it.
const char *ctls_verification_text(long verification);
/// OpenSSL's text for the first error of this thread since the last call of handshake, read or write; NULL if there is
/// none.
const char *ctls_reason(void);

#endif
