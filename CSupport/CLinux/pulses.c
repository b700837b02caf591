// SPDX-License-Identifier: Apache-2.0

// For the timers' signals.
#define _GNU_SOURCE

#include "CTiming.h"

#include <errno.h>
#include <linux/pps.h>
#include <linux/tty.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

int ctiming_pulse_edges(int descriptor) {
  struct pps_kparams parameters;
  memset(&parameters, 0, sizeof parameters);
  if (ioctl(descriptor, PPS_GETPARAMS, &parameters) < 0) return -errno;
  return parameters.mode & PPS_CAPTUREBOTH;
}

static struct ctiming_edge edge(uint32_t sequence, struct pps_ktime time) {
  return (struct ctiming_edge){sequence, {time.sec, time.nsec}};
}

int ctiming_fetch_pulse(int descriptor, int milliseconds, struct ctiming_edge *rising, struct ctiming_edge *falling) {
  struct pps_fdata data;
  memset(&data, 0, sizeof data);
  data.timeout.sec = milliseconds / 1000;
  data.timeout.nsec = milliseconds % 1000 * 1000000;
  if (ioctl(descriptor, PPS_FETCH, &data) < 0) return -errno;
  *rising = edge(data.info.assert_sequence, data.info.assert_tu);
  *falling = edge(data.info.clear_sequence, data.info.clear_tu);
  return 0;
}

int ctiming_stamp_carrier(int descriptor) {
  int discipline = N_PPS;
  return ioctl(descriptor, TIOCSETD, &discipline) < 0 ? -errno : 0;
}

// MARK: Pulses of a modem line

int ctiming_carrier(int descriptor) {
  int lines = 0;
  if (ioctl(descriptor, TIOCMGET, &lines) < 0) return -errno;
  return (lines & TIOCM_CD) != 0;
}

static void interrupt(int signal) { (void)signal; }

/// A timer that interrupts system calls of the calling thread after `milliseconds`, repeatedly: one signal may arrive
/// before the call.
static int start_interrupts(int milliseconds, timer_t *timer) {
  struct sigaction action = {.sa_handler = interrupt};
  if (sigaction(SIGRTMIN, &action, NULL) < 0) return -errno;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
  // glibc before 2.41 has no name for it.
  event._sigev_un._tid = gettid();
  if (timer_create(CLOCK_MONOTONIC, &event, timer) < 0) return -errno;
  struct timespec period = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  struct itimerspec interval = {period, period};
  timer_settime(*timer, 0, &interval, NULL);
  return 0;
}

int ctiming_wait_carrier(int descriptor, int milliseconds, struct ctiming_time *time) {
  timer_t timer;
  int result = start_interrupts(milliseconds, &timer);
  if (result < 0) return result;
  result = ioctl(descriptor, TIOCMIWAIT, TIOCM_CD) < 0 ? -errno : 0;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  timer_delete(timer);
  if (result == -EINTR) return -ETIMEDOUT;
  if (result < 0) return result;
  *time = (struct ctiming_time){now.tv_sec, (int32_t)now.tv_nsec};
  return ctiming_carrier(descriptor);
}
