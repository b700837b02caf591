// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

// A pipe whose ends are not the numbers of standard streams, which this program may have closed.
static int open_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  for (int i = 0; i < 2; i++) {
    if (ends[i] > STDERR_FILENO) continue;
    int low = ends[i];
    ends[i] = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(low);
  }
  return ends[0] < 0 || ends[1] < 0 ? EMFILE : 0;
}

static int spawn(const char *program, char *const arguments[], int pipes[3][2], int *process) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipes[0][0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[2][1], STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);

  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  int code = posix_spawn(process, program, &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

// Writes what the pipe must take at once.
static int write_whole(int pipe, const void *bytes, size_t length) {
  fcntl(pipe, F_SETFL, O_NONBLOCK);
  ssize_t written = write(pipe, bytes, length);
  if (written < 0 && errno != EAGAIN) return errno;
  return written == (ssize_t)length ? 0 : E2BIG;
}

int sextant_spawn(const char *program, char *const arguments[], const void *input, size_t length, struct sextant_child *child) {
  int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
  int code = 0;
  for (int i = 0; i < 3 && code == 0; i++) code = open_pipe(pipes[i]);
  // Its reader is still in this process: this raises no SIGPIPE.
  if (code == 0 && input) code = write_whole(pipes[0][1], input, length);
  if (code == 0) code = spawn(program, arguments, pipes, &child->process);
  int kept[3] = {input ? -1 : pipes[0][1], pipes[1][0], pipes[2][0]};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 2; j++) {
      if (pipes[i][j] >= 0 && (code != 0 || pipes[i][j] != kept[i])) close(pipes[i][j]);
    }
  }
  if (code != 0) return code;
  child->input = kept[0];
  child->output = kept[1];
  child->error = kept[2];
  fcntl(child->output, F_SETFL, O_NONBLOCK);
  return 0;
}
