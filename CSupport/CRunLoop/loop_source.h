// What wakes a thread's run loop and is served by it, also in a loop that is turned within a callback: a source of version 0,
// which Foundation's own sockets and streams use. Foundation's Swift module does not show them.

#ifndef SEXTANT_LOOP_SOURCE_H
#define SEXTANT_LOOP_SOURCE_H

/// A run loop, counted by the two functions below.
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

/// A source that calls `perform` with `info` whenever it was signalled; when the last user of the source is gone, `release` is
/// called with `info`.
static inline c_loop_source c_loop_source_make(void *info, void (*perform)(void *), void (*release)(const void *)) {
  c_loop_source_context context = {0};
  context.info = info;
  context.release = release;
  context.perform = perform;
  return c_loop_source_create(0, 0, &context);
}

/// Whatever the loop does in its usual modes, it serves the source.
static inline void c_loop_attach(c_loop loop, c_loop_source source) { c_loop_add(loop, source, c_loop_common_modes); }
static inline void c_loop_detach(c_loop loop, c_loop_source source) { c_loop_remove(loop, source, c_loop_common_modes); }

#endif
