// SPDX-License-Identifier: Apache-2.0

// libudev has no module map of its own.
#ifndef SEXTANT_CUDEV_SHIM_H
#define SEXTANT_CUDEV_SHIM_H

#include <libudev.h>

#endif
