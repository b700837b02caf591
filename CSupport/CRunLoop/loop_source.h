// SPDX-License-Identifier: Apache-2.0

// A source of version 0, which wakes a thread's run loop and is processed by it, also inside a callback that runs the
// loop. Foundation's own sockets and streams use such sources; its Swift module does not export them.

#ifndef SEXTANT_LOOP_SOURCE_H
#define SEXTANT_LOOP_SOURCE_H

/// A run loop, whose references are counted by c_loop_retain and c_loop_release.
typedef void *c_loop;
/// A source, counted likewise.
typedef void *c_loop_source;

typedef struct {
  long version;
  void *info;
  const void *(*retain)(const void *info);
  void (*release)(const void *info);
  const void *(*copy_description)(const void *info);
  unsigned char (*equal)(const void *, const void *);
  unsigned long (*hash)(const void *info);
  void (*schedule)(void *info, c_loop, const void *mode);
  void (*cancel)(void *info, c_loop, const void *mode);
  void (*perform)(void *info);
} c_loop_source_context;

extern const void *const c_loop_common_modes __asm__("kCFRunLoopCommonModes");
c_loop c_loop_current(void) __asm__("CFRunLoopGetCurrent");
c_loop c_loop_main(void) __asm__("CFRunLoopGetMain");
unsigned char c_loop_is_waiting(c_loop) __asm__("CFRunLoopIsWaiting");
void c_loop_wake(c_loop) __asm__("CFRunLoopWakeUp");
c_loop_source c_loop_source_create(const void *allocator, long order, c_loop_source_context *)
    __asm__("CFRunLoopSourceCreate");
void c_loop_source_signal(c_loop_source) __asm__("CFRunLoopSourceSignal");
void c_loop_add(c_loop, c_loop_source, const void *mode) __asm__("CFRunLoopAddSource");
void c_loop_remove(c_loop, c_loop_source, const void *mode) __asm__("CFRunLoopRemoveSource");
const void *c_loop_retain(const void *) __asm__("CFRetain");
void c_loop_release(const void *) __asm__("CFRelease");

/// Returns a source that calls `perform` with `info` after each signal, and `release` with `info` once its last reference is
/// released.
static inline c_loop_source c_loop_source_make(void *info, void (*perform)(void *), void (*release)(const void *)) {
  c_loop_source_context context = {0};
  context.info = info;
  context.release = release;
  context.perform = perform;
  return c_loop_source_create(0, 0, &context);
}

/// Adds the source to all common modes of the loop.
static inline void c_loop_attach(c_loop loop, c_loop_source source) { c_loop_add(loop, source, c_loop_common_modes); }
static inline void c_loop_detach(c_loop loop, c_loop_source source) { c_loop_remove(loop, source, c_loop_common_modes); }

#endif
