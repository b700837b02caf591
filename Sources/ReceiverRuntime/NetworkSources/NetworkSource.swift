// SPDX-License-Identifier: Apache-2.0

/// The operations that a source of a receiver's bytes supports.
package struct SourceCapabilities: Equatable, Sendable {
  /// Whether bytes can be sent to the receiver: it can be configured and put to sleep.
  package var isWritable: Bool
  /// Whether the source has a baud rate that a program sets.
  package var hasBaudRate: Bool

  package init(isWritable: Bool, hasBaudRate: Bool) {
    self.isWritable = isWritable
    self.hasBaudRate = hasBaudRate
  }
}

/// A receiver on the network, in the form of `--device`, GNSS_DEVICE and the configuration file.
package enum NetworkSource: Equatable, Sendable {
  /// `tcp://HOST:PORT`: both directions, such as a serial port server, or a receiver with its own socket.
  case tcp(host: String, port: UInt16)
  /// `udp://[HOST]:PORT`: datagrams that arrive at an address of this machine, at a broadcast address or at a multicast group.
  /// Without a host, datagrams at all of its addresses.
  case udp(host: String?, port: UInt16)
  /// `gpsd://HOST[:PORT][/DEVICE]`: the bytes of a receiver of gpsd.
  case gpsd(host: String, port: UInt16, device: String?)

  /// gpsd's port (IANA, "gpsd").
  package static let gpsdPort: UInt16 = 2947
  /// The prefixes of names of network sources.
  package static let beginnings = ["tcp://", "udp://", "gpsd://"]

  /// The reason why a name is not a network source, with the next step.
  package struct Mistake: Error, Equatable, Sendable { package var text: String }

  /// Reads a name. Returns nil if the prefix differs.
  package init?(_ name: String) throws(Mistake) {
    guard let beginning = Self.beginnings.first(where: { name.hasPrefix($0) }) else { return nil }
    let rest = name.dropFirst(beginning.count)
    let slash = rest.firstIndex(of: "/")
    guard let place = HostAndPort(rest[..<(slash ?? rest.endIndex)]) else {
      throw Mistake(text: "has no valid host and port; write it like \(beginning)host:\(Self.gpsdPort)")
    }
    let path = slash.map { String(rest[$0...]) }
    switch beginning {
    case "gpsd://":
      guard !place.host.isEmpty else {
        throw Mistake(text: "names no host; write it like gpsd://localhost or gpsd://localhost/dev/ttyUSB0")
      }
      let device = path == "/" ? nil : path
      guard device.map({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) ?? true else {
        throw Mistake(text: "has a control character in the name of the device; correct the name")
      }
      self = .gpsd(host: place.host, port: place.port ?? Self.gpsdPort, device: device)
    default:
      guard path == nil || path == "/" else {
        throw Mistake(text: "has a path after the port; write it like \(beginning)host:10110")
      }
      guard let port = place.port else {
        throw Mistake(text: "names no port; write it like \(beginning)host:10110")
      }
      if beginning == "udp://" {
        self = .udp(host: place.host.isEmpty ? nil : place.host, port: port)
      } else if place.host.isEmpty {
        throw Mistake(text: "names no host; write it like tcp://host:10110")
      } else {
        self = .tcp(host: place.host, port: port)
      }
    }
  }

  /// The host whose addresses are looked up; nil for all addresses of this machine.
  package var host: String? {
    switch self {
    case .tcp(let host, _), .gpsd(let host, _, _): host
    case .udp(let host, _): host
    }
  }

  package var port: UInt16 {
    switch self {
    case .tcp(_, let port), .udp(_, let port), .gpsd(_, let port, _): port
    }
  }

  package var capabilities: SourceCapabilities {
    switch self {
    case .tcp: SourceCapabilities(isWritable: true, hasBaudRate: false)
    case .udp, .gpsd: SourceCapabilities(isWritable: false, hasBaudRate: false)
    }
  }

  /// The reason why a command that sends cannot use the source, with the next step; nil if the source accepts bytes.
  package var refusalToSend: String? {
    switch self {
    case .tcp: nil
    case .udp: "datagrams are only received, so nothing can be sent to the receiver; name a device or a tcp:// source"
    case .gpsd:
      "gpsd passes on the receiver's bytes, and nothing is sent through it; stop gpsd and name the device itself"
    }
  }

  /// The effect of a source that does not accept bytes, for the user; nil if it accepts bytes.
  package var notice: String? {
    capabilities.isWritable
      ? nil
      : "nothing is sent to this source: its receiver is neither configured nor put to sleep, and its messages are used "
        + "as they are"
  }

  /// The things to check if no valid frame arrives.
  package var adviceOnSilence: String {
    switch self {
    case .tcp: "check that the server has a receiver and the receiver's baud rate"
    case .udp: "check that the sender sends to this port and address, and the firewall"
    case .gpsd: "check with `gpspipe -R` that gpsd has the receiver's bytes"
    }
  }
}

/// A host and a port, as in the authority of a URI (RFC 3986, section 3.2): `HOST:PORT`, with an IPv6 address in
/// brackets.
package struct HostAndPort: Equatable, Sendable {
  /// A name or an address, without brackets; may be empty.
  package var host: String
  /// Nil if there is none.
  package var port: UInt16?

  /// Reads the text; nil for a port that is not a number above 0, and for characters that are invalid in a host.
  package init?(_ text: some StringProtocol) {
    var host = text[...]
    let bracket = text.lastIndex(of: "]")
    if let colon = text.lastIndex(of: ":"), bracket.map({ $0 < colon }) ?? true {
      guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
      port = number
      host = text[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }) else { return nil }
    self.host = String(host)
  }
}
