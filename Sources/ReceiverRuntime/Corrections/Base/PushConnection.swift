// SPDX-License-Identifier: Apache-2.0

import WireBytes

/// The dialogue with a caster that gets the stream of a base station.
///
///     POST of version 2 ── 200 ──▶ granted, chunks
///        └── refused for another reason than the password ──▶ the next connection: SOURCE of version 1 ── ICY 200 OK ──▶ granted
///
/// The value uses no socket: `request` goes out first, the replies come in.
package struct PushConnection: Equatable, Sendable {
  /// The form of the request.
  package enum Form: Equatable, Sendable {
    /// NTRIP 2.0 (RTCM 10410.1, "server to caster").
    case post
    /// Version 1, which knows a password and no user.
    case source
    /// No request: TCP alone.
    case none
  }

  /// The reason why a caster does not take the stream.
  package struct Refusal: Error, Equatable, Sendable {
    package var text: String
    /// Whether the other form of the request may be accepted.
    package var mayFallBack: Bool
  }

  package let form: Form
  private let target: PushTarget
  private let version: String
  private var head: [UInt8] = []
  package private(set) var isGranted: Bool

  private static let longestHead = 16_384

  package init(to target: PushTarget, _ form: Form, version: String) {
    self.target = target
    if case .tcp = target { self.form = .none } else { self.form = form }
    self.version = version
    isGranted = self.form == .none
  }

  /// The bytes of the request.
  package var request: [UInt8] {
    guard case .caster(let host, let port, let mount, let credentials) = target else { return [] }
    let agent = "NTRIP sextant/\(version)"
    switch form {
    case .none: return []
    case .source:
      let password = credentials.map { $0.contains(":") ? String($0.drop { $0 != ":" }.dropFirst()) : $0 } ?? ""
      return Array("SOURCE \(password) /\(mount)\r\nSource-Agent: \(agent)\r\n\r\n".utf8)
    case .post:
      var text = "POST /\(mount) HTTP/1.1\r\nHost: \(host):\(port)\r\nNtrip-Version: Ntrip/2.0\r\n"
      text += "User-Agent: \(agent)\r\n"
      if let credentials { text += "Authorization: Basic \(Base64.text(of: credentials))\r\n" }
      text += "Content-Type: gnss/data\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      return Array(text.utf8)
    }
  }

  /// Handles bytes of the caster. Those after the grant have no meaning.
  package mutating func receive(_ bytes: RawSpan) throws(Refusal) {
    guard !isGranted else { return }
    for index in 0..<bytes.byteCount where !isGranted {
      head.append(bytes.u1(index))
      if head.count > Self.longestHead { throw Self.noCaster }
      if head.last == 0x0A { try read(String(decoding: head, as: UTF8.self)) }
    }
  }

  private static var noCaster: Refusal {
    Refusal(text: "is not an NTRIP caster; check host and port", mayFallBack: false)
  }

  private mutating func read(_ text: String) throws(Refusal) {
    let line = String(text.prefix { !$0.isNewline }.prefix(200))
    if line.hasPrefix("ICY 200") || line == "OK" { return isGranted = true }
    if line.hasPrefix("ERROR") {
      let isPassword = line.lowercased().includes("password")
      throw Refusal(
        text: isPassword ? "does not accept the password; check it" : "refuses: \(line)",
        mayFallBack: form == .post)
    }
    guard line.hasPrefix("HTTP/") else { throw Self.noCaster }
    guard HTTPHead.isComplete(head) else { return }
    let reply = HTTPReplyHead(head)
    if reply?.isInterim == true { return head = [] }
    switch reply?.status {
    case 200: isGranted = true
    case 401, 403: throw Refusal(text: "does not accept this user and password; check them", mayFallBack: false)
    case 404: throw Refusal(text: "has no such mount point; check its name", mayFallBack: form == .post)
    case 409: throw Refusal(text: "has another source at this mount point; end that one", mayFallBack: false)
    default: throw Refusal(text: "refuses: \(line)", mayFallBack: form == .post)
    }
  }

  /// The refusal of a caster that closes the connection without a grant. Its reply may lack the empty line at the end.
  package var closedBeforeGrant: Refusal {
    var ended = self
    do throws(Refusal) {
      if !head.isEmpty { try unsafe ended.receive(Array("\r\n\r\n".utf8).span.bytes) }
    } catch {
      return error
    }
    return Refusal(
      text: "the connection was closed without an answer; check host, port, mount point and password",
      mayFallBack: form == .post)
  }

  /// Returns frames of the stream as the caster reads them.
  package func encode(_ frames: [UInt8]) -> [UInt8] {
    guard isGranted, !frames.isEmpty else { return [] }
    return form == .post ? NTRIPChunk.bytes(frames) : frames
  }
}

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
