// SPDX-License-Identifier: Apache-2.0

import WireBytes

/// A source of corrections, as named by the user.
package enum CorrectionSource: Equatable, Sendable {
  /// `file:PATH`: a recording, replayed at its times.
  case file(String)
  /// `fifo:PATH`: bytes that another program writes.
  case fifo(String)
  /// `serial:PATH@BAUD`: a radio or another receiver.
  case serial(path: String, baud: UInt32)
  /// `tcp:HOST:PORT` or `tcp://HOST:PORT`.
  case tcp(host: String, port: UInt16)
  /// `ntrip://[USER[:PASSWORD]@]HOST[:PORT]/MOUNT`, `ntrips://…` with TLS; `%` and two hexadecimal digits in user and password are
  /// a byte. Without MOUNT it is the nearest one of the source table.
  case ntrip(host: String, port: UInt16, mount: String, credentials: String?, transport: Transport = .plain)

  /// The transport of a caster's bytes.
  package enum Transport: Equatable, Sendable {
    case plain
    /// Encrypted, with a check of the caster's certificate and name.
    case tls

    /// The default port of casters: IANA's "rtcm-sc104", and the port after it that casters use for TLS.
    package var port: UInt16 { self == .tls ? 2102 : 2101 }
  }

  /// Reads the name of a source; nil if it has another form.
  package init?(_ text: String) {
    if let path = text.removingPrefix("file:"), !path.isEmpty {
      self = .file(path)
    } else if let path = text.removingPrefix("fifo:"), !path.isEmpty {
      self = .fifo(path)
    } else if let line = text.removingPrefix("serial:"), let at = line.lastPosition(of: "@"), at > line.startIndex,
      let baud = UInt32(line[line.utf8.index(after: at)...]), baud > 0
    {
      self = .serial(path: String(line[..<at]), baud: baud)
    } else if let place = text.removingPrefix("tcp://") ?? text.removingPrefix("tcp:"),
      case (let host, let port?)? = Self.hostAndPort(place)
    {
      self = .tcp(host: host, port: port)
    } else if let (address, transport) = Self.caster(text), let slash = address.lastPosition(of: "/") {
      var place = String(address[..<slash])
      let mount = String(address[address.utf8.index(after: slash)...])
      var credentials: String?
      if let at = place.lastPosition(of: "@") {
        credentials = String(decoding: place[..<at].utf8.percentDecoded.bytes, as: UTF8.self)
        place = String(place[place.utf8.index(after: at)...])
      }
      guard mount.isEmpty || Self.isMount(mount), let (host, port) = Self.hostAndPort(place) else { return nil }
      self = .ntrip(
        host: host, port: port ?? transport.port, mount: mount, credentials: credentials, transport: transport)
    } else {
      return nil
    }
  }

  /// The rest of a caster's name after its scheme.
  private static func caster(_ text: String) -> (address: String, Transport)? {
    if let address = text.removingPrefix("ntrips://") { return (address, .tls) }
    return text.removingPrefix("ntrip://").map { ($0, .plain) }
  }

  /// The source with a password that its name omits; unchanged if it names one, or no user.
  package func withPassword(_ password: String) -> CorrectionSource {
    guard needsPassword, case .ntrip(let host, let port, let mount, let user?, let transport) = self else {
      return self
    }
    return .ntrip(host: host, port: port, mount: mount, credentials: "\(user):\(password)", transport: transport)
  }

  /// Whether it names a user and no password.
  package var needsPassword: Bool {
    if case .ntrip(_, _, _, let credentials?, _) = self { !credentials.contains(":") } else { false }
  }

  /// Whether its name has a password, which other users can see in the list of processes.
  package var namesPassword: Bool {
    if case .ntrip(_, _, _, let credentials?, _) = self { credentials.contains(":") } else { false }
  }

  /// The forms of a name, for messages.
  package static let forms =
    "file:PATH, fifo:PATH, serial:PATH@BAUD, tcp://HOST:PORT or ntrip://USER@HOST:PORT/MOUNT (ntrips:// with TLS)"

  /// The name of the source in its own form, without user and password.
  package var address: String {
    switch self {
    case .file: "file:\(name)"
    case .fifo: "fifo:\(name)"
    case .serial(_, let baud): "serial:\(name)@\(baud)"
    case .tcp: "tcp://\(name)"
    case .ntrip(_, _, _, _, .plain): "ntrip://\(name)"
    case .ntrip(_, _, _, _, .tls): "ntrips://\(name)"
    }
  }

  /// Whether it is reached over the network.
  package var isHost: Bool {
    switch self {
    case .tcp, .ntrip: true
    case .file, .fifo, .serial: false
    }
  }

  /// The caster to which another caster redirects.
  ///
  /// User and password are kept only for the same host and port: another host must not receive them.
  ///
  /// - Parameter location: the field Location of its reply: an address of NTRIP or HTTP, or a path at the same host.
  /// - Throws: the reason why the redirect is not followed.
  package func redirected(to location: String) throws(NTRIPResponse.Refusal) -> CorrectionSource {
    guard case .ntrip(let host, let port, _, let credentials, let transport) = self else { return self }
    let (plain, secured) = (["http://", "ntrip://"], ["https://", "ntrips://"])
    let scheme = (plain + secured).first { location.lowercased().begins(with: $0) }
    var target: (host: String, port: UInt16?) = (host, port)
    var path = location[...]
    if let scheme {
      guard secured.contains(scheme) == (transport == .tls) else {
        throw NTRIPResponse.Refusal(
          text: "redirects to another scheme (\(scheme)…); name the new address in the configuration")
      }
      let rest = location[location.utf8.index(location.startIndex, offsetBy: scheme.utf8.count)...]
      let end = rest.position(of: "/") ?? rest.endIndex
      let authority = rest[..<end].parts(at: "@", omittingEmpty: false).last ?? ""
      guard let place = Self.hostAndPort(String(authority)) else {
        throw NTRIPResponse.Refusal(text: "redirects to an address that is not valid; ask its operator")
      }
      let usual = scheme.begins(with: "http") ? (transport == .tls ? 443 : 80) : transport.port
      target = (place.0, place.1 ?? usual)
      path = rest[end...]
    }
    let mount = String(Substring(path.utf8.drop { $0 == UInt8(ascii: "/") }))
    guard path.begins(with: "/"), !path.begins(with: "//"), let port = target.port,
      Self.isMount(mount) || mount.isEmpty && choosesMount
    else {
      throw NTRIPResponse.Refusal(text: "redirects to an address that is not valid; ask its operator")
    }
    let isSame = target.host.lowercased() == host.lowercased() && port == self.port
    return .ntrip(
      host: target.host, port: port, mount: mount, credentials: isSame ? credentials : nil, transport: transport)
  }

  /// The port of a caster or server.
  private var port: UInt16? {
    switch self {
    case .tcp(_, let port), .ntrip(_, let port, _, _, _): port
    case .file, .fifo, .serial: nil
    }
  }

  /// The same caster with a mount point of its source table.
  func at(mount: String) -> CorrectionSource {
    guard case .ntrip(let host, let port, _, let credentials, let transport) = self else { return self }
    return .ntrip(host: host, port: port, mount: mount, credentials: credentials, transport: transport)
  }

  /// Whether the mount point is the nearest one of the caster's source table.
  package var choosesMount: Bool { if case .ntrip(_, _, "", _, _) = self { true } else { false } }

  static func isMount(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// The source without user and password.
  package var name: String {
    switch self {
    case .file(let path), .fifo(let path), .serial(let path, _): path
    case .tcp(let host, let port): "\(host):\(port)"
    case .ntrip(let host, let port, let mount, _, _): "\(host):\(port)/\(mount)"
    }
  }

  /// Reads a name or address, in brackets if it has colons, and an optional port.
  private static func hostAndPort(_ text: String) -> (String, UInt16?)? {
    guard let place = HostAndPort(text), !place.host.isEmpty else { return nil }
    return (place.host, place.port)
  }
}

extension String {
  /// The rest after a prefix; nil if the prefix is missing.
  fileprivate func removingPrefix(_ prefix: String) -> String? {
    after(prefix).map(String.init)
  }
}
