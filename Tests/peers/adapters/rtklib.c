// SPDX-License-Identifier: Apache-2.0

/// RTKLIB's readers of raw data: UBX and RTCM 3, a byte at a time, as its streams give them.

#include "adapter.h"
#include "rtklib.h"

static raw_t raw;
static rtcm_t rtcm;

static void begin(void) {
  static int begun;
  if (begun++) return;
  // A day to resolve the week with; the values do not matter here.
  gtime_t now = {1600000000, 0};
  if (!init_raw(&raw) || !init_rtcm(&rtcm)) exit(71);
  raw.time = rtcm.time = now;
}

void decode(const char *protocol, const unsigned char *bytes, size_t size) {
  begin();
  if (!strcmp(protocol, "ubx")) {
    for (size_t at = 0; at < size; at++) input_ubx(&raw, bytes[at]);
  } else {
    for (size_t at = 0; at < size; at++) input_rtcm3(&rtcm, bytes[at]);
  }
}

/// The values of observations that are not zero, with satellite and time; without those that an earlier frame of the epoch has brought.
static long values_of(const obs_t *obs, int earlier) {
  long n = 0;
  for (int i = earlier; i < obs->n; i++) {
    n += 2;
    for (int f = 0; f < NFREQ + NEXOBS; f++) {
      const obsd_t *o = &obs->data[i];
      n += (o->P[f] != 0) + (o->L[f] != 0) + (o->D[f] != 0) + (o->SNR[f] != 0) + (o->code[f] != 0);
    }
  }
  return n;
}

/// The result of a reader: -1 an error, 0 nothing or a part of the observations of an epoch, 1 the observations, 2 an ephemeris
/// (31 values), 5 a station, 9 corrections.
static long values(int result, const obs_t *obs, int earlier) {
  switch (result) {
    case 0: case 1: return obs->n > earlier ? values_of(obs, earlier) : -1;
    case 2: return 31;
    case 3: return 3;
    case 5: return 7;
    case 9: return 8;
    case 10: return 8;
    default: return -1;
  }
}

void count(const char *protocol, const unsigned char *bytes, size_t size) {
  begin();
  int is_ubx = !strcmp(protocol, "ubx");
  for (size_t at = 0; at < size;) {
    size_t length = frame_length(bytes + at, size - at);
    int result = 0, earlier = is_ubx ? 0 : rtcm.obsflag ? 0 : rtcm.obs.n;
    if (is_ubx) raw.obs.n = 0;
    for (size_t i = 0; i < length; i++) {
      int one = is_ubx ? input_ubx(&raw, bytes[at + i]) : input_rtcm3(&rtcm, bytes[at + i]);
      if (one) result = one;
    }
    print_count(bytes + at, values(result, is_ubx ? &raw.obs : &rtcm.obs, earlier));
    at += length;
  }
}

// The functions that RTKLIB expects of its program.
int showmsg(char *format, ...) { (void)format; return 0; }
void settspan(gtime_t start, gtime_t end) { (void)start; (void)end; }
void settime(gtime_t time) { (void)time; }
