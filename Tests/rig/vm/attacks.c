// SPDX-License-Identifier: Apache-2.0

// attacks.c - what a program that has taken over sextantd would try. guest-service.sh runs it in the sandbox of sextantd.service,
// where each attack but the last has to be refused, and as root without a sandbox, where each has to succeed: otherwise its refusal
// would prove nothing.
// usage: attacks STATE-FOLDER      prints a line for each attack: NAME: done, or NAME: refused (REASON)
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Prints the result of an attack whose system call returned -1, or not.
static void report(const char *name, long result) {
  int error = errno;
  if (result >= 0) printf("%s: done\n", name);
  else printf("%s: refused (%s)\n", name, strerrorname_np(error));
}

static long opens(const char *path, int flags) {
  int file = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file >= 0) close(file);
  return file;
}

// Creates a file, and removes it.
static long creates(const char *path) {
  long result = opens(path, O_WRONLY | O_CREAT | O_EXCL);
  if (result >= 0) unlink(path);
  return result;
}

static long makes_socket(int family, int type, int protocol) {
  int made = socket(family, type | SOCK_CLOEXEC, protocol);
  if (made >= 0) close(made);
  return made;
}

// Runs an attack in a separate process, because it changes the process; returns its result, with errno.
static long apart(long (*attack)(const char *), const char *argument) {
  int *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) exit(71);
  fflush(stdout);
  *shared = 0;
  pid_t child = fork();
  if (child == 0) {
    long result = attack(argument);
    *shared = result < 0 ? errno : 0;
    _exit(0);
  }
  waitpid(child, NULL, 0);
  errno = *shared;
  munmap(shared, sizeof *shared);
  return errno ? -1 : 0;
}

static long unshares_user(const char *unused) { (void)unused; return unshare(CLONE_NEWUSER); }
static long unshares_mounts(const char *unused) { (void)unused; return unshare(CLONE_NEWNS); }
static long becomes_root(const char *unused) { (void)unused; return setresuid(0, 0, 0); }
static long changes_root(const char *folder) { return chroot(folder); }
static long runs_in_real_time(const char *unused) {
  struct sched_param parameter = {.sched_priority = 1};
  (void)unused;
  return sched_setscheduler(0, SCHED_FIFO, &parameter);
}
static long mounts(const char *folder) {
  long result = mount("none", folder, "tmpfs", 0, NULL);
  if (result == 0) umount(folder);
  return result;
}

// Another process of the same user.
static long traces(const char *unused) {
  (void)unused;
  pid_t victim = fork();
  if (victim == 0) {
    pause();
    _exit(0);
  }
  long result = ptrace(PTRACE_ATTACH, victim, NULL, NULL);
  int error = errno;
  kill(victim, SIGKILL);
  waitpid(victim, NULL, 0);
  errno = error;
  return result;
}

static long reads_memory(const char *unused) {
  static char secret[8] = "secret", copy[8];
  struct iovec from = {secret, sizeof secret}, to = {copy, sizeof copy};
  (void)unused;
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0);
}

// Copies this program into a file or a descriptor of memory, and executes it with the argument `nothing`.
static long executes_copy(int copy, const char *path) {
  static char buffer[65536];
  int program = open("/proc/self/exe", O_RDONLY);
  if (program < 0 || copy < 0) return -1;
  for (ssize_t count; (count = read(program, buffer, sizeof buffer)) > 0;)
    if (write(copy, buffer, (size_t)count) != count) return -1;
  char *const arguments[] = {"attacks", "nothing", NULL}, *const environment[] = {NULL};
  if (!path) {
    fexecve(copy, arguments, environment);
    return -1;
  }
  fchmod(copy, 0700);
  close(copy);
  execve(path, arguments, environment);
  int error = errno;
  unlink(path);
  errno = error;
  return -1;
}
static long executes_file(const char *path) {
  unlink(path);
  return executes_copy(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700), path);
}
static long executes_memory(const char *unused) {
  (void)unused;
  return executes_copy(memfd_create("attack", MFD_CLOEXEC), NULL);
}

static long maps_code(const char *unused) {
  (void)unused;
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long makes_set_user(const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
  if (file < 0) return -1;
  long result = fchmod(file, 04755);
  int error = errno;
  close(file);
  unlink(path);
  errno = error;
  return result;
}

// The kernel refuses an empty module as ENOEXEC only after it has allowed to load one.
static long loads_module(const char *unused) {
  (void)unused;
  long result = syscall(SYS_init_module, "", 1L, "");
  return result < 0 && errno == ENOEXEC ? 0 : result;
}

// The numbers of /dev/mem.
static long makes_device(const char *path) {
  long result = mknod(path, S_IFCHR | 0600, 1 << 8 | 1);
  if (result == 0) unlink(path);
  return result;
}

static long sets_clock(const char *unused) {
  struct timespec now;
  (void)unused;
  clock_gettime(CLOCK_REALTIME, &now);
  return clock_settime(CLOCK_REALTIME, &now);
}

static long sets_name(const char *unused) {
  char name[65] = "";
  (void)unused;
  gethostname(name, 64);
  return sethostname(name, strlen(name));
}

static long loads_filter(const char *unused) {
  // BPF_MAP_CREATE of an array with an element of four bytes (linux/bpf.h).
  struct { unsigned type, key, value, entries, flags; char rest[108]; } map = {2, 4, 4, 1, 0, {0}};
  (void)unused;
  return syscall(SYS_bpf, 0, &map, sizeof map);
}

static long counts_events(const char *unused) {
  // PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, of all processes at the first processor (linux/perf_event.h).
  struct { unsigned type, size; unsigned long config; char rest[112]; } event = {1, 128, 0, {0}};
  (void)unused;
  return syscall(SYS_perf_event_open, &event, -1, 0, -1, 0);
}

int main(int count, char **arguments) {
  static char file[4096], messages[4096];
  if (count != 2) return 64;
  // The copy that was executed.
  if (strcmp(arguments[1], "nothing") == 0) return 0;

  snprintf(file, sizeof file, "%s/attack", arguments[1]);
  report("read /etc/shadow", opens("/etc/shadow", O_RDONLY));
  report("read the home of a user", opens("/home/ada", O_RDONLY | O_DIRECTORY));
  report("read the environment of process 1", opens("/proc/1/environ", O_RDONLY));
  report("open the memory of process 1", opens("/proc/1/mem", O_RDWR));
  report("read /etc/shadow through /proc/1/root", opens("/proc/1/root/etc/shadow", O_RDONLY));
  report("create a file in /etc", creates("/etc/attack"));
  report("create a file in /etc/sextant", creates("/etc/sextant/attack"));
  report("create a file in /usr/local/bin", creates("/usr/local/bin/attack"));
  report("create a file in /var/lib", creates("/var/lib/attack"));
  report("create a file in /etc through /proc/1/root", creates("/proc/1/root/etc/attack"));
  report("write a kernel setting", opens("/proc/sys/kernel/core_pattern", O_WRONLY));
  report("write the control groups", opens("/sys/fs/cgroup/cgroup.procs", O_WRONLY));
  report("read the disk", opens("/dev/attacked-disk", O_RDONLY));
  report("read the memory of the machine", opens("/dev/attacked-memory", O_RDONLY));
  report("open the log of the kernel", opens("/dev/attacked-log", O_RDONLY));
  report("make a device", apart(makes_device, file));
  report("socket of IPv4", makes_socket(AF_INET, SOCK_STREAM, 0));
  report("socket of IPv6", makes_socket(AF_INET6, SOCK_DGRAM, 0));
  report("raw socket", makes_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  report("packet socket", makes_socket(AF_PACKET, SOCK_RAW, 0));
  report("trace a process", apart(traces, NULL));
  report("read the memory of a process", apart(reads_memory, NULL));
  report("load a module", apart(loads_module, NULL));
  report("new namespace of users", apart(unshares_user, NULL));
  report("new namespace of mounts", apart(unshares_mounts, NULL));
  report("mount a file system", apart(mounts, arguments[1]));
  report("change the root folder", apart(changes_root, arguments[1]));
  report("become root", apart(becomes_root, NULL));
  const char *const places[] = {file, "/run/sextant/attack", "/tmp/attack", "/var/tmp/attack", "/dev/shm/attack"};
  const char *const names[] = {"its state folder", "/run/sextant", "/tmp", "/var/tmp", "/dev/shm"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    static char name[80];
    snprintf(name, sizeof name, "execute a file that it has written in %s", names[i]);
    report(name, apart(executes_file, places[i]));
    unlink(places[i]);
  }
  report("execute memory", apart(executes_memory, NULL));
  report("map memory that is writable and executable", apart(maps_code, NULL));
  report("make a set-user-ID file", apart(makes_set_user, file));
  report("schedule in real time", apart(runs_in_real_time, NULL));
  report("set the clock", apart(sets_clock, NULL));
  report("set the name of the machine", apart(sets_name, NULL));
  report("read the kernel's messages", klogctl(3, messages, sizeof messages));
  report("load a filter into the kernel", apart(loads_filter, NULL));
  report("count events of all processes", apart(counts_events, NULL));
  // Not refused: CAP_SYS_PTRACE opens the folders that other processes see, with the permissions of an ordinary user.
  report("create a file in the /tmp of process 1", creates("/proc/1/root/tmp/attack"));
  return 0;
}
