// The request of <linux/iio/events.h> that Swift cannot import: ioctl(2) is variadic.
#ifndef SEXTANT_CIIO_H
#define SEXTANT_CIIO_H

/// IIO_GET_EVENT_FD_IOCTL: the descriptor of an IIO device's events, not blocking; the negative errno on failure.
int ciio_open_events(int device);

#endif
