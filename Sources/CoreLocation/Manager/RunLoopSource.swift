// SPDX-License-Identifier: Apache-2.0
import CRunLoop.Source

/// A source of a run loop. Any thread signals it and the loop's thread calls its body in the next iteration of the
/// loop; a loop that runs once (`run(mode:before:)`) returns after it.
///
/// The unsafe part of this module: Core Foundation counts the references to these objects itself. This type retains each
/// once; the source retains the body that it calls until the loop has released the source too.
@safe final class RunLoopSource: @unchecked Sendable {
  // Sendable: the C functions may be called from any thread, and the two properties never change.
  private let loop: c_loop
  private let source: c_loop_source

  /// - Parameter isMain: whether it is a source of the main thread's loop; otherwise of the calling thread's loop.
  init(isMain: Bool, _ body: @escaping @Sendable () -> Void) {
    let retained = unsafe Unmanaged.passRetained(Body(call: body)).toOpaque()
    unsafe loop = isMain ? c_loop_main() : c_loop_current()
    _ = unsafe c_loop_retain(loop)
    unsafe source = c_loop_source_make(
      retained,
      { unsafe Unmanaged<Body>.fromOpaque($0!).takeUnretainedValue().call() },
      { unsafe Unmanaged<Body>.fromOpaque($0!).release() })
  }

  deinit {
    unsafe c_loop_release(source)
    unsafe c_loop_release(loop)
  }

  /// Adds the source to the loop, which waits for it from now on.
  func attach() { unsafe c_loop_attach(loop, source) }

  /// Removes the source from the loop, and wakes the loop, which may have no other source to wait for.
  ///
  /// The source is not invalidated, which would release the body while another thread runs it.
  func detach() {
    unsafe c_loop_detach(loop, source)
    unsafe c_loop_wake(loop)
  }

  /// Whether the loop sleeps, so that it serves a signal as soon as it is woken.
  var isLoopWaiting: Bool { unsafe c_loop_is_waiting(loop) != 0 }

  /// Calls the body on the loop's thread, once for all signals until then.
  func signal() {
    unsafe c_loop_source_signal(source)
    unsafe c_loop_wake(loop)
  }

  private final class Body {
    let call: @Sendable () -> Void
    init(call: @escaping @Sendable () -> Void) { self.call = call }
  }
}
