// Starts a program with pipes at its standard streams. The functions that do this are GNU extensions, which Swift's module of
// the C library does not have.
#ifndef C_SPAWN_H
#define C_SPAWN_H

struct sextant_child {
  int process;
  // The ends of the pipes to its standard input, output and error; output does not block. All close on exec.
  int input, output, error;
};

/// Starts a program, posix_spawn(3). It inherits the environment and the folder but no other descriptor, begins with the
/// default actions of all signals and none blocked, and is in a session of its own: keys that interrupt this program do not
/// reach it.
///
/// Returns 0 or an error number.
int sextant_spawn(const char *program, char *const arguments[], struct sextant_child *child);

#endif
