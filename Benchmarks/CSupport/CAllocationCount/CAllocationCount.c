// SPDX-License-Identifier: Apache-2.0
#include "CAllocationCount.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_ulong count;

static void tick(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

unsigned long c_allocation_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if __has_feature(address_sanitizer)

// The sanitizer replaces the C library's functions itself, and calls this hook for every allocation.
void __sanitizer_malloc_hook(const volatile void *memory, size_t size);

void __sanitizer_malloc_hook(const volatile void *memory, size_t size) {
  (void)memory;
  (void)size;
  tick();
}

size_t __sanitizer_get_current_allocated_bytes(void);

unsigned long c_allocated_bytes(void) { return __sanitizer_get_current_allocated_bytes(); }

#else

// A thread keeps up to seven freed blocks of each size for its next allocation (glibc's thread cache), and mallinfo2
// counts these as in use: over a day they add up to tens of kilobytes. So all of them are allocated, subtracted, and
// freed again.
enum { cached_sizes = 64, cached_blocks = 7, smallest_block = 24, size_step = 16 };

unsigned long c_allocated_bytes(void) {
  void *taken[cached_sizes * cached_blocks];
  unsigned long bytes = 0;
  for (int i = 0; i < cached_sizes * cached_blocks; i++) {
    taken[i] = malloc(smallest_block + (unsigned)(i / cached_blocks) * size_step);
    // Each block has its size before it.
    if (taken[i] != NULL) bytes += malloc_usable_size(taken[i]) + sizeof(size_t);
  }
  struct mallinfo2 info = mallinfo2();
  for (int i = 0; i < cached_sizes * cached_blocks; i++) free(taken[i]);
  return info.uordblks + info.hblkhd - bytes;
}

// glibc's internal names of the functions that the definitions below replace.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  tick();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  tick();
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  tick();
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  tick();
  return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
  tick();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  tick();
  void *found = __libc_memalign(alignment, size);
  if (found == NULL) return ENOMEM;
  *memory = found;
  return 0;
}

#endif
