// SPDX-License-Identifier: Apache-2.0

/// A server that gets the stream of a base station, as named by the user.
package enum PushTarget: Equatable, Sendable {
  /// `tcp://HOST:PORT`: the frames as they are.
  case tcp(host: String, port: UInt16)
  /// `ntrip+post://[USER[:PASSWORD]@]HOST[:PORT]/MOUNT`: another caster.
  case caster(host: String, port: UInt16, mount: String, credentials: String?)

  private static let scheme = "ntrip+post://"

  /// Reads the name of a target; nil if it has another form.
  package init?(_ text: String) {
    if text.hasPrefix(Self.scheme) {
      guard
        case .ntrip(let host, let port, let mount, let credentials, _)? = CorrectionSource(
          "ntrip://" + text.dropFirst(Self.scheme.count)), !mount.isEmpty
      else { return nil }
      self = .caster(host: host, port: port, mount: mount, credentials: credentials)
    } else if text.hasPrefix("tcp://"), case .tcp(let host, let port)? = CorrectionSource(text) {
      self = .tcp(host: host, port: port)
    } else {
      return nil
    }
  }

  /// The forms of a name, for messages.
  package static let forms = "ntrip+post://USER@HOST:PORT/MOUNT or tcp://HOST:PORT"

  /// The source with the same host and credentials: for the password of a caster.
  package var asSource: CorrectionSource {
    switch self {
    case .tcp(let host, let port): .tcp(host: host, port: port)
    case .caster(let host, let port, let mount, let credentials):
      .ntrip(host: host, port: port, mount: mount, credentials: credentials)
    }
  }

  /// The target with the credentials of a source.
  package func completed(by source: CorrectionSource) -> PushTarget {
    guard case .caster(let host, let port, let mount, _) = self, case .ntrip(_, _, _, let credentials, _) = source
    else { return self }
    return .caster(host: host, port: port, mount: mount, credentials: credentials)
  }

  package var host: String {
    switch self {
    case .tcp(let host, _), .caster(let host, _, _, _): host
    }
  }

  package var port: UInt16 {
    switch self {
    case .tcp(_, let port), .caster(_, let port, _, _): port
    }
  }

  /// The target without user and password.
  package var name: String { asSource.name }
}
