// SPDX-License-Identifier: Apache-2.0

// The kernel's PPS pulses, and the shared memory and messages of time daemons. Their structures are the platform's own
// (`long`, `time_t`), so the C compiler lays them out. Each function returns 0 (or the value it names) on success and
// the negative errno on failure, unless its comment differs.
#ifndef SEXTANT_CTIMING_H
#define SEXTANT_CTIMING_H

#include <stddef.h>
#include <stdint.h>

/// A time since 1970.
struct ctiming_time {
  int64_t seconds;
  int32_t nanoseconds;
};

struct ctiming_sample {
  /// The receiver's time, and the system's at the same moment.
  struct ctiming_time real, system;
  /// The first minus the second, seconds.
  double offset;
  int32_t leap;
  /// A power of two, seconds.
  int32_t precision;
};

// MARK: chronyd: chrony.conf(5), "refclock", driver SOCK

/// Writes the message with a sample. Returns its length, or 0 if it does not fit.
size_t ctiming_sock_message(const struct ctiming_sample *sample, uint8_t *bytes, size_t capacity);
/// Returns a datagram socket connected to the socket at `path`, non-blocking and closed on exec.
int ctiming_connect(const char *path);
/// send(2) without SIGPIPE.
int ctiming_send(int socket, const uint8_t *bytes, size_t count);

// MARK: ntpd: "Shared Memory Driver" (driver 28)

/// shmget(2) and shmat(2) of a unit's segment, which is created if it is absent: its identifier.
int ctiming_attach(int unit, int permissions, void **segment);
/// Writes a sample as mode 1 requires: the count is odd while the sample changes.
void ctiming_put(void *segment, const struct ctiming_sample *sample);
/// The number of processes that have the segment attached.
int ctiming_attached(int identifier);
/// shmdt(2). The segment remains.
void ctiming_detach(void *segment);

// MARK: Pulses: <linux/pps.h>

struct ctiming_edge {
  uint32_t sequence;
  struct ctiming_time time;
};

/// PPS_GETPARAMS: which edges a source stamps: 1 the rising one (assert), 2 the falling one (clear), 3 both.
int ctiming_pulse_edges(int descriptor);
/// PPS_FETCH: waits for the next edge, at most `milliseconds` (-ETIMEDOUT), and returns the newest edges.
int ctiming_fetch_pulse(int descriptor, int milliseconds, struct ctiming_edge *rising, struct ctiming_edge *falling);
/// TIOCSETD with N_PPS: the kernel stamps changes of the line's carrier detect, with its own /dev/ppsN.
int ctiming_stamp_carrier(int descriptor);

// MARK: Pulses of a modem line without the kernel's stamps: ioctl_tty(2), "Modem control"

/// TIOCMGET: 1 while carrier detect is on, else 0; -ENOTTY for a line without modem lines.
int ctiming_carrier(int descriptor);
/// TIOCMIWAIT: waits for a change of carrier detect, at most about `milliseconds` (-ETIMEDOUT), and returns its state after the change,
/// and the time at which the caller resumed. The system call has no timeout: a timer interrupts it with SIGRTMIN to
/// this thread.
int ctiming_wait_carrier(int descriptor, int milliseconds, struct ctiming_time *time);

#endif
