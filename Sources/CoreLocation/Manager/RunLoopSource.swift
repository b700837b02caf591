import CRunLoop.Source

/// A run loop's source: what is signalled from any thread is called by the loop's thread, by whatever run of the loop comes to
/// it, and a loop that runs once (`run(mode:before:)`) returns after it.
///
/// The unsafe part of this module: Core Foundation counts these objects itself. Each is held once here; the source holds the
/// body that it calls, until the loop has let go of it too.
@safe final class RunLoopSource: @unchecked Sendable {
  // Sendable: the functions below may be called from any thread, and the two never change.
  private let loop: c_loop
  private let source: c_loop_source

  /// - Parameter isMain: of the main thread's loop; else of the calling thread's.
  init(isMain: Bool, _ body: @escaping @Sendable () -> Void) {
    let held = unsafe Unmanaged.passRetained(Body(call: body)).toOpaque()
    unsafe loop = isMain ? c_loop_main() : c_loop_current()
    _ = unsafe c_loop_retain(loop)
    unsafe source = c_loop_source_make(
      held,
      { unsafe Unmanaged<Body>.fromOpaque($0!).takeUnretainedValue().call() },
      { unsafe Unmanaged<Body>.fromOpaque($0!).release() })
  }

  deinit {
    unsafe c_loop_release(source)
    unsafe c_loop_release(loop)
  }

  /// The loop serves it from now on, and waits for it.
  func attach() { unsafe c_loop_attach(loop, source) }

  /// No longer. A loop that sleeps sees then that it may have nothing left to wait for.
  ///
  /// The source is not invalidated, which would let go of the body while another thread is in it.
  func detach() {
    unsafe c_loop_detach(loop, source)
    unsafe c_loop_wake(loop)
  }

  /// The loop sleeps, so that it comes to what is signalled as soon as it is woken.
  var isLoopWaiting: Bool { unsafe c_loop_is_waiting(loop) != 0 }

  /// Has the body called on the loop's thread, once for all signals until then.
  func signal() {
    unsafe c_loop_source_signal(source)
    unsafe c_loop_wake(loop)
  }

  private final class Body {
    let call: @Sendable () -> Void
    init(call: @escaping @Sendable () -> Void) { self.call = call }
  }
}
