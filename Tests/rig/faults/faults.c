// SPDX-License-Identifier: Apache-2.0

// Makes one call of a program into the C library fail: preloaded (ld.so(8), LD_PRELOAD) into programs that are linked dynamically.
//
// It counts the calls that the program's own code, Swift's module Glibc and libudev make; calls from the language's
// runtime and from within the C library are not counted. A call is identified by its location: the return addresses of
// the program's functions on the stack, which the debug build keeps by frame pointers. The location is the same in each
// run, while the number of a call among all calls depends on timing.
//
// FAULT_FILE   a file of the size of `struct record`, which the driver reads: the places, and what was injected
// FAULT_CALL   the name of the call that fails, FAULT_PLACE its place in hexadecimal, FAULT_TURN its turn there (from 1;
//              0: each one), FAULT_ERROR the errno, or `short`: a read or write of one byte
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { PLACES = 4096, FRAMES = 9, RANGES = 4 };

struct place {
  uint64_t hash;
  char call[24];
  uint32_t turns;
  int32_t descriptor;
  int32_t flags;  // of the open file, -1 without one
  int32_t padding;
  uint64_t frames[FRAMES];
  char file[96];
};

struct record {
  uint32_t count;
  uint32_t injected;
  uint32_t full;
  uint32_t padding;
  struct place places[PLACES];
};

static struct record *record;
static const char *failing_call;
static uint64_t failing_place;
static uint32_t failing_turn;
static int failing_error;  // -1: a short read or write
static struct range { uintptr_t begin, end, base; int has_frames; } ranges[RANGES];
static int range_count;
static volatile char lock;

static int add_range(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size; (void)context;
  const char *name = info->dlpi_name;
  int program = !name || !*name;
  if (!program && !strstr(name, "libswiftGlibc") && !strstr(name, "libudev")) return 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[index];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || range_count == RANGES) continue;
    uintptr_t begin = info->dlpi_addr + header->p_vaddr;
    ranges[range_count++] = (struct range){begin, begin + header->p_memsz, info->dlpi_addr, !strstr(name ? name : "", "libudev")};
  }
  return 0;
}

static const struct range *range_of(uintptr_t address) {
  for (int index = 0; index < range_count; index++)
    if (address >= ranges[index].begin && address < ranges[index].end) return &ranges[index];
  return NULL;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULT_FILE");
  if (!path) return;
  long file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *memory = (void *)syscall(SYS_mmap, NULL, sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (memory == MAP_FAILED) return;
  dl_iterate_phdr(add_range, NULL);
  failing_call = getenv("FAULT_CALL");
  if (failing_call) {
    failing_place = strtoull(getenv("FAULT_PLACE"), NULL, 16);
    failing_turn = strtoul(getenv("FAULT_TURN"), NULL, 10);
    const char *error = getenv("FAULT_ERROR");
    failing_error = strcmp(error, "short") ? atoi(error) : -1;
  }
  record = memory;
}

// Whether this call must fail: the errno, -1 for a short one, 0 otherwise.
static int decide(const char *call, int descriptor, uintptr_t *frame) {
  if (!record) return 0;
  uintptr_t address = frame[1];
  const struct range *range = range_of(address);
  if (!range) return 0;
  uint64_t frames[FRAMES] = {0};
  int count = 0;
  uint64_t hash = 14695981039346656037u;
  for (const char *letter = call; *letter; letter++) hash = (hash ^ (uint8_t)*letter) * 1099511628211u;
  // Frames are at increasing addresses; 64 kB is far above the largest frame.
  for (int step = 0; step < 32 && count < FRAMES; step++) {
    range = range_of(address);
    if (range) {
      frames[count] = address - range->base;
      hash = (hash ^ frames[count++]) * 1099511628211u;
      if (!range->has_frames) break;
    }
    uintptr_t *next = (uintptr_t *)frame[0];
    if (next <= frame || (uintptr_t)next - (uintptr_t)frame > 65536 || ((uintptr_t)next & 7)) break;
    frame = next;
    address = frame[1];
  }
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {}
  struct place *place = NULL;
  for (uint32_t index = 0; index < record->count && !place; index++)
    if (record->places[index].hash == hash) place = &record->places[index];
  if (!place && record->count < PLACES) {
    place = &record->places[record->count++];
    place->hash = hash;
    strncpy(place->call, call, sizeof place->call - 1);
    memcpy(place->frames, frames, sizeof frames);
    place->descriptor = descriptor;
    place->flags = -1;
    if (descriptor >= 0) {
      char link[40];
      snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
      long length = syscall(SYS_readlinkat, AT_FDCWD, link, place->file, sizeof place->file - 1);
      if (length < 0) place->file[0] = 0;
      place->flags = (int)syscall(SYS_fcntl, descriptor, F_GETFL, 0);
    }
  }
  if (!place) record->full = 1;
  uint32_t turn = place ? ++place->turns : 0;
  int error = 0;
  if (failing_call && place && hash == failing_place && (failing_turn == 0 || turn == failing_turn) && !strcmp(call, failing_call)) {
    error = failing_error;
    record->injected++;
  }
  __atomic_clear(&lock, __ATOMIC_RELEASE);
  return error;
}

#define FRAME ((uintptr_t *)__builtin_frame_address(0))
#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

// A call that fails with a value and errno.
#define CALL(type, name, parameters, arguments, descriptor, failure) \
  type name parameters { \
    REAL(name); \
    int kept = errno; \
    int error = decide(#name, descriptor, FRAME); \
    if (error > 0) { errno = error; return failure; } \
    errno = kept; \
    return real arguments; \
  }

// A call that moves `size` bytes, only one of which is moved if it must be short.
#define TRANSFER(name, parameters, arguments, descriptor, size) \
  ssize_t name parameters { \
    REAL(name); \
    int kept = errno; \
    int error = decide(#name, descriptor, FRAME); \
    if (error > 0) { errno = error; return -1; } \
    errno = kept; \
    if (error < 0 && size > 1) size = 1; \
    return real arguments; \
  }

// A call that returns its error.
#define RETURNING(name, parameters, arguments) \
  int name parameters { \
    REAL(name); \
    int error = decide(#name, -1, FRAME); \
    if (error > 0) return error; \
    return real arguments; \
  }

TRANSFER(read, (int file, void *bytes, size_t size), (file, bytes, size), file, size)
TRANSFER(write, (int file, const void *bytes, size_t size), (file, bytes, size), file, size)
TRANSFER(pread, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at), file, size)
TRANSFER(pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at), file, size)
TRANSFER(send, (int file, const void *bytes, size_t size, int flags), (file, bytes, size, flags), file, size)
TRANSFER(recv, (int file, void *bytes, size_t size, int flags), (file, bytes, size, flags), file, size)
CALL(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags), file, -1)
CALL(ssize_t, recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags), file, -1)
ssize_t sendto(int file, const void *bytes, size_t size, int flags, __CONST_SOCKADDR_ARG address, socklen_t length) {
  REAL(sendto);
  int error = decide("sendto", file, FRAME);
  if (error > 0) { errno = error; return -1; }
  return real(file, bytes, size, flags, address, length);
}

// The descriptor is closed even after an error (close(2)).
int close(int file) {
  REAL(close);
  int error = decide("close", file, FRAME);
  int result = real(file);
  if (error > 0) { errno = error; return -1; }
  return result;
}

#define OPEN(name, first, descriptor, ...) \
  int name first { \
    REAL(name); \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); } \
    int error = decide(#name, descriptor, FRAME); \
    if (error > 0) { errno = error; return -1; } \
    return real(__VA_ARGS__, flags, mode); \
  }
OPEN(open, (const char *path, int flags, ...), -1, path)
OPEN(open64, (const char *path, int flags, ...), -1, path)
OPEN(openat, (int folder, const char *path, int flags, ...), -1, folder, path)
OPEN(openat64, (int folder, const char *path, int flags, ...), -1, folder, path)

int fcntl(int file, int command, ...) {
  REAL(fcntl);
  va_list list; va_start(list, command); void *argument = va_arg(list, void *); va_end(list);
  int error = decide("fcntl", file, FRAME);
  if (error > 0) { errno = error; return -1; }
  return real(file, command, argument);
}
int ioctl(int file, unsigned long request, ...) {
  REAL(ioctl);
  va_list list; va_start(list, request); void *argument = va_arg(list, void *); va_end(list);
  int error = decide("ioctl", file, FRAME);
  if (error > 0) { errno = error; return -1; }
  return real(file, request, argument);
}

CALL(int, fsync, (int file), (file), file, -1)
CALL(int, fdatasync, (int file), (file), file, -1)
CALL(int, ftruncate, (int file, off_t size), (file, size), file, -1)
CALL(off_t, lseek, (int file, off_t at, int from), (file, at, from), file, -1)
CALL(int, flock, (int file, int operation), (file, operation), file, -1)
CALL(int, fstat, (int file, struct stat *status), (file, status), file, -1)
CALL(int, stat, (const char *path, struct stat *status), (path, status), -1, -1)
CALL(int, lstat, (const char *path, struct stat *status), (path, status), -1, -1)
CALL(int, fstatat, (int folder, const char *path, struct stat *status, int flags), (folder, path, status, flags), -1, -1)
CALL(int, access, (const char *path, int mode), (path, mode), -1, -1)
CALL(int, faccessat, (int folder, const char *path, int mode, int flags), (folder, path, mode, flags), -1, -1)
CALL(int, fchownat, (int folder, const char *path, uid_t user, gid_t group, int flags), (folder, path, user, group, flags), -1, -1)
CALL(int, chmod, (const char *path, mode_t mode), (path, mode), -1, -1)
CALL(int, renameat, (int from, const char *old, int to, const char *new), (from, old, to, new), -1, -1)
CALL(int, unlink, (const char *path), (path), -1, -1)
CALL(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags), -1, -1)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, -1)
CALL(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), -1, -1)
CALL(int, rmdir, (const char *path), (path), -1, -1)
CALL(char *, mkdtemp, (char *path), (path), -1, NULL)
CALL(int, symlink, (const char *target, const char *path), (target, path), -1, -1)
CALL(ssize_t, readlink, (const char *path, char *bytes, size_t size), (path, bytes, size), -1, -1)
CALL(char *, realpath, (const char *path, char *bytes), (path, bytes), -1, NULL)
CALL(ssize_t, getxattr, (const char *path, const char *name, void *bytes, size_t size), (path, name, bytes, size), -1, -1)
CALL(int, statfs, (const char *path, struct statfs *status), (path, status), -1, -1)
CALL(DIR *, fdopendir, (int file), (file), file, NULL)
CALL(struct dirent *, readdir, (DIR *folder), (folder), -1, NULL)
CALL(int, epoll_create1, (int flags), (flags), -1, -1)
CALL(int, epoll_ctl, (int epoll, int operation, int file, struct epoll_event *event), (epoll, operation, file, event), file, -1)
CALL(int, epoll_wait, (int epoll, struct epoll_event *events, int count, int limit), (epoll, events, count, limit), epoll, -1)
CALL(int, poll, (struct pollfd *files, nfds_t count, int limit), (files, count, limit), -1, -1)
CALL(int, eventfd, (unsigned value, int flags), (value, flags), -1, -1)
CALL(int, timerfd_create, (clockid_t clock, int flags), (clock, flags), -1, -1)
CALL(int, signalfd, (int file, const sigset_t *signals, int flags), (file, signals, flags), -1, -1)
CALL(int, inotify_init1, (int flags), (flags), -1, -1)
CALL(int, inotify_add_watch, (int file, const char *path, uint32_t mask), (file, path, mask), file, -1)
CALL(int, pipe, (int files[2]), (files), -1, -1)
CALL(int, pipe2, (int files[2], int flags), (files, flags), -1, -1)
CALL(int, dup, (int file), (file), file, -1)
CALL(int, dup2, (int file, int number), (file, number), file, -1)
CALL(int, dup3, (int file, int number, int flags), (file, number, flags), file, -1)
CALL(int, socket, (int family, int type, int protocol), (family, type, protocol), -1, -1)
CALL(int, bind, (int file, __CONST_SOCKADDR_ARG address, socklen_t length), (file, address, length), file, -1)
CALL(int, listen, (int file, int length), (file, length), file, -1)
CALL(int, connect, (int file, __CONST_SOCKADDR_ARG address, socklen_t length), (file, address, length), file, -1)
CALL(int, accept4, (int file, __SOCKADDR_ARG address, socklen_t *length, int flags), (file, address, length, flags), file, -1)
CALL(int, setsockopt, (int file, int level, int name, const void *value, socklen_t length), (file, level, name, value, length), file, -1)
CALL(int, getsockopt, (int file, int level, int name, void *value, socklen_t *length), (file, level, name, value, length), file, -1)
CALL(int, getsockname, (int file, __SOCKADDR_ARG address, socklen_t *length), (file, address, length), file, -1)
CALL(int, getpeername, (int file, __SOCKADDR_ARG address, socklen_t *length), (file, address, length), file, -1)
CALL(void *, mmap, (void *at, size_t size, int access, int flags, int file, off_t offset), (at, size, access, flags, file, offset), file, MAP_FAILED)
CALL(int, posix_openpt, (int flags), (flags), -1, -1)
CALL(int, grantpt, (int file), (file), file, -1)
CALL(int, unlockpt, (int file), (file), file, -1)
CALL(pid_t, waitpid, (pid_t process, int *status, int options), (process, status, options), -1, -1)
RETURNING(pthread_create, (pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *context), (thread, attributes, main, context))
RETURNING(posix_spawn, (pid_t *process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
  char *const arguments[], char *const environment[]), (process, path, actions, attributes, arguments, environment))
RETURNING(ptsname_r, (int file, char *bytes, size_t size), (file, bytes, size))
