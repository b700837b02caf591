// SPDX-License-Identifier: Apache-2.0

// The C functions of the run loop, with which small programs wait: `CFRunLoopRun()`, and
// `CFRunLoopStop(CFRunLoopGetCurrent())` once they have their location. Foundation on Linux contains them for its other
// libraries; its Swift module does not export them.

#ifndef SEXTANT_RUN_LOOP_H
#define SEXTANT_RUN_LOOP_H

/// A thread's run loop, which exists as long as the thread. It does not have Core Foundation's name, because Swift
/// would import that as a reference-counted object.
typedef struct c_run_loop *c_run_loop;

/// Returns the run loop of the calling thread.
c_run_loop CFRunLoopGetCurrent(void);
/// Returns the run loop of the main thread.
c_run_loop CFRunLoopGetMain(void);
/// Runs the calling thread's loop until it is stopped or has no source to wait for.
void CFRunLoopRun(void);
/// Ends the innermost run of a loop, from any thread.
void CFRunLoopStop(c_run_loop rl);

/// Seconds since the beginning of 2001, UTC.
double CFAbsoluteTimeGetCurrent(void);

#endif
