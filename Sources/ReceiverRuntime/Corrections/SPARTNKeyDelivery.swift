// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import WireBytes

/// Decides when a receiver gets the keys of SPARTN, and what the log reports about them.
///
///     unsent ── keys are due ──▶ sent ── in the reply to a poll ──▶ installed
///        ▲                        └── not in three replies ──▶ refused
///        └── the receiver started, or other keys are due ─────────┘
///
/// u-blox's ZED-F9P integration manual (3.1.6.3) asks for the keys at every start, and for the poll. The value uses no clock and
/// no file.
package struct SPARTNKeyDelivery: Sendable {
  /// A request to the receiver.
  package enum Action: Equatable, Sendable {
    /// RXM-SPARTNKEY with this payload; the receiver does not acknowledge it.
    case send([UInt8])
    /// The poll of RXM-SPARTNKEY; `receive` gets the reply.
    case poll
  }

  /// The keys, for `sextant status`.
  package enum State: Equatable, Sendable {
    /// No keys were read; the reason has no key in it.
    case unreadable(String)
    case keys(SPARTNKeys.Validity)
    /// The time is unknown.
    case unknown
  }

  /// The time before the end of the last key at which that is reported.
  package static let warningSeconds: Int64 = 7 * 86_400
  private static let mostAttempts = 3

  private enum Progress: Equatable {
    case unsent
    case sent([UInt8], attempts: Int)
    case installed([UInt8])
    case refused([UInt8])
  }

  private let path: String?
  private var keys: SPARTNKeys?
  private var problem = "not read yet"
  /// The report of the problem; nil without a problem.
  private var problemLine: String?
  private var progress = Progress.unsent
  private var reports: [String] = []
  /// The reported lines; a line is not repeated before its cause was absent.
  private var reported: Set<String> = []
  private var sawEncrypted = false

  /// - Parameter path: the file with the keys, for messages; nil without one.
  package init(path: String?) { self.path = path }

  /// Returns the next line for the log, or nil. Each is reported once, until it changes.
  package mutating func nextReport() -> String? { reports.isEmpty ? nil : reports.removeFirst() }

  /// Handles the content of the file.
  package mutating func read(_ text: String) {
    do throws(SPARTNKeys.Mistake) {
      keys = try SPARTNKeys(parsing: text)
      if let line = problemLine { reported.remove(line) }
      problemLine = nil
    } catch {
      fail(error.line > 0 ? "line \(error.line): \(error.text)" : error.text)
    }
  }

  /// Handles a file that cannot be read, or has a mistake. Keys that were read before stay in use.
  package mutating func fail(_ reason: String) {
    problem = reason
    let line = "\(path ?? ""): \(reason); correct the file of SPARTN keys"
    problemLine = line
    report(line)
  }

  /// Handles a start of the receiver, or another receiver: its keys may be lost.
  package mutating func restart() { progress = .unsent }

  /// Records that an encrypted correction has arrived.
  package mutating func sawEncryptedCorrection() { sawEncrypted = true }

  /// Returns the state of the keys.
  ///
  /// - Parameter utc: the time; nil if it is unknown.
  package func state(at utc: UTCTime?) -> State {
    guard let keys else { return .unreadable(problem) }
    return utc.map { .keys(keys.validity(at: $0)) } ?? .unknown
  }

  /// Returns the request that is due, or nil. Also collects reports.
  ///
  /// - Parameters:
  ///   - utc: the time; nil if it is unknown.
  ///   - accepts: whether the receiver accepts SPARTN, and is ready for a request.
  package mutating func next(at utc: UTCTime?, accepts: Bool) -> Action? {
    assess(at: utc)
    guard accepts, let message = keys?.message(at: utc) else { return nil }
    switch progress {
    case .sent(message, _): return .poll
    case .installed(message), .refused(message): return nil
    case .unsent, .sent, .installed, .refused:
      progress = .sent(message, attempts: 1)
      return .send(message)
    }
  }

  /// Handles the reply to the poll; nil without one. Returns the request that follows, or nil.
  package mutating func receive(_ reply: [UInt8]?) -> Action? {
    guard case .sent(let message, let attempts) = progress else { return nil }
    if let reply, SPARTNKeys.isInstalled(message, in: reply) {
      progress = .installed(message)
    } else if attempts < Self.mostAttempts {
      progress = .sent(message, attempts: attempts + 1)
      return .send(message)
    } else {
      progress = .refused(message)
      report("the receiver does not store the SPARTN keys of \(path ?? ""); check that its firmware accepts SPARTN")
    }
    return nil
  }

  private mutating func assess(at utc: UTCTime?) {
    guard let keys else {
      if sawEncrypted, path == nil {
        report(
          "the SPARTN corrections are encrypted; name a file of keys with `spartn-keys = PATH` in /etc/sextant/config")
      }
      return
    }
    guard let utc else { return }
    let file = path ?? ""
    switch keys.validity(at: utc) {
    case .early(let from): report("\(file): the first SPARTN key is valid from \(from.minuteText)")
    case .expired(let since):
      report(
        "\(file): the SPARTN keys expired at \(since.minuteText), so encrypted corrections are not used; add the next key"
      )
    case .valid(let until):
      let seconds = (until.nanosecondsSince1970 - utc.nanosecondsSince1970) / 1_000_000_000
      if seconds <= Self.warningSeconds {
        report("\(file): the last SPARTN key expires at \(until.minuteText); add the next one before that time")
      }
    }
  }

  private mutating func report(_ text: String) {
    if reported.insert(text).inserted { reports.append(text) }
  }
}
