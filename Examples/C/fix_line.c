// SPDX-License-Identifier: Apache-2.0
#include "fix_line.h"

static char *text(char *at, const char *text) {
  while (*text) *at++ = *text++;
  return at;
}

static char *whole(char *at, uint64_t value, int width) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  while (width-- > count) *at++ = '0';
  while (count > 0) *at++ = digits[--count];
  return at;
}

/// A field with `digits` digits behind the point; nothing if the value is unknown.
static char *field(char *at, const char *name, double value, int digits) {
  uint64_t scale = 1;
  for (int digit = 0; digit < digits; digit++) scale *= 10;
  double magnitude = value < 0 ? -value : value;
  if (!(magnitude < 1e9)) return at;  // NaN is not below.
  // Rounded to the nearest number of units of the last digit, halves up.
  double exact = magnitude * (double)scale;
  uint64_t units = (uint64_t)exact;
  if (exact - (double)units >= 0.5) units++;
  at = text(at, ",\"");
  at = text(at, name);
  at = text(at, value < 0 && units > 0 ? "\":-" : "\":");
  at = whole(at, units / scale, 1);
  *at++ = '.';
  return whole(at, units % scale, digits);
}

/// The time in ISO 8601, rounded to a millisecond.
static char *time_field(char *at, int64_t nanoseconds) {
  int64_t milliseconds = (nanoseconds + 500000) / 1000000, day = milliseconds / 86400000;
  int64_t of_day = milliseconds % 86400000;
  // Years that begin in March have the leap day last. Times of receivers are after 1980.
  int64_t shifted = day + 719468, era = shifted / 146097, of_era = shifted % 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  int64_t date = of_year - (153 * month + 2) / 5 + 1;
  month = month < 10 ? month + 3 : month - 9;
  at = text(at, ",\"time\":\"");
  at = whole(at, (uint64_t)(year + era * 400 + (month <= 2)), 4);
  *at++ = '-';
  at = whole(at, (uint64_t)month, 2);
  *at++ = '-';
  at = whole(at, (uint64_t)date, 2);
  *at++ = 'T';
  at = whole(at, (uint64_t)(of_day / 3600000), 2);
  *at++ = ':';
  at = whole(at, (uint64_t)(of_day / 60000 % 60), 2);
  *at++ = ':';
  at = whole(at, (uint64_t)(of_day / 1000 % 60), 2);
  *at++ = '.';
  at = whole(at, (uint64_t)(of_day % 1000), 3);
  return text(at, "Z\"");
}

static char *position(char *at, const sextant_fix *fix) {
  at = field(at, "lat", fix->latitude_degrees, 9);
  at = field(at, "lon", fix->longitude_degrees, 9);
  at = field(at, "altHAE", fix->height_above_ellipsoid_metres, 4);
  at = field(at, "altMSL", fix->height_above_sea_level_metres, 4);
  if (fix->accuracy_source != SEXTANT_ACCURACY_ASSUMED) {
    at = field(at, "eph", fix->horizontal_accuracy_metres, 3);
    at = field(at, "epv", fix->vertical_accuracy_metres, 3);
  }
  at = field(at, "speed", fix->speed_metres_per_second, 3);
  at = field(at, "track", fix->course_degrees, 4);
  at = field(at, "climb", fix->climb_metres_per_second, 3);
  return field(at, "eps", fix->speed_accuracy_metres_per_second, 3);
}

size_t fix_line(const sextant_report *report, char *line) {
  const sextant_fix *fix = report->fix;
  char *at = line;
  if (report->fix_changed) {
    int mode = fix->has_position ? (fix->kind == SEXTANT_FIX_2D ? 2 : 3) : fix->reports_kind || fix->kind != SEXTANT_FIX_NONE;
    at = text(at, "{\"class\":\"TPV\",\"mode\":");
    at = whole(at, (uint64_t)mode, 1);
    if (fix->has_time) at = time_field(at, fix->time_nanoseconds_since_1970);
    if (fix->has_position) at = position(at, fix);
    at = text(at, "}\n");
  }
  if (report->sky_changed) {
    size_t used = 0;
    for (size_t index = 0; index < report->satellite_count; index++) used += report->satellites[index].is_used;
    at = text(at, "{\"class\":\"SKY\",\"nSat\":");
    at = whole(at, report->satellite_count, 1);
    at = text(at, ",\"uSat\":");
    at = whole(at, used, 1);
    at = text(at, "}\n");
  }
  return (size_t)(at - line);
}
