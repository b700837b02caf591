// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages
import ReceiverStream

/// The content of one message to the server.
struct Payload: Equatable, Sendable {
  /// The topic of MQTT; for HTTP the part behind the server's address, often empty.
  var topic = ""
  var body: [UInt8]
  /// The media type of HTTP.
  var contentType = "application/json"
  /// Whether the broker keeps it for later subscribers.
  var isRetained = false
}

/// The form of the messages that a server expects.
enum PayloadFormat: Equatable, Sendable {
  case ownTracks
  case homeAssistant
  /// OsmAnd's query, of all versions of Traccar.
  case traccar
  /// The JSON of Traccar 6.7 and later.
  case traccarJSON
  case geoJSON
  case template(Template)
}

/// A message of the administrator's own form: text with named fields in braces, such as `{"lat":{latitude}}`.
///
/// A field of a number is written as JSON does, a text without quotes, an unknown value as `null`. Other braces are text. In a message
/// of JSON a text is escaped as within a string of JSON.
struct Template: Equatable, Sendable {
  /// A text with fields.
  struct Text: Equatable, Sendable {
    private enum Part: Equatable, Sendable {
      case text(String)
      case field(String)
    }

    private var parts: [Part] = []

    /// The names that a field may have.
    static let names = [
      "timestamp", "tst", "latitude", "longitude", "altitude", "horizontalAccuracy", "verticalAccuracy", "speed",
      "course", "id",
      "device", "simulated",
    ]

    init(_ text: String) {
      var rest = text[...]
      var literal = ""
      while let open = rest.firstIndex(of: "{") {
        literal += rest[..<open]
        let after = rest[rest.index(after: open)...]
        if let close = after.firstIndex(of: "}"), Self.names.contains(String(after[..<close])) {
          if !literal.isEmpty { parts.append(.text(literal)) }
          literal = ""
          parts.append(.field(String(after[..<close])))
          rest = after[after.index(after: close)...]
        } else {
          literal += "{"
          rest = after
        }
      }
      literal += rest
      if !literal.isEmpty { parts.append(.text(literal)) }
    }

    /// Whether no field is in the text.
    var isConstant: Bool { !parts.contains { if case .field = $0 { true } else { false } } }

    /// The place of a field.
    enum Place {
      /// Text without a syntax.
      case plain
      /// A message of JSON, whose strings have their quotes in the template.
      case json
    }

    func text(_ fields: [(String, JSON?)], in place: Place = .plain) -> String {
      parts.map { part in
        switch part {
        case .text(let text): text
        case .field(let name): Self.text(of: fields.first { $0.0 == name }?.1 ?? .null, in: place)
        }
      }.joined()
    }

    private static func text(of value: JSON, in place: Place) -> String {
      let json = (try? value.text()) ?? Array("null".utf8)
      return switch (value, place) {
      case (.string(let text), .plain): text
      case (.string, .json): String(decoding: json.dropFirst().dropLast(), as: UTF8.self)
      default: String(decoding: json, as: UTF8.self)
      }
    }
  }

  /// The topic of MQTT, or nil for the configured topic.
  var topic: Text?
  var payload: Text
  var contentType = "application/json"

  /// `application/json`, or another type with the suffix `+json` (RFC 6839), such as `application/geo+json`.
  private var place: Text.Place {
    let type = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
    return type == "application/json" || type.hasSuffix("+json") ? .json : .plain
  }

  func body(_ fields: [(String, JSON?)]) -> [UInt8] { Array(payload.text(fields, in: place).utf8) }
}
