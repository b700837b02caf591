// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import Synchronization

/// Ends a session's iterations of diagnostics when the session is invalidated. The deallocation of the session does not
/// end them, because a program may make the session only for its diagnostics.
final class SessionEnd: Sendable {
  private struct State {
    var isOver = false
    var nextNumber = 0
    var iterations: [Int: @Sendable () -> Void] = [:]
  }
  private let state = Mutex(State())

  /// Adds an iteration, which `body` ends; it is called at once if the session is over. Returns the number for
  /// `remove`.
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

  func remove(_ number: Int) { state.withLock { state in state.iterations[number] = nil } }

  func finish() {
    let bodies = state.withLock { state in
      defer { (state.isOver, state.iterations) = (true, [:]) }
      return Array(state.iterations.values)
    }
    for body in bodies { body() }
  }
}

/// One iteration of a session's diagnostics. It ends with its task or with the invalidation of the session.
final class SessionDiagnostics {
  /// Yields changes that concern this session. The service calls it under its lock.
  private final class Reader: SessionReader, @unchecked Sendable {
    // Sendable: `last` is used only under the service's lock.
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

  private let service: any LocationService
  private let id: Int
  private var iterator: AsyncStream<Diagnostic>.Iterator

  /// - Parameter relevant: the flags that concern the session.
  init(relevant: Diagnostic, service: any LocationService, until end: SessionEnd) {
    let (stream, continuation) = AsyncStream.makeStream(of: Diagnostic.self)
    self.service = service
    // Before the first value: an iteration of a session that is over yields no value.
    let number = end.begin { continuation.finish() }
    let id = service.beginSessionDiagnostics(Reader(continuation, relevant: relevant))
    continuation.onTermination = { _ in
      service.endSessionDiagnostics(id)
      if let number { end.remove(number) }
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
  /// The flags that concern any session.
  static let ofSessions: Diagnostic = [
    .authorizationDenied, .authorizationDeniedGlobally, .authorizationRestricted, .insufficientlyInUse,
    .serviceSessionRequired, .authorizationRequestInProgress,
  ]
}
