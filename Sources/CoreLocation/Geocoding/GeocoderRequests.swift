// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

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
