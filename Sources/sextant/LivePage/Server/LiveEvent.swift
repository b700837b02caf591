// SPDX-License-Identifier: Apache-2.0

/// An event of the live page: its kind and its JSON. docs/reference/json.md describes the objects.
package struct LiveEvent: Equatable, Sendable {
  /// The kinds, in the order in which a new page gets the last event of each.
  package enum Kind: String, CaseIterable, Sendable {
    case hello, history, receiver, fix, sky, messages, message, line, trust, rf, spectrum, power, settings, uplink,
      notice, end

    /// Whether a new page gets the last event of the kind. The history is made for each page.
    var isState: Bool { self != .message && self != .notice && self != .history }
  }

  package var kind: Kind
  /// The name of the message in a `message` event; nil for the other kinds.
  package var name: String?
  /// An object of JSON in one line.
  package var json: [UInt8]
  /// The chart data of the event; nil if there is none.
  package var row: HistoryRow?

  package init(_ kind: Kind, name: String? = nil, json: [UInt8], row: HistoryRow? = nil) {
    self.kind = kind
    self.name = name
    self.json = json
    self.row = row
  }

  /// The event as text/event-stream (HTML, section 9.2).
  var text: [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(json.count + 32)
    text += "event: \(kind.rawValue)\ndata: ".utf8
    text += json
    text += "\n\n".utf8
    return text
  }
}

/// The events that wait for a page. An event replaces a waiting one of its kind, so that the number of kinds bounds the
/// queue even if the page does not read.
struct EventQueue: Sendable {
  private(set) var waiting: [LiveEvent] = []

  mutating func add(_ event: LiveEvent) {
    if let place = waiting.firstIndex(where: { $0.kind == event.kind && $0.name == event.name }) {
      waiting[place] = event
    } else {
      waiting.append(event)
    }
  }

  /// Returns the text of all waiting events.
  mutating func take() -> [UInt8] {
    defer { waiting.removeAll(keepingCapacity: true) }
    return waiting.flatMap(\.text)
  }
}
