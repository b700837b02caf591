// SPDX-License-Identifier: Apache-2.0
#include "CUplink.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions of curl/curl.h, from their manual pages. Its objects are opaque pointers.
#define FUNCTIONS(F)                                             \
  F(int, curl_global_init, (long))                               \
  F(void *, curl_easy_init, (void))                              \
  F(void, curl_easy_cleanup, (void *))                           \
  F(void, curl_easy_reset, (void *))                             \
  F(int, curl_easy_setopt, (void *, int, ...))                   \
  F(int, curl_easy_getinfo, (void *, int, ...))                  \
  F(int, curl_easy_perform, (void *))                            \
  F(const char *, curl_easy_strerror, (int))                     \
  F(void *, curl_slist_append, (void *, const char *))           \
  F(void, curl_slist_free_all, (void *))

#define MEMBER(result, name, arguments) result(*name) arguments;
static struct { FUNCTIONS(MEMBER) } lib;
static int state = -ENOENT;

// Values of curl/curl.h: a number and the type of the value. Those of CURLINFO likewise.
enum {
  LONG = 0, OBJECT = 10000, FUNCTION = 20000, OFFSET = 30000,
  OPTION_URL = OBJECT + 2, OPTION_ERROR_BUFFER = OBJECT + 10, OPTION_WRITE = FUNCTION + 11, OPTION_BODY = OBJECT + 15,
  OPTION_AGENT = OBJECT + 18, OPTION_HEADERS = OBJECT + 23, OPTION_CERTIFICATE = OBJECT + 25, OPTION_NO_PROGRESS = LONG + 43,
  OPTION_CA = OBJECT + 65, OPTION_KEY = OBJECT + 87, OPTION_NO_SIGNAL = LONG + 99,
  OPTION_BODY_SIZE = OFFSET + 120, OPTION_TIMEOUT = LONG + 155, OPTION_CONNECT_TIMEOUT = LONG + 156,
  OPTION_USER = OBJECT + 173, OPTION_PASSWORD = OBJECT + 174, OPTION_PROTOCOLS = LONG + 181,
  OPTION_PROGRESS = FUNCTION + 219,
  PROTOCOL_HTTP = 1, PROTOCOL_HTTPS = 2, GLOBAL_DEFAULT = 3, ERROR_SIZE = 256, ABORTED_BY_CALLBACK = 42,
  INFO_LONG = 0x200000, INFO_OFFSET = 0x600000,
  INFO_STATUS = INFO_LONG + 2, INFO_HEADER_SIZE = INFO_LONG + 11, INFO_REQUEST_SIZE = INFO_LONG + 12,
  INFO_SIZE_UPLOAD = INFO_OFFSET + 7, INFO_SIZE_DOWNLOAD = INFO_OFFSET + 8,
};

static void load(void) {
  // Debian's libcurl4 and libcurl3-gnutls.
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  int complete = 1;
#define FIND(result, name, arguments)                    \
  lib.name = (result(*) arguments)dlsym(library, #name); \
  if (!lib.name) complete = 0;
  FUNCTIONS(FIND)
  if (complete && lib.curl_global_init(GLOBAL_DEFAULT) == 0) state = 0;
}

int cuplink_load_http(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return state;
}

struct cuplink_http {
  void *easy;
  char error[ERROR_SIZE];
};

cuplink_http *cuplink_http_open(void) {
  cuplink_http *http = calloc(1, sizeof *http);
  if (!http) return NULL;
  http->easy = lib.curl_easy_init();
  if (http->easy) return http;
  free(http);
  return NULL;
}

void cuplink_http_close(cuplink_http *http) {
  if (!http) return;
  lib.curl_easy_cleanup(http->easy);
  free(http);
}

// The queue does not use the text of the reply.
static size_t discard(char *bytes, size_t size, size_t count, void *data) {
  (void)bytes;
  (void)data;
  return size * count;
}

static int progress(void *data, int64_t total_down, int64_t down, int64_t total_up, int64_t up) {
  (void)data;
  (void)total_down;
  (void)total_up;
  (void)up;
  // The rest of an endless reply is not read.
  return down > 1 << 20;
}

cuplink_http_result cuplink_http_perform(cuplink_http *http, const cuplink_http_request *request) {
  void *easy = http->easy, *headers = NULL;
  cuplink_http_result result = {0};
  // Resets the options of the previous request; the connection stays open.
  lib.curl_easy_reset(easy);
  memset(http->error, 0, sizeof http->error);
  lib.curl_easy_setopt(easy, OPTION_ERROR_BUFFER, http->error);
  lib.curl_easy_setopt(easy, OPTION_URL, request->url);
  lib.curl_easy_setopt(easy, OPTION_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS));
  lib.curl_easy_setopt(easy, OPTION_NO_SIGNAL, 1L);
  lib.curl_easy_setopt(easy, OPTION_CONNECT_TIMEOUT, request->connect_milliseconds);
  lib.curl_easy_setopt(easy, OPTION_TIMEOUT, request->milliseconds);
  lib.curl_easy_setopt(easy, OPTION_AGENT, request->agent);
  lib.curl_easy_setopt(easy, OPTION_WRITE, discard);
  lib.curl_easy_setopt(easy, OPTION_NO_PROGRESS, 0L);
  lib.curl_easy_setopt(easy, OPTION_PROGRESS, progress);
  if (request->user) lib.curl_easy_setopt(easy, OPTION_USER, request->user);
  if (request->password) lib.curl_easy_setopt(easy, OPTION_PASSWORD, request->password);
  if (request->ca) lib.curl_easy_setopt(easy, OPTION_CA, request->ca);
  if (request->certificate) lib.curl_easy_setopt(easy, OPTION_CERTIFICATE, request->certificate);
  if (request->key) lib.curl_easy_setopt(easy, OPTION_KEY, request->key);
  if (request->body) {
    char type[128];
    snprintf(type, sizeof type, "Content-Type: %s", request->content_type);
    headers = lib.curl_slist_append(headers, type);
    // Without this, libcurl would first ask the server whether it accepts a large body.
    headers = lib.curl_slist_append(headers, "Expect:");
    lib.curl_easy_setopt(easy, OPTION_BODY_SIZE, (int64_t)request->length);
    lib.curl_easy_setopt(easy, OPTION_BODY, request->body);
    lib.curl_easy_setopt(easy, OPTION_HEADERS, headers);
  }
  result.error = lib.curl_easy_perform(easy);
  if (result.error && !http->error[0]) snprintf(http->error, sizeof http->error, "%s", lib.curl_easy_strerror(result.error));
  int64_t up = 0, down = 0;
  long header = 0, sent = 0;
  lib.curl_easy_getinfo(easy, INFO_STATUS, &result.status);
  // `progress` has ended the transfer. The body has no use, and the status is known before it.
  if (result.error == ABORTED_BY_CALLBACK && result.status) result.error = 0;
  lib.curl_easy_getinfo(easy, INFO_SIZE_UPLOAD, &up);
  lib.curl_easy_getinfo(easy, INFO_SIZE_DOWNLOAD, &down);
  lib.curl_easy_getinfo(easy, INFO_HEADER_SIZE, &header);
  lib.curl_easy_getinfo(easy, INFO_REQUEST_SIZE, &sent);
  result.bytes = (uint64_t)up + (uint64_t)down + (uint64_t)header + (uint64_t)sent;
  lib.curl_slist_free_all(headers);
  return result;
}

const char *cuplink_http_error(cuplink_http *http) { return http->error; }
