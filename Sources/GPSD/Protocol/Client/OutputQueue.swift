// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// Bytes that are queued until a client reads, up to a limit. A report is queued as a whole or not at all.
package struct OutputQueue: Sendable {
  /// The largest number of queued bytes: about ten seconds of reports, and any reply.
  static let limit = 65_536
  /// The time for which a client may leave its reports unread before its demand ends.
  static let longestUnreadWithDemand = Milliseconds(10_000)
  /// The same before the client counts as gone.
  package static let longestUnread = Milliseconds(60_000)

  private var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }

  /// The queued bytes, the oldest first.
  var waiting: Span<UInt8> {
    @_lifetime(borrow self) get { bytes.span.extracting(start..<bytes.count) }
  }

  /// Appends a report. Returns false if it does not fit.
  mutating func append(_ report: Span<UInt8>) -> Bool {
    guard count + report.count <= Self.limit else { return false }
    for index in report.indices { bytes.append(report[index]) }
    return true
  }

  mutating func append(_ report: [UInt8]) -> Bool {
    guard count + report.count <= Self.limit else { return false }
    bytes += report
    return true
  }

  /// Removes bytes that were sent to the client.
  mutating func removeFirst(_ written: Int) {
    start += written
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      start = 0
    } else if start > Self.limit {
      bytes.removeSubrange(..<start)
      start = 0
    }
  }
}
