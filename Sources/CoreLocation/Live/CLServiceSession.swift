// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning

/// A request for permission that lasts as long as the object exists. The user is asked if needed, and while the
/// permission is not granted the diagnostics give the reason (SS-1).
public final class CLServiceSession: Sendable {
  /// The permission that the session needs.
  public enum AuthorizationRequirement: Int, Sendable {
    case none = 0
    case whenInUse = 1
    case always = 2
  }

  private let service: any LocationService
  private let relevant: Positioning.Diagnostic
  private let request: SessionRequest
  private let end = SessionEnd()

  public convenience init(authorization: AuthorizationRequirement) {
    self.init(authorization, purpose: nil, service: Service.shared)
  }

  /// - Parameter fullAccuracyPurposeKey: a key of Info.plist's NSLocationTemporaryUsageDescriptionDictionary.
  public convenience init(authorization: AuthorizationRequirement, fullAccuracyPurposeKey: String) {
    self.init(authorization, purpose: fullAccuracyPurposeKey, service: Service.shared)
  }

  init(_ authorization: AuthorizationRequirement, purpose: String?, service: any LocationService) {
    self.service = service
    var relevant = Positioning.Diagnostic.ofSessions
    if authorization == .always { relevant.insert(.alwaysAuthorizationDenied) }
    if purpose != nil { relevant.insert(.fullAccuracyDenied) }
    self.relevant = relevant
    request = SessionRequest(
      service.beginSession(goal: ServiceGoal(rawValue: authorization.rawValue) ?? .none, fullAccuracyPurpose: purpose)
    ) { service.endSession($0) }
  }

  /// Ends the request.
  public func invalidate() {
    request.end()
    end.finish()
  }

  /// The reason why the session does not have its permission.
  public struct Diagnostic: Sendable {
    private let content: Positioning.Diagnostic
    init(_ content: Positioning.Diagnostic) { self.content = content }

    public var authorizationDenied: Bool { content.contains(.authorizationDenied) }
    public var authorizationDeniedGlobally: Bool { content.contains(.authorizationDeniedGlobally) }
    public var authorizationRestricted: Bool { content.contains(.authorizationRestricted) }
    public var insufficientlyInUse: Bool { content.contains(.insufficientlyInUse) }
    public var serviceSessionRequired: Bool { content.contains(.serviceSessionRequired) }
    public var authorizationRequestInProgress: Bool { content.contains(.authorizationRequestInProgress) }
    public var fullAccuracyDenied: Bool { content.contains(.fullAccuracyDenied) }
    public var alwaysAuthorizationDenied: Bool { content.contains(.alwaysAuthorizationDenied) }
  }

  public var diagnostics: Diagnostics { Diagnostics(relevant: relevant, service: service, end: end) }

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
