// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Receiver
import ReceiverStream

/// The options that select a part of a recording.
struct SelectionOptions: ParsableArguments {
  @Option(
    help: """
      Only these messages, such as NAV-PVT,MON-RF,GGA,GNRMC,1077. Fixes are made of these messages alone.
      """)
  var messages: String?

  @Option(help: "Only epochs from this time on, UTC, such as 2026-11-24T12:00:00Z.")
  var from: String?

  @Option(help: "Only epochs until this time, UTC.")
  var to: String?

  /// Whether nothing is excluded.
  var isAny: Bool { messages == nil && from == nil && to == nil }

  /// Checks the values.
  func check() throws {
    _ = try messageSelection()
    let range = try timeRange()
    if let from = range.from, let to = range.to, to < from { throw ValidationError("--to is before --from.") }
  }

  /// The requested messages; nil for all.
  func messageSelection() throws -> MessageSelection? {
    guard let messages else { return nil }
    do { return try MessageSelection(messages) } catch {
      let near = NameMatching.nearest(to: error.name, among: MessageSelection.declaredNames)
      throw ValidationError(
        "--messages: \(error.name): no such message"
          + NameMatching.suggestion(near, otherwise: "`sextant decode --format summary` lists those of a recording"))
    }
  }

  func timeRange() throws -> TimeRange { TimeRange(from: try time(from, "--from"), to: try time(to, "--to")) }

  private func time(_ text: String?, _ option: String) throws -> UTCTime? {
    guard let text else { return nil }
    guard let time = UTCTime(iso8601: text) else {
      throw ValidationError("\(option) must be a time in UTC such as 2026-11-24 or 2026-11-24T12:00:00Z.")
    }
    return time
  }
}

/// The options of a table of fixes.
struct TableOptions: ParsableArguments {
  @Option(
    help: """
      The columns of --format csv, with commas between them: \(CSVColumn.all.map(\.name).joined(separator: ", ")).
      """)
  var columns: String?

  /// The chosen columns.
  var chosen: [CSVColumn] { names.map { $0.compactMap { CSVColumn.named($0) } } ?? CSVColumn.usual }

  private var names: [String]? {
    columns.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// Checks the names of the columns.
  func check(isTable: Bool) throws {
    guard let names else { return }
    if !isTable { throw ValidationError("--columns are those of --format csv.") }
    for name in names where CSVColumn.named(name) == nil {
      let near = NameMatching.nearest(to: name, among: CSVColumn.all.map(\.name))
      throw ValidationError(
        "--columns: \(name): no such column"
          + NameMatching.suggestion(near, otherwise: "`sextant help decode` lists them"))
    }
  }
}

extension TrackWriter.Format: ExpressibleByArgument {}
