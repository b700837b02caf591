#include "CIIO.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <sys/ioctl.h>

// As <linux/iio/events.h> has it, which Debian's kernel headers for user space may lack.
#define EVENT_DESCRIPTOR _IOR('i', 0x90, int)

int ciio_open_events(int device) {
  int descriptor = -1;
  if (ioctl(device, EVENT_DESCRIPTOR, &descriptor) < 0) return -errno;
  if (fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0 || fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0) return -errno;
  return descriptor;
}
