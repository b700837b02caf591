// SPDX-License-Identifier: Apache-2.0

import Foundation
import Positioning
import Synchronization

/// Finds the address of a location, and the location of an address, with the sources that the machine has
/// (`GeocodingService`). It has one request at a time: a second one ends at once with `geocodeCanceled`.
///
/// Handlers are called on the main queue. The async methods return on the caller's executor.
open class CLGeocoder: NSObject {
  private let requests: GeocoderRequests

  public override init() { requests = GeocoderRequests(.shared) }

  /// Makes a geocoder that uses a given service instead of the program's.
  init(service: GeocodingService) { requests = GeocoderRequests(service) }

  /// Whether a request is pending. It is false already when the handler is called, which may start the next one.
  open var isGeocoding: Bool { requests.isPending }

  /// Ends the request with `geocodeCanceled`.
  open func cancelGeocode() { requests.cancel() }

  // MARK: Addresses of locations

  open func reverseGeocodeLocation(_ location: CLLocation, completionHandler: @escaping CLGeocodeCompletionHandler) {
    reverseGeocodeLocation(location, preferredLocale: nil, completionHandler: completionHandler)
  }

  open func reverseGeocodeLocation(
    _ location: CLLocation, preferredLocale locale: Locale?, completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    begin(.reverse(location.coordinate.asCoordinate), locale, completionHandler)
  }

  open nonisolated(nonsending) func reverseGeocodeLocation(_ location: CLLocation) async throws -> [CLPlacemark] {
    try await placemarks(.reverse(location.coordinate.asCoordinate), nil) {
      reverseGeocodeLocation(location, completionHandler: $0)
    }
  }

  open nonisolated(nonsending) func reverseGeocodeLocation(
    _ location: CLLocation, preferredLocale locale: Locale?
  ) async throws -> [CLPlacemark] {
    try await placemarks(.reverse(location.coordinate.asCoordinate), locale) {
      reverseGeocodeLocation(location, preferredLocale: locale, completionHandler: $0)
    }
  }

  // MARK: Locations of addresses

  open func geocodeAddressString(_ addressString: String, completionHandler: @escaping CLGeocodeCompletionHandler) {
    geocodeAddressString(addressString, in: nil, preferredLocale: nil, completionHandler: completionHandler)
  }

  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion?, completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    geocodeAddressString(addressString, in: region, preferredLocale: nil, completionHandler: completionHandler)
  }

  /// - Parameter region: a circle whose places come first.
  open func geocodeAddressString(
    _ addressString: String, in region: CLRegion?, preferredLocale locale: Locale?,
    completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    begin(.forward(addressString, near: region?.circleOfContent), locale, completionHandler)
  }

  open nonisolated(nonsending) func geocodeAddressString(_ addressString: String) async throws -> [CLPlacemark] {
    try await placemarks(.forward(addressString, near: nil), nil) {
      geocodeAddressString(addressString, completionHandler: $0)
    }
  }

  open nonisolated(nonsending) func geocodeAddressString(
    _ addressString: String, in region: CLRegion?
  ) async throws -> [CLPlacemark] {
    try await placemarks(.forward(addressString, near: region?.circleOfContent), nil) {
      geocodeAddressString(addressString, in: region, completionHandler: $0)
    }
  }

  open nonisolated(nonsending) func geocodeAddressString(
    _ addressString: String, in region: CLRegion?, preferredLocale locale: Locale?
  ) async throws -> [CLPlacemark] {
    try await placemarks(.forward(addressString, near: region?.circleOfContent), locale) {
      geocodeAddressString(addressString, in: region, preferredLocale: locale, completionHandler: $0)
    }
  }

  /// - Parameter addressDictionary: parts of the address, with the keys of `CLPlacemark.addressDictionary`.
  @available(*, deprecated, renamed: "geocodeAddressString(_:completionHandler:)")
  open func geocodeAddressDictionary(
    _ addressDictionary: [AnyHashable: Any], completionHandler: @escaping CLGeocodeCompletionHandler
  ) {
    geocodeAddressString(AddressKeys.address(of: addressDictionary), completionHandler: completionHandler)
  }

  @available(*, deprecated, renamed: "geocodeAddressString(_:)")
  open nonisolated(nonsending) func geocodeAddressDictionary(
    _ addressDictionary: [AnyHashable: Any]
  ) async throws -> [CLPlacemark] {
    try await geocodeAddressString(AddressKeys.address(of: addressDictionary))
  }

  // MARK: Requests

  private func begin(
    _ request: GeocodingRequest, _ locale: Locale?, _ handler: @escaping CLGeocodeCompletionHandler
  ) {
    let handler = Handler(handler: handler)
    requests.begin(request, locale) { outcome in
      DispatchQueue.main.async {
        switch outcome {
        case .success(let placemarks): handler.handler(placemarks, nil)
        case .failure(let error): handler.handler(nil, error)
        }
      }
    }
  }

  /// - Parameter call: the call of the method with a handler, which a subclass may override: on Apple's systems both are one
  ///   method of Objective-C.
  private nonisolated(nonsending) func placemarks(
    _ request: GeocodingRequest, _ locale: Locale?, _ call: (@escaping CLGeocodeCompletionHandler) -> Void
  ) async throws -> [CLPlacemark] {
    guard type(of: self) == CLGeocoder.self else {
      return try await withCheckedThrowingContinuation { continuation in
        call { placemarks, error in
          let failure = error ?? CLError(.geocodeFoundNoResult)
          continuation.resume(with: placemarks.map { .success($0) } ?? .failure(failure))
        }
      }
    }
    let number = requests.takeNumber()
    return try await withTaskCancellationHandler { [requests] in
      try await withCheckedThrowingContinuation { continuation in
        requests.begin(request, locale, number) { continuation.resume(with: $0) }
        if Task.isCancelled { requests.cancel(number) }
      }
    } onCancel: { [requests] in
      requests.cancel(number)
    }
  }
}

/// A handler, which is called once, on the main queue.
private struct Handler: @unchecked Sendable {
  let handler: CLGeocodeCompletionHandler
}

extension CLRegion {
  fileprivate var circleOfContent: Circle? { if case .circle(let circle) = content.shape { circle } else { nil } }
}

/// The one request of a geocoder. It exists until the answer, because programs do not keep a reference to the geocoder.
final class GeocoderRequests: Sendable {
  typealias Outcome = Result<[CLPlacemark], CLError>

  private struct State: Sendable {
    var lastNumber = 0
    /// The pending request, and its completion.
    var pending: (number: Int, completion: @Sendable (Outcome) -> Void)?
  }
  private let state = Mutex(State())
  private let service: GeocodingService

  init(_ service: GeocodingService) { self.service = service }

  var isPending: Bool { state.withLock { $0.pending != nil } }

  /// Returns a number for a request.
  func takeNumber() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Begins a request. While another one is pending it ends at once with `geocodeCanceled`.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - locale: the locale of the answer; nil for the current one.
  ///   - number: its number; nil for a new one.
  ///   - completion: receives the outcome, once.
  func begin(
    _ request: GeocodingRequest, _ locale: Locale?, _ number: Int? = nil,
    _ completion: @escaping @Sendable (Outcome) -> Void
  ) {
    let number = number ?? takeNumber()
    let isFree = state.withLock { state in
      guard state.pending == nil else { return false }
      state.pending = (number, completion)
      return true
    }
    guard isFree else { return completion(.failure(CLError(.geocodeCanceled))) }
    service.run(request, locale, isWanted: { self.state.withLock { $0.pending?.number == number } }) { outcome in
      self.finish(number, outcome)
    }
  }

  /// Ends the pending request, or the request with a given number if it is pending.
  func cancel(_ number: Int? = nil) {
    guard let number = number ?? state.withLock({ $0.pending?.number }) else { return }
    finish(number, .failure(CLError(.geocodeCanceled)))
  }

  private func finish(_ number: Int, _ outcome: Outcome) {
    let completion = state.withLock { state in
      guard let pending = state.pending, pending.number == number else {
        return nil as (@Sendable (Outcome) -> Void)?
      }
      state.pending = nil
      return pending.completion
    }
    completion?(outcome)
  }
}
