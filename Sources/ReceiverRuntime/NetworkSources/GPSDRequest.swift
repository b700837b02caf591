// SPDX-License-Identifier: Apache-2.0
import Messages

/// The client's side of gpsd's protocol up to the bytes of one receiver (gpsd_json(5); protocol 3):
///
///     ◀── VERSION    ?DEVICES;──▶    ◀── DEVICES    ?WATCH={…"raw":2,"device":…};──▶    ◀── WATCH    ◀── the receiver's bytes
///
/// gpsd sends the bytes as it received them ("raw":2). If the name has no device, gpsd must have exactly one: the bytes
/// of two receivers would be mixed. The value does not use a clock or sockets.
package struct GPSDRequest: Sendable {
  /// The reason why gpsd does not grant the request, with the next step.
  package struct Refusal: Error, Equatable, Sendable { package var text: String }

  private enum State: Sendable {
    case version, devices
    case watch(device: String)
    case granted
  }

  /// The longest line before the request is granted, bytes. gpsd's own limit for a reply is 10,240 (gpsd.h,
  /// GPS_JSON_RESPONSE_MAX).
  static let longestLine = 16_384
  static let protocolVersion: Int64 = 3

  private let wanted: String?
  private var state = State.version
  private var line: [UInt8] = []
  private var requests: [[UInt8]] = []

  /// - Parameter device: the device in the name of the source, which begins with a slash; nil for gpsd's only device.
  package init(device: String?) { wanted = device }

  /// Whether all further bytes come from the receiver.
  package var isGranted: Bool { if case .granted = state { true } else { false } }

  /// The next bytes to send; nil if there are none.
  package mutating func nextRequest() -> [UInt8]? { requests.isEmpty ? nil : requests.removeFirst() }

  /// Handles bytes from gpsd, and returns the receiver's bytes in them.
  package mutating func receive(_ bytes: Span<UInt8>) throws(Refusal) -> [UInt8] {
    for index in bytes.indices {
      if isGranted {
        let rest = bytes.extracting(index...)
        return rest.indices.map { rest[$0] }
      }
      let byte = bytes[index]
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        if line.count > Self.longestLine { try endLongLine() }
        continue
      }
      let complete = line
      line = []
      try take(complete)
    }
    return []
  }

  /// The receiver's bytes may come before the reply to WATCH.
  private mutating func endLongLine() throws(Refusal) {
    guard case .watch = state else { throw Self.noGPSD }
    line = []
  }

  private mutating func take(_ line: [UInt8]) throws(Refusal) {
    let object = try? JSON(parsing: line)
    let name = object?["class"]?.string
    switch (state, name) {
    case (.version, "VERSION"?):
      guard case .integer(let version)? = object?["proto_major"] else { throw Self.noGPSD }
      guard version == Self.protocolVersion else {
        throw Refusal(text: "speaks version \(version) of gpsd's protocol, and version 3 is needed; update gpsd")
      }
      state = .devices
      requests.append(Array("?DEVICES;\n".utf8))
    case (.version, _): throw Self.noGPSD
    case (.devices, "DEVICES"?):
      let device = try choose(Self.paths(object?["devices"]))
      state = .watch(device: device)
      requests.append(try Self.watch(device))
    case (.watch, "WATCH"?):
      guard object?["enable"] == .bool(true), object?["raw"] == .integer(2) else {
        throw Refusal(text: "gpsd does not send the receiver's bytes; update gpsd")
      }
      state = .granted
    case (.devices, "ERROR"?), (.watch, "ERROR"?):
      throw Refusal(text: "gpsd refuses: \(Self.printable(object?["message"]?.string ?? "no reason"))")
    default: break
    }
  }

  private func choose(_ paths: [String]) throws(Refusal) -> String {
    let list = paths.map(Self.printable).joined(separator: ", ")
    guard let wanted else {
      switch paths.count {
      case 0: throw Refusal(text: "gpsd has no receiver; connect one, or add it with `gpsdctl add`")
      case 1: return paths[0]
      default: throw Refusal(text: "gpsd has several receivers (\(list)); name one, such as gpsd://HOST/dev/ttyUSB0")
      }
    }
    // gpsd's own devices may be names of network sources, which do not begin with a slash.
    if let path = paths.first(where: { $0 == wanted || "/" + $0 == wanted }) { return path }
    throw Refusal(text: "gpsd has no device \(wanted); it has \(paths.isEmpty ? "none" : list)")
  }

  private static func paths(_ devices: JSON?) -> [String] {
    guard case .array(let elements)? = devices else { return [] }
    return elements.compactMap { $0["path"]?.string }
  }

  private static func watch(_ device: String) throws(Refusal) -> [UInt8] {
    let parameters: JSON = ["enable": true, "json": false, "raw": 2, "device": .string(device)]
    guard let text = try? parameters.text() else { throw noGPSD }
    return Array("?WATCH=".utf8) + text + Array(";\n".utf8)
  }

  private static let noGPSD = Refusal(text: "is not gpsd; check host and port, or name it as a tcp:// source")

  /// Text from the other side for a line of this program: without control characters, at most 200 characters.
  private static func printable(_ text: String) -> String {
    String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(200).map(Character.init))
  }
}
