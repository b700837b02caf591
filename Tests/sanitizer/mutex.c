// SPDX-License-Identifier: Apache-2.0

// Preloaded by `Tests/sanitizer/threads.sh`: reports the operations of Swift's `Mutex` in its own library to the thread
// sanitizer.
//
// The compiler copies the uncontended lock into the program, where the sanitizer sees its atomic operations. A
// contended lock is acquired and released by functions of libswiftSynchronization, which is not compiled with the
// sanitizer; without this file the sanitizer reports each value that such a lock protects.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// The sanitizer's runtime is in the program; weak, so that a program without it runs too (tsan_interface.h).
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// Methods of a non-copyable value: swiftcall passes its address in the register of the context.
#define METHOD __attribute__((swiftcall))
#define SELF void *self __attribute__((swift_context))

METHOD void lock(uint32_t thread, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
METHOD void lock(uint32_t thread, SELF) {
  METHOD void (*original)(uint32_t, SELF) = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
  original(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

METHOD _Bool tryLock(SELF) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
METHOD _Bool tryLock(SELF) {
  METHOD _Bool (*original)(SELF) = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
  _Bool isLocked = original(self);
  if (isLocked && __tsan_acquire) __tsan_acquire(self);
  return isLocked;
}

METHOD void unlock(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
METHOD void unlock(SELF) {
  METHOD void (*original)(SELF) = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
  if (__tsan_release) __tsan_release(self);
  original(self);
}
