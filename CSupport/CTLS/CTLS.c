// SPDX-License-Identifier: Apache-2.0
#include "CTLS.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

// The result, name and parameters of each function, from OpenSSL 3's manual pages. Its objects are opaque pointers.
#define FUNCTIONS(F)                                              \
  F(const void *, TLS_client_method, (void))                      \
  F(void *, SSL_CTX_new, (const void *))                          \
  F(void, SSL_CTX_free, (void *))                                 \
  F(long, SSL_CTX_ctrl, (void *, int, long, void *))              \
  F(int, SSL_CTX_set_default_verify_paths, (void *))              \
  F(void, SSL_CTX_set_verify, (void *, int, void *))              \
  F(void *, SSL_new, (void *))                                    \
  F(void, SSL_free, (void *))                                     \
  F(long, SSL_ctrl, (void *, int, long, void *))                  \
  F(int, SSL_set1_host, (void *, const char *))                   \
  F(void *, SSL_get0_param, (void *))                             \
  F(void, SSL_set_bio, (void *, void *, void *))                  \
  F(void, SSL_set_connect_state, (void *))                        \
  F(int, SSL_do_handshake, (void *))                              \
  F(int, SSL_read, (void *, void *, int))                         \
  F(int, SSL_write, (void *, const void *, int))                  \
  F(int, SSL_get_error, (const void *, int))                      \
  F(long, SSL_get_verify_result, (const void *))                  \
  F(int, X509_VERIFY_PARAM_set1_ip_asc, (void *, const char *))   \
  F(const char *, X509_verify_cert_error_string, (long))          \
  F(const void *, BIO_s_mem, (void))                              \
  F(void *, BIO_new, (const void *))                              \
  F(int, BIO_free, (void *))                                      \
  F(int, BIO_read, (void *, void *, int))                         \
  F(int, BIO_write, (void *, const void *, int))                  \
  F(unsigned long, ERR_get_error, (void))                         \
  F(void, ERR_clear_error, (void))                                \
  F(const char *, ERR_reason_error_string, (unsigned long))

#define MEMBER(result, name, arguments) result(*name) arguments;
static struct { FUNCTIONS(MEMBER) } lib;
static int state = -ENOENT;

// Values of openssl/ssl.h and tls1.h.
enum {
  ERROR_WANT_READ = 2,
  ERROR_WANT_WRITE = 3,
  ERROR_ZERO_RETURN = 6,
  VERIFY_PEER = 1,
  CTRL_SET_TLSEXT_HOSTNAME = 55,
  CTRL_SET_MIN_PROTO_VERSION = 123,
  TLS1_2_VERSION = 0x0303,
};

struct ctls {
  void *context, *connection;
  // Memory BIOs: records from the server and for it. They belong to the connection.
  void *in, *out;
};

static void load(void) {
  // libssl depends on libcrypto, so one handle finds the functions of both.
  void *library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  int complete = 1;
#define FIND(result, name, arguments)                      \
  lib.name = (result(*) arguments)dlsym(library, #name);   \
  if (!lib.name) complete = 0;
  FUNCTIONS(FIND)
  if (complete) state = 0;
  else dlclose(library);
}

int ctls_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return state;
}

static int is_address(const char *host) {
  uint8_t address[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

// The server's certificate must be issued for this host. The name is also sent, so that the server can choose a
// certificate (RFC 6066, section 3, which excludes addresses).
static int bind_host(void *connection, const char *host) {
  if (is_address(host)) return lib.X509_VERIFY_PARAM_set1_ip_asc(lib.SSL_get0_param(connection), host) == 1;
  return lib.SSL_set1_host(connection, host) == 1 &&
         lib.SSL_ctrl(connection, CTRL_SET_TLSEXT_HOSTNAME, 0, (void *)(uintptr_t)host) == 1;
}

ctls *ctls_open(const char *host) {
  ctls *tls = calloc(1, sizeof *tls);
  if (!tls) return NULL;
  tls->context = lib.SSL_CTX_new(lib.TLS_client_method());
  if (!tls->context) goto failed;
  lib.SSL_CTX_ctrl(tls->context, CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
  // Without system certificates the verification of the server's certificate fails, with OpenSSL's message.
  lib.SSL_CTX_set_default_verify_paths(tls->context);
  lib.SSL_CTX_set_verify(tls->context, VERIFY_PEER, NULL);
  tls->connection = lib.SSL_new(tls->context);
  if (!tls->connection || !bind_host(tls->connection, host)) goto failed;
  tls->in = lib.BIO_new(lib.BIO_s_mem());
  tls->out = lib.BIO_new(lib.BIO_s_mem());
  if (!tls->in || !tls->out) {
    if (tls->in) lib.BIO_free(tls->in);
    if (tls->out) lib.BIO_free(tls->out);
    goto failed;
  }
  lib.SSL_set_bio(tls->connection, tls->in, tls->out);
  lib.SSL_set_connect_state(tls->connection);
  return tls;
failed:
  ctls_close(tls);
  return NULL;
}

void ctls_close(ctls *tls) {
  if (tls->connection) lib.SSL_free(tls->connection);
  if (tls->context) lib.SSL_CTX_free(tls->context);
  free(tls);
}

int ctls_put(ctls *tls, const uint8_t *bytes, size_t count) {
  // A BIO in memory grows, and accepts all bytes.
  return count == 0 || lib.BIO_write(tls->in, bytes, (int)count) == (int)count ? 0 : -1;
}

size_t ctls_take(ctls *tls, uint8_t *bytes, size_t count) {
  int taken = count > 0 ? lib.BIO_read(tls->out, bytes, (int)count) : 0;
  return taken > 0 ? (size_t)taken : 0;
}

static int outcome(ctls *tls, int result) {
  if (result > 0) return result;
  switch (lib.SSL_get_error(tls->connection, result)) {
    case ERROR_WANT_READ:
    case ERROR_WANT_WRITE: return CTLS_NEEDS_RECORDS;
    case ERROR_ZERO_RETURN: return CTLS_CLOSED;
    default: return CTLS_FAILED;
  }
}

// SSL_get_error(3) also reads the errors of the thread, so errors of earlier calls are removed first.
int ctls_handshake(ctls *tls) {
  lib.ERR_clear_error();
  return outcome(tls, lib.SSL_do_handshake(tls->connection));
}

int ctls_read(ctls *tls, uint8_t *bytes, size_t count) {
  lib.ERR_clear_error();
  return outcome(tls, lib.SSL_read(tls->connection, bytes, (int)count));
}

int ctls_write(ctls *tls, const uint8_t *bytes, size_t count) {
  lib.ERR_clear_error();
  return outcome(tls, lib.SSL_write(tls->connection, bytes, (int)count));
}

long ctls_verification(ctls *tls) { return lib.SSL_get_verify_result(tls->connection); }
const char *ctls_verification_text(long verification) { return lib.X509_verify_cert_error_string(verification); }

const char *ctls_reason(void) {
  unsigned long error = lib.ERR_get_error();
  return error ? lib.ERR_reason_error_string(error) : NULL;
}
