// SPDX-License-Identifier: Apache-2.0

/// A report as lines of JSON, with names, units and digits as `sextant decode` has them. No allocation and no printf, so that the
/// same code runs on a microcontroller.

#ifndef FIX_LINE_H
#define FIX_LINE_H

#include "sextant.h"

/// The length of the lines of a report, at most.
#define FIX_LINE_BYTES 512

/// Writes the lines of a report at the start of `line`, which has `FIX_LINE_BYTES` bytes. Returns their length; 0 if neither the
/// fix nor the satellites have changed.
size_t fix_line(const sextant_report *report, char *line);

#endif
