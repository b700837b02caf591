// SPDX-License-Identifier: Apache-2.0

/// gpsd's drivers, as gpsdecode calls them: bytes to packets, to the fix and the sky of its session. They read from a file.

#include "adapter.h"

#include <fcntl.h>
#include <math.h>
#include <time.h>
#include <unistd.h>
#include "gpsd_config.h"
#include "gpsd.h"

static struct gps_context_t context;
static struct gps_device_t session;
static const char *path;

static void begin(void) {
  static int begun;
  if (begun++) return;
  gps_context_init(&context, "compare");
  gpsd_time_init(&context, time(NULL));
  context.readonly = true;
  gpsd_init(&session, &context, NULL);
  gpsd_clear(&session);
  session.gpsdata.dev.baudrate = 38400;
  strcpy(session.gpsdata.dev.path, "stdin");
  session.gpsdata.gps_fd = open(path, O_RDONLY);
  if (session.gpsdata.gps_fd < 0) exit(66);
}

static long present(const double *values, size_t size) {
  long n = 0;
  for (size_t i = 0; i < size; i++) n += isfinite(values[i]) != 0;
  return n;
}

/// The values that a packet has set, by its mask; -1 for none.
static long values(gps_mask_t changed) {
  const struct gps_fix_t *fix = &session.newdata;
  long n = 0;
  n += (changed & TIME_SET) != 0;
  n += (changed & MODE_SET) != 0;
  n += (changed & STATUS_SET) != 0;
  if (changed & LATLON_SET) n += present((double[]){fix->latitude, fix->longitude}, 2);
  if (changed & ALTITUDE_SET) n += present((double[]){fix->altHAE, fix->altMSL, fix->geoid_sep}, 3);
  if (changed & SPEED_SET) n += present(&fix->speed, 1);
  if (changed & TRACK_SET) n += present(&fix->track, 1);
  if (changed & MAGNETIC_TRACK_SET) n += present(&fix->magnetic_track, 1);
  if (changed & CLIMB_SET) n += present(&fix->climb, 1);
  if (changed & HERR_SET) n += present((double[]){fix->epx, fix->epy, fix->eph}, 3);
  if (changed & VERR_SET) n += present(&fix->epv, 1);
  if (changed & TIMERR_SET) n += present(&fix->ept, 1);
  if (changed & SPEEDERR_SET) n += present(&fix->eps, 1);
  if (changed & VNED_SET) n += 3;
  if (changed & (ECEF_SET | VECEF_SET)) n += 3;
  if (changed & GST_SET) n += 7;
  if (changed & DOP_SET) {
    const struct dop_t *dop = &session.gpsdata.dop;
    n += present((double[]){dop->xdop, dop->ydop, dop->pdop, dop->hdop, dop->vdop, dop->tdop, dop->gdop}, 7);
  }
  if (changed & SATELLITE_SET) n += 5L * session.gpsdata.satellites_visible;
  if (changed & RAW_IS) n += 6L * session.gpsdata.satellites_visible;
  if (changed & (RTCM3_SET | SUBFRAME_SET | VERSION_SET | DEVICEID_SET | ATTITUDE_SET | IMU_SET)) n += 1;
  return n ? n : -1;
}

/// Reads the file to its end.
static void read_all(int prints) {
  lseek(session.gpsdata.gps_fd, 0, SEEK_SET);
  for (;;) {
    gps_mask_t changed = gpsd_poll(&session);
    if (changed == ERROR_SET || changed == NODATA_IS) return;
    if (prints && session.lexer.outbuflen > 5) print_count(session.lexer.outbuffer, values(changed));
  }
}

void decode(const char *protocol, const unsigned char *bytes, size_t size) {
  (void)protocol;
  (void)bytes;
  (void)size;
  path = getenv("PEER_FILE");
  begin();
  read_all(0);
}

void count(const char *protocol, const unsigned char *bytes, size_t size) {
  (void)protocol;
  (void)bytes;
  (void)size;
  path = getenv("PEER_FILE");
  begin();
  read_all(1);
}
