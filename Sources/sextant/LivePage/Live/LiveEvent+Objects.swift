// SPDX-License-Identifier: Apache-2.0
import GPSD
import ReceiverStream

// The events that do not result from the stream.
extension LiveEvent {
  /// The origin of the bytes.
  package enum SourceKind: String, Sendable {
    case receiver, simulated, recording, service
  }

  /// The content of the page, as the first event of a connection.
  ///
  /// - Parameter tiles: the address of map tiles with {z}, {x} and {y}; nil if there is none.
  package static func hello(
    source: String, kind: SourceKind, version: String, allowsControl: Bool, tiles: String?, started: UTCTime
  ) -> LiveEvent {
    object(.hello) { line in
      line.field("source", text: source)
      line.field("kind", text: kind.rawValue)
      line.field("version", text: version)
      line.field("control", allowsControl)
      if let tiles { line.field("tiles", text: tiles) }
      line.time("started", started)
    }
  }

  /// The identity of the receiver.
  package static func receiver(
    model: String?, firmware: String?, protocolVersion: String?, extensions: [String], device: String, baud: UInt32?
  ) -> LiveEvent {
    object(.receiver) { line in
      if let model { line.field("model", text: model) }
      if let firmware { line.field("firmware", text: firmware) }
      if let protocolVersion { line.field("protocol", text: protocolVersion) }
      line.beginArray("extensions")
      for text in extensions {
        line.nextElement()
        line.string(text)
      }
      line.endArray()
      line.field("device", text: device)
      if let baud { line.field("baud", Int64(baud)) }
    }
  }

  /// A message to the user.
  package static func notice(_ text: String) -> LiveEvent { object(.notice) { $0.field("text", text: text) } }

  /// The end of the source, such as of a recording.
  package static func end(_ reason: String) -> LiveEvent { object(.end) { $0.field("reason", text: reason) } }

  /// The settings of the receiver, each a name and the value in the receiver.
  package static func settings(_ items: [(name: String, value: String, unit: String)]) -> LiveEvent {
    object(.settings) { line in
      line.beginArray("items")
      for item in items {
        line.beginObject()
        line.field("name", text: item.name)
        line.field("value", text: item.value)
        if !item.unit.isEmpty { line.field("unit", text: item.unit) }
        line.endObject()
      }
      line.endArray()
    }
  }

  private static func object(_ kind: Kind, _ body: (inout JSONLine) -> Void) -> LiveEvent {
    var line = JSONLine()
    line.beginObject()
    body(&line)
    line.endObject()
    return LiveEvent(kind, json: line.takeBytes())
  }
}
