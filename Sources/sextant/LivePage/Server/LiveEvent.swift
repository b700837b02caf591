// SPDX-License-Identifier: Apache-2.0

/// An event of the live page: its kind and its JSON. docs/reference/json.md describes the objects.
package struct LiveEvent: Equatable, Sendable {
  /// The kinds, in the order in which a new page gets the last event of each.
  package enum Kind: String, CaseIterable, Sendable {
    case hello, history, receiver, fix, sky, messages, message, line, trust, fusion, rf, spectrum, power, settings,
      uplink,
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
struct PageEventQueue: Sendable {
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

/// The data that the page's charts keep of an event.
package struct HistoryRow: Equatable, Sendable {
  /// The second of the event, since 1970; less than 1e10 on both sides.
  package var second: Int64
  /// An element of an array of JSON.
  package var json: [UInt8]

  package init(second: Int64, json: [UInt8]) {
    self.second = second
    self.json = json
  }
}

/// The rows of the last hour, for the charts of a page that is opened or reloaded: the fix of every second, and the
/// satellites of every tenth. The memory is bounded: about one megabyte.
struct PageHistory: Sendable {
  private static let seconds: Int64 = 3600
  /// A row that is older than the newest by more than this many seconds starts a new history, for example when a
  /// recording is read again.
  private static let mostBack: Int64 = 10

  private var fixes = Rows(interval: 1)
  private var skies = Rows(interval: PageHistory.mostBack)

  /// Adds the row of an event.
  mutating func add(_ row: HistoryRow, _ kind: LiveEvent.Kind) {
    let newest = max(fixes.newest ?? row.second, skies.newest ?? row.second)
    if row.second < newest - Self.mostBack || row.second > newest + Self.seconds { removeAll() }
    switch kind {
    case .fix: fixes.add(row, within: Self.seconds)
    case .sky: skies.add(row, within: Self.seconds)
    default: break
    }
  }

  mutating func removeAll() { self = PageHistory() }

  /// The event for a new page; nil if there are no rows.
  ///
  /// - Parameter second: the newest second that the page has; nil if it has none.
  func event(since second: Int64?) -> LiveEvent? {
    let (fixes, skies) = (fixes.json(since: second), skies.json(since: second))
    if fixes.isEmpty && skies.isEmpty { return nil }
    return LiveEvent(
      .history, json: Array("{\"fixes\":[".utf8) + fixes + Array("],\"skies\":[".utf8) + skies + Array("]}".utf8))
  }

  /// Rows in the order of time, at most one in each interval.
  private struct Rows: Sendable {
    let interval: Int64
    private var rows: [HistoryRow] = []

    init(interval: Int64) { self.interval = interval }

    var newest: Int64? { rows.last?.second }

    mutating func add(_ row: HistoryRow, within seconds: Int64) {
      if let newest {
        // The last row of a second is kept.
        if row.second == newest { rows.removeLast() } else if row.second - newest < interval { return }
      }
      rows.append(row)
      // Removing from the front copies all rows, so it is not done for each row.
      guard let oldest = rows.first, row.second - oldest.second >= seconds + 60 else { return }
      rows.removeAll { row.second - $0.second >= seconds }
    }

    func json(since second: Int64?) -> [UInt8] {
      let chosen = second.map { second in rows.drop { $0.second <= second } } ?? rows[...]
      return Array(chosen.map(\.json).joined(separator: [UInt8(ascii: ",")]))
    }
  }
}
