// SPDX-License-Identifier: Apache-2.0

// The calls and constants of Linux that Swift cannot import: variadic ioctl(2); structures whose headers clash or have
// nested arrays of pointers; headers that the Glibc module omits. Each function returns 0 (or the value it names) on
// success and the negative errno on failure, unless its comment differs. No function retries, keeps state or allocates.
#ifndef SEXTANT_CLINUX_H
#define SEXTANT_CLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Linux headers that can be imported but are missing from the Glibc module.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/xattr.h>

// MARK: Files

/// O_PATH of open(2) and AT_EMPTY_PATH of fchownat(2), which <fcntl.h> hides without _GNU_SOURCE.
extern const int clinux_o_path;
extern const int clinux_at_empty_path;

// MARK: Sockets

/// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC, which Glibc hides without _GNU_SOURCE: the descriptor or -errno.
int clinux_accept(int descriptor);

/// The process at the other end of a socket when it connected.
struct clinux_peer {
  int32_t process;
  uint32_t user;
  uint32_t group;
};
/// SO_PEERCRED.
int clinux_get_peer(int descriptor, struct clinux_peer *peer);
/// The user of the other end of a TCP connection in this network namespace, from sock_diag(7), or -errno: -ENOTCONN if
/// its process has closed it, -ENOENT if there is no such socket, or the kernel has no such table. A socket that is only shut down for writing
/// has its user.
int64_t clinux_tcp_user(int descriptor);
/// SO_PEERGROUPS: the supplementary groups of that process, and their number; -ERANGE if there are more than `capacity`.
int clinux_get_peer_groups(int descriptor, uint32_t *groups, int capacity);
/// SO_PEERPIDFD, since Linux 6.5: a descriptor of that process, closed on exec, or -errno. -ESRCH if the process is gone.
int clinux_get_peer_process(int descriptor);
/// The inode number of the other end of a connection, from sock_diag(7) with this end's inode number: 0 if the other
/// end is closed, or -errno; -ENOENT if the kernel has no such table.
int64_t clinux_peer_inode(int descriptor);
/// sendmsg(2) with a descriptor (SCM_RIGHTS in unix(7)) and without SIGPIPE: the number of bytes sent, or -errno.
int clinux_send_descriptor(int socket, const void *bytes, size_t count, int passed);
/// recvmsg(2): the number of bytes received, 0 at the end, or -errno. `passed` is the descriptor that came with them, closed
/// on exec, or -1. If several descriptors came, all but the first are closed.
int clinux_receive_descriptor(int socket, void *bytes, size_t count, int *passed);

// MARK: Serial lines and pseudo-terminals

/// A struct termios2 that only this library accesses: its layout differs between architectures.
struct cserial_settings {
  uint64_t storage[8];
};

/// The part of struct serial_icounter_struct that counts the errors on the line since the driver was loaded.
struct cserial_counters {
  int32_t framing;
  int32_t parity;
  int32_t overrun;
  int32_t buffer_overrun;
  int32_t breaks;
};

/// The modem lines as bits, as in ioctl_tty(2). The headers that define them clash with <asm/termbits.h>; the numbers
/// are the generic ones, which every architecture but MIPS uses.
enum cserial_line {
  CSERIAL_DTR = 0x002,
  CSERIAL_RTS = 0x004,
  CSERIAL_CTS = 0x020,
  CSERIAL_CD = 0x040,
  CSERIAL_RI = 0x080,
  CSERIAL_DSR = 0x100,
};

enum cserial_parity { CSERIAL_NO_PARITY, CSERIAL_ODD, CSERIAL_EVEN, CSERIAL_MARK, CSERIAL_SPACE };

/// The form of a character on the line: 5 to 8 data bits, one of cserial_parity, one or two stop bits.
struct cserial_form {
  uint8_t bits;
  uint8_t parity;
  bool two_stop_bits;
};

/// TCGETS2. -ENOTTY: the descriptor is not a terminal.
int cserial_get_settings(int descriptor, struct cserial_settings *settings);
/// TCSETS2: at once, without waiting for output.
int cserial_set_settings(int descriptor, const struct cserial_settings *settings);
/// Raw 8N1 as cfmakeraw(3), CLOCAL, CREAD, no flow control, no hang-up on close, VMIN 1, VTIME 0. The rate is
/// unchanged.
void cserial_make_raw(struct cserial_settings *settings);
/// The rate of both directions in baud: with its B constant if it has one, which tcgetattr(3) can read back, else with
/// BOTHER.
void cserial_set_rate(struct cserial_settings *settings, uint32_t rate);
/// The output rate in baud.
uint32_t cserial_rate(const struct cserial_settings *settings);
/// The form of a character, as the driver is to have it; a driver may have another one afterwards.
void cserial_set_character(struct cserial_settings *settings, struct cserial_form character);
struct cserial_form cserial_character(const struct cserial_settings *settings);
/// VMIN and VTIME.
void cserial_set_read_threshold(struct cserial_settings *settings, uint8_t minimum, uint8_t deciseconds);
/// Whether both select the same line settings.
bool cserial_same_settings(const struct cserial_settings *one, const struct cserial_settings *other);

/// TIOCEXCL or TIOCNXCL.
int cserial_set_exclusive(int descriptor, bool exclusive);
/// TIOCGEXCL: 1, 0 or -errno.
int cserial_is_exclusive(int descriptor);
/// TIOCGICOUNT.
int cserial_line_counters(int descriptor, struct cserial_counters *counters);
/// ASYNC_LOW_LATENCY from TIOCGSERIAL: 1, 0 or -errno.
int cserial_low_latency(int descriptor);
/// TIOCSSERIAL with ASYNC_LOW_LATENCY set or cleared, all else unchanged.
int cserial_set_low_latency(int descriptor, bool low_latency);
/// TIOCMGET: the lines that are asserted (bits of cserial_line).
int cserial_modem_lines(int descriptor, uint32_t *lines);
/// TIOCMBIS or TIOCMBIC: sets or clears the named lines; the others are unchanged.
int cserial_switch_modem_lines(int descriptor, uint32_t lines, bool on);
/// TCSBRK with 0: a break of a quarter of a second, after the output is sent.
int cserial_send_break(int descriptor);
/// TCSBRK with 1, as tcdrain(3): waits until the output is sent.
int cserial_drain(int descriptor);
/// TCFLSH with TCIFLUSH: discards received bytes that were not read.
int cserial_discard_input(int descriptor);
/// TIOCOUTQ: the bytes that were written but not yet sent, or -errno.
int cserial_unsent(int descriptor);

/// A new pseudo-terminal's master, unlocked, non-blocking, closed on exec: posix_openpt(3), grantpt(3), unlockpt(3).
int cserial_open_pty(void);
/// The node of the slave: ptsname_r(3).
int cserial_pty_slave_path(int master, char *path, size_t size);

// MARK: I2C: <linux/i2c-dev.h>

/// I2C_FUNCS: 1 if the adapter does plain transfers (I2C_FUNC_I2C), 0 if it supports only SMBus.
int ci2c_does_transfers(int descriptor);
/// I2C_RDWR: one transfer that writes `out_count` bytes and, after a repeated start, reads `in_count` bytes. Either may
/// be 0, but not both.
int ci2c_transfer(
    int descriptor, uint16_t address, const uint8_t *out, uint16_t out_count, uint8_t *in, uint16_t in_count);

// MARK: GPIO: <linux/gpio.h>, the character device, version 2

/// GPIO_GET_CHIPINFO_IOCTL: the number of lines of a chip.
int cgpio_line_count(int chip);
/// GPIO_V2_GET_LINEINFO_IOCTL: 1 if the line's name is `name`.
int cgpio_is_named(int chip, uint32_t offset, const char *name);
/// GPIO_V2_GET_LINE_IOCTL: the descriptor of the line, as an output that is active until the descriptor is closed.
int cgpio_open_output(int chip, uint32_t offset, int is_active_low, int is_active, const char *consumer);
/// GPIO_V2_LINE_SET_VALUES_IOCTL.
int cgpio_set(int line, int is_active);

// MARK: Sensors: <linux/iio/events.h>

/// IIO_GET_EVENT_FD_IOCTL: the descriptor of an IIO device's events, non-blocking; the negative errno on failure.
int ciio_open_events(int device);

// MARK: Child processes

struct sextant_child {
  int process;
  // The ends of the pipes to its standard input (-1 if its whole input is given), output and error; output does not block.
  // All close on exec.
  int input, output, error;
};

/// Starts a program, posix_spawn(3). It inherits the environment and the working directory but no other descriptor,
/// starts with the default actions of all signals and none blocked, and runs in its own session: keys that interrupt
/// this program do not reach it. With `input`, its standard input contains these `length` bytes, followed by end of
/// file.
///
/// Returns 0 or an error number: E2BIG if the input exceeds the capacity of the pipe, which is 64 KiB unless the system
/// lacks memory for pipes.
int sextant_spawn(
    const char *program, char *const arguments[], const void *input, size_t length, struct sextant_child *child);

#endif
