// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import Synchronization

/// An activity that counts as use of the program while it is in the background, for the permission "when in use". It begins in
/// the foreground and lasts as long as the object exists (SS-2).
public final class CLBackgroundActivitySession: Sendable {
  private let service: any LocationService
  /// nil after the invalidation.
  private let id: Mutex<Int?>
  private let end = SessionEnd()

  public convenience init() { self.init(service: Service.shared) }

  init(service: any LocationService) {
    self.service = service
    id = Mutex(service.beginBackgroundActivity())
  }

  deinit { endRequest() }

  /// Ends the activity.
  public func invalidate() {
    endRequest()
    end.finish()
  }

  private func endRequest() {
    let id = id.withLock { id in
      defer { id = nil }
      return id
    }
    if let id { service.endBackgroundActivity(id) }
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
