// SPDX-License-Identifier: Apache-2.0

import Messages
import Positioning
import Synchronization

/// An activity that counts as use of the program while it is in the background, for the permission "when in use". It begins in
/// the foreground and lasts as long as the object exists (SS-2).
public final class CLBackgroundActivitySession: Sendable {
  private let service: any LocationService
  private let request: SessionRequest
  private let end = SessionEnd()

  public convenience init() { self.init(service: Service.shared) }

  init(service: any LocationService) {
    self.service = service
    request = SessionRequest(service.beginBackgroundActivity()) { service.endBackgroundActivity($0) }
  }

  /// Ends the activity.
  public func invalidate() {
    request.end()
    end.finish()
  }

  /// The reason why nothing is delivered.
  public struct Diagnostic: Sendable {
    private let content: Positioning.Diagnostic
    init(_ content: Positioning.Diagnostic) { self.content = content }

    public var authorizationDenied: Bool { content.contains(.authorizationDenied) }
    public var authorizationDeniedGlobally: Bool { content.contains(.authorizationDeniedGlobally) }
    public var authorizationRestricted: Bool { content.contains(.authorizationRestricted) }
    public var insufficientlyInUse: Bool { content.contains(.insufficientlyInUse) }
    public var serviceSessionRequired: Bool { content.contains(.serviceSessionRequired) }
    public var authorizationRequestInProgress: Bool { content.contains(.authorizationRequestInProgress) }
  }

  public var diagnostics: Diagnostics { Diagnostics(relevant: .ofSessions, service: service, end: end) }

  /// The diagnostic now, then each change.
  public struct Diagnostics: AsyncSequence, Sendable {
    public typealias Element = Diagnostic
    let relevant: Positioning.Diagnostic
    let service: any LocationService
    let end: SessionEnd

    public struct Iterator: AsyncIteratorProtocol {
      private let diagnostics: SessionDiagnostics

      fileprivate init(_ diagnostics: SessionDiagnostics) { self.diagnostics = diagnostics }

      /// Returns nil after the cancellation of the task or the invalidation of the session.
      public mutating func next() async throws -> Diagnostic? { await diagnostics.next().map(Diagnostic.init) }
    }

    public func makeAsyncIterator() -> Iterator {
      Iterator(SessionDiagnostics(relevant: relevant, service: service, until: end))
    }
  }
}

/// The number of a session at the service, which is ended once: at the invalidation, or with the session's object.
final class SessionRequest: Sendable {
  /// nil after the end.
  private let id: Mutex<Int?>
  private let body: @Sendable (Int) -> Void

  init(_ id: Int, end body: @escaping @Sendable (Int) -> Void) {
    self.id = Mutex(id)
    self.body = body
  }

  deinit { end() }

  func end() {
    let id = id.withLock { id in
      defer { id = nil }
      return id
    }
    if let id { body(id) }
  }
}

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
