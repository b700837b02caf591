// SPDX-License-Identifier: Apache-2.0
import Foundation
import Messages
import Positioning

/// An element of the stream of live updates.
public struct CLLocationUpdate: Sendable {
  private let content: LiveUpdate
  /// nil if there is no location; the flags give the reason.
  public let location: CLLocation?

  init(_ content: LiveUpdate) {
    self.content = content
    location = content.location.map { CLLocation($0) }
  }

  /// Whether no more updates come until the device moves.
  public var stationary: Bool { content.isStationary }
  /// The name of `stationary` before iOS 18. It is not marked as deprecated: Linux has no deployment target before which it
  /// would be current.
  public var isStationary: Bool { stationary }

  public var authorizationDenied: Bool { content.diagnostic.contains(.authorizationDenied) }
  public var authorizationDeniedGlobally: Bool { content.diagnostic.contains(.authorizationDeniedGlobally) }
  public var authorizationRestricted: Bool { content.diagnostic.contains(.authorizationRestricted) }
  public var authorizationRequestInProgress: Bool { content.diagnostic.contains(.authorizationRequestInProgress) }
  public var insufficientlyInUse: Bool { content.diagnostic.contains(.insufficientlyInUse) }
  public var locationUnavailable: Bool { content.diagnostic.contains(.locationUnavailable) }
  public var accuracyLimited: Bool { content.diagnostic.contains(.accuracyLimited) }
  public var serviceSessionRequired: Bool { content.diagnostic.contains(.serviceSessionRequired) }

  /// The purpose of the updates, which decides when the device counts as stationary.
  public enum LiveConfiguration: Int, Sendable {
    case `default` = 0
    case automotiveNavigation = 1
    case otherNavigation = 2
    case fitness = 3
    case airborne = 4
  }

  /// Returns the stream, which starts with the first iteration and ends with the iteration, or with the task that
  /// iterates (LV-1).
  public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
    liveUpdates(configuration, service: Service.shared)
  }

  static func liveUpdates(_ configuration: LiveConfiguration, service: any LocationService) -> Updates {
    Updates(configuration: configuration, service: service)
  }

  public struct Updates: AsyncSequence, Sendable {
    public typealias Element = CLLocationUpdate
    let configuration: LiveConfiguration
    let service: any LocationService

    public struct Iterator: AsyncIteratorProtocol {
      let configuration: LiveConfiguration
      let service: any LocationService
      private var stream: LiveStream?

      init(configuration: LiveConfiguration, service: any LocationService) {
        self.configuration = configuration
        self.service = service
      }

      public mutating func next() async throws -> CLLocationUpdate? {
        // A cancelled task must not start the stream, which would prompt the user for permission (LV-1, LV-4).
        if Task.isCancelled {
          stream = nil
          return nil
        }
        let stream = stream ?? LiveStream(configuration, service: service)
        self.stream = stream
        return await stream.next()
      }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(configuration: configuration, service: service) }
  }
}

/// One iteration. Its end, or the end of its task, ends the updates.
private final class LiveStream {
  /// The service writes updates into it.
  private final class Reader: LiveUpdateReader {
    let continuation: AsyncStream<CLLocationUpdate>.Continuation
    init(_ continuation: AsyncStream<CLLocationUpdate>.Continuation) { self.continuation = continuation }
    func receive(_ update: LiveUpdate) { continuation.yield(CLLocationUpdate(update)) }
  }

  private let service: any LocationService
  private let id: Int
  private var iterator: AsyncStream<CLLocationUpdate>.Iterator

  init(_ configuration: CLLocationUpdate.LiveConfiguration, service: any LocationService) {
    let (stream, continuation) = AsyncStream.makeStream(of: CLLocationUpdate.self)
    self.service = service
    let id = service.beginLiveUpdates(
      LiveUpdates.Configuration(rawValue: configuration.rawValue) ?? .standard, Reader(continuation))
    continuation.onTermination = { _ in service.endLiveUpdates(id) }
    self.id = id
    iterator = stream.makeAsyncIterator()
  }

  deinit { service.endLiveUpdates(id) }

  func next() async -> CLLocationUpdate? {
    var iterator = iterator
    defer { self.iterator = iterator }
    return await iterator.next()
  }
}
