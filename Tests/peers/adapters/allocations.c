// SPDX-License-Identifier: Apache-2.0

/// Counts the allocations of a process that loads it first (LD_PRELOAD), and writes their number to the file ALLOCATIONS at its end.

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static atomic_ulong count;

void *malloc(size_t size) {
  count++;
  return __libc_malloc(size);
}

void *calloc(size_t members, size_t size) {
  count++;
  return __libc_calloc(members, size);
}

void *realloc(void *memory, size_t size) {
  count++;
  return __libc_realloc(memory, size);
}

__attribute__((destructor)) static void report(void) {
  unsigned long counted = count;
  const char *path = getenv("ALLOCATIONS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%lu\n", counted);
    fclose(file);
  }
}
