// SPDX-License-Identifier: Apache-2.0

/// minmea (NMEA in C). A sentence is copied into a line of its own, because minmea reads to its end.

#include "adapter.h"
#include "minmea.h"

enum { longest_line = 1024 };

static union {
  struct minmea_sentence_gbs gbs;
  struct minmea_sentence_gga gga;
  struct minmea_sentence_gll gll;
  struct minmea_sentence_gsa gsa;
  struct minmea_sentence_gst gst;
  struct minmea_sentence_gsv gsv;
  struct minmea_sentence_rmc rmc;
  struct minmea_sentence_vtg vtg;
  struct minmea_sentence_zda zda;
} content;

/// Returns the sentence's type, or MINMEA_INVALID or MINMEA_UNKNOWN.
static enum minmea_sentence_id parse(const char *line) {
  enum minmea_sentence_id type = minmea_sentence_id(line, true);
  bool is_right = false;
  switch (type) {
    case MINMEA_SENTENCE_GBS: is_right = minmea_parse_gbs(&content.gbs, line); break;
    case MINMEA_SENTENCE_GGA: is_right = minmea_parse_gga(&content.gga, line); break;
    case MINMEA_SENTENCE_GLL: is_right = minmea_parse_gll(&content.gll, line); break;
    case MINMEA_SENTENCE_GSA: is_right = minmea_parse_gsa(&content.gsa, line); break;
    case MINMEA_SENTENCE_GST: is_right = minmea_parse_gst(&content.gst, line); break;
    case MINMEA_SENTENCE_GSV: is_right = minmea_parse_gsv(&content.gsv, line); break;
    case MINMEA_SENTENCE_RMC: is_right = minmea_parse_rmc(&content.rmc, line); break;
    case MINMEA_SENTENCE_VTG: is_right = minmea_parse_vtg(&content.vtg, line); break;
    case MINMEA_SENTENCE_ZDA: is_right = minmea_parse_zda(&content.zda, line); break;
    case MINMEA_INVALID: case MINMEA_UNKNOWN: return type;
  }
  return is_right ? type : MINMEA_INVALID;
}

static size_t next_line(const unsigned char *bytes, size_t size, char *line) {
  size_t length = frame_length(bytes, size), kept = length < longest_line ? length : longest_line - 1;
  memcpy(line, bytes, kept);
  line[kept] = 0;
  return length;
}

void decode(const char *protocol, const unsigned char *bytes, size_t size) {
  (void)protocol;
  char line[longest_line];
  for (size_t at = 0; at < size;) {
    at += next_line(bytes + at, size - at, line);
    parse(line);
  }
}

static long has(struct minmea_float number) { return number.scale != 0; }
static long hasTime(struct minmea_time time) { return time.hours >= 0; }
static long hasDate(struct minmea_date date) { return date.day >= 0; }

static long values(enum minmea_sentence_id type) {
  long n = 0;
  switch (type) {
    case MINMEA_SENTENCE_GBS:
      return hasTime(content.gbs.time) + has(content.gbs.err_latitude) + has(content.gbs.err_longitude) +
             has(content.gbs.err_altitude) + (content.gbs.svid != 0) + has(content.gbs.prob) + has(content.gbs.bias) +
             has(content.gbs.stddev);
    case MINMEA_SENTENCE_GGA:
      return hasTime(content.gga.time) + has(content.gga.latitude) + has(content.gga.longitude) + 2 + has(content.gga.hdop) +
             has(content.gga.altitude) + has(content.gga.height) + has(content.gga.dgps_age);
    case MINMEA_SENTENCE_GLL:
      return has(content.gll.latitude) + has(content.gll.longitude) + hasTime(content.gll.time) + (content.gll.status != 0) +
             (content.gll.mode != 0);
    case MINMEA_SENTENCE_GSA:
      for (int i = 0; i < 12; i++) n += content.gsa.sats[i] != 0;
      return n + (content.gsa.mode != 0) + 1 + has(content.gsa.pdop) + has(content.gsa.hdop) + has(content.gsa.vdop);
    case MINMEA_SENTENCE_GST:
      return hasTime(content.gst.time) + has(content.gst.rms_deviation) + has(content.gst.semi_major_deviation) +
             has(content.gst.semi_minor_deviation) + has(content.gst.semi_major_orientation) +
             has(content.gst.latitude_error_deviation) + has(content.gst.longitude_error_deviation) +
             has(content.gst.altitude_error_deviation);
    case MINMEA_SENTENCE_GSV:
      for (int i = 0; i < 4; i++) {
        if (content.gsv.sats[i].nr != 0) n += 3 + has(content.gsv.sats[i].snr);
      }
      return n + 3;
    case MINMEA_SENTENCE_RMC:
      return hasTime(content.rmc.time) + 1 + has(content.rmc.latitude) + has(content.rmc.longitude) + has(content.rmc.speed) +
             has(content.rmc.course) + hasDate(content.rmc.date) + has(content.rmc.variation);
    case MINMEA_SENTENCE_VTG:
      return has(content.vtg.true_track_degrees) + has(content.vtg.magnetic_track_degrees) + has(content.vtg.speed_knots) +
             has(content.vtg.speed_kph) + (content.vtg.faa_mode != 0);
    case MINMEA_SENTENCE_ZDA: return hasTime(content.zda.time) + hasDate(content.zda.date) + 2;
    case MINMEA_INVALID: case MINMEA_UNKNOWN: return -1;
  }
  return -1;
}

void count(const char *protocol, const unsigned char *bytes, size_t size) {
  (void)protocol;
  char line[longest_line];
  for (size_t at = 0; at < size;) {
    size_t length = next_line(bytes + at, size - at, line);
    print_count(bytes + at, values(parse(line)));
    at += length;
  }
}
