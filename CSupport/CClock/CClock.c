#include "CClock.h"

#include <sys/timex.h>

int64_t sextant_clock_error_microseconds(void) {
  struct timex state = {0};
  int result = adjtimex(&state);
  return result < 0 || result == TIME_ERROR ? -1 : (int64_t)state.maxerror;
}
