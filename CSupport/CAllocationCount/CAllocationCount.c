#include "CAllocationCount.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_ulong count;

static void tick(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

unsigned long c_allocation_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

unsigned long c_allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if __has_feature(address_sanitizer)

// The sanitizer stands before the C library's functions itself, and calls this of every allocation.
void __sanitizer_malloc_hook(const volatile void *memory, size_t size);

void __sanitizer_malloc_hook(const volatile void *memory, size_t size) {
  (void)memory;
  (void)size;
  tick();
}

#else

// glibc's own names of the functions that the definitions below stand before.
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
