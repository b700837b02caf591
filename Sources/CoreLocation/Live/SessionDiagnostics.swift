import LocationService
import Positioning

/// One iteration of a session's diagnostics: what stands in its way now, then each change. Its end, or that of its task,
/// ends it.
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
  init(relevant: Diagnostic, service: LocationService) {
    let (stream, continuation) = AsyncStream.makeStream(of: Diagnostic.self)
    self.service = service
    let id = service.beginSessionDiagnostics(Reader(continuation, relevant: relevant))
    continuation.onTermination = { _ in service.endSessionDiagnostics(id) }
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
