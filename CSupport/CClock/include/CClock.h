// How right the system's clock is: <sys/timex.h>, which the C library's module map for Swift leaves out.
#pragma once

#include <stdint.h>

/// The longest error that the kernel reckons with, in microseconds (adjtimex(2), maxerror); -1 when nothing keeps the
/// clock right.
int64_t sextant_clock_error_microseconds(void);
