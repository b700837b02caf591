import LocationService
import Positioning
import Synchronization

/// Ends the iterations of a session's diagnostics when the session is invalidated. A session that is merely let go of does not
/// end them: they are made of it in one expression.
final class SessionEnd: Sendable {
  private struct State {
    var isOver = false
    var nextNumber = 0
    var iterations: [Int: @Sendable () -> Void] = [:]
  }
  private let state = Mutex(State())

  /// An iteration begins; `body` ends it, at once if the session is over. What is returned is for `forget`.
  func begin(_ body: @escaping @Sendable () -> Void) -> Int? {
    let number: Int? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.nextNumber += 1
      state.iterations[state.nextNumber] = body
      return state.nextNumber
    }
    if number == nil { body() }
    return number
  }

  func forget(_ number: Int) { state.withLock { state in state.iterations[number] = nil } }

  func finish() {
    let bodies = state.withLock { state in
      defer { (state.isOver, state.iterations) = (true, [:]) }
      return Array(state.iterations.values)
    }
    for body in bodies { body() }
  }
}

/// One iteration of a session's diagnostics: what stands in its way now, then each change. Its end, that of its task, or the
/// invalidation of the session ends it.
final class SessionDiagnostics {
  /// Yields what is new to this session; the service calls it under its lock.
  private final class Reader: SessionReader, @unchecked Sendable {
    // Sendable: `last` is touched under the service's lock alone.
    private let continuation: AsyncStream<Diagnostic>.Continuation
    private let relevant: Diagnostic
    private var last: Diagnostic?

    init(_ continuation: AsyncStream<Diagnostic>.Continuation, relevant: Diagnostic) {
      self.continuation = continuation
      self.relevant = relevant
    }

    func receive(_ diagnostic: Diagnostic) {
      let diagnostic = diagnostic.intersection(relevant)
      if diagnostic == last { return }
      last = diagnostic
      continuation.yield(diagnostic)
    }
  }

  private let service: LocationService
  private let id: Int
  private var iterator: AsyncStream<Diagnostic>.Iterator

  /// - Parameter relevant: what concerns the session.
  init(relevant: Diagnostic, service: LocationService, until end: SessionEnd) {
    let (stream, continuation) = AsyncStream.makeStream(of: Diagnostic.self)
    self.service = service
    // Before anything is yielded: an iteration of a session that is over has nothing to tell.
    let number = end.begin { continuation.finish() }
    let id = service.beginSessionDiagnostics(Reader(continuation, relevant: relevant))
    continuation.onTermination = { _ in
      service.endSessionDiagnostics(id)
      if let number { end.forget(number) }
    }
    self.id = id
    iterator = stream.makeAsyncIterator()
  }

  deinit { service.endSessionDiagnostics(id) }

  func next() async -> Diagnostic? {
    var iterator = iterator
    defer { self.iterator = iterator }
    return await iterator.next()
  }
}

extension Diagnostic {
  /// What can stand in the way of any session.
  static let ofSessions: Diagnostic = [
    .authorizationDenied, .authorizationDeniedGlobally, .authorizationRestricted, .insufficientlyInUse,
    .serviceSessionRequired, .authorizationRequestInProgress,
  ]
}
