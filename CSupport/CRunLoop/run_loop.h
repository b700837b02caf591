// The run loop by its functions of C, with which small programs wait: `CFRunLoopRun()`, and
// `CFRunLoopStop(CFRunLoopGetCurrent())` when they have their location. Foundation on Linux has them inside, and its other
// libraries use them from there; its Swift module does not show them.

#ifndef SEXTANT_RUN_LOOP_H
#define SEXTANT_RUN_LOOP_H

/// A thread's run loop. Not by Core Foundation's name, which Swift would take for an object to be counted: these live as long
/// as their thread.
typedef struct c_run_loop *c_run_loop;

/// That of the calling thread.
c_run_loop CFRunLoopGetCurrent(void);
/// That of the main thread.
c_run_loop CFRunLoopGetMain(void);
/// Runs the calling thread's until it is stopped or nothing is left to wait for.
void CFRunLoopRun(void);
/// Ends the innermost run of a loop, from any thread.
void CFRunLoopStop(c_run_loop rl);

/// Seconds since the beginning of 2001, UTC.
double CFAbsoluteTimeGetCurrent(void);

#endif
