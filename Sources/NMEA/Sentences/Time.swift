// SPDX-License-Identifier: Apache-2.0

/// ZDA: time and date, UTC.
public struct ZDA: SentenceContent {
  @inlinable public static var formatter: Formatter { Formatter(code: 0x5A4441) }
  public var time: TimeOfDay?
  public var day: Int32?
  public var month: Int32?
  /// Four digits.
  public var year: Int32?
  /// Local zone, hours.
  public var zoneHours: Int32?
  /// Local zone, minutes.
  public var zoneMinutes: Int32?

  @inlinable public init() {}

  @inlinable @inline(__always)
  public mutating func fields<Visitor: FieldVisitor & ~Copyable & ~Escapable>(_ v: inout Visitor) {
    v.time("time", &time)
    v.integer("day", &day, 1...31, digits: 2)
    v.integer("month", &month, 1...12, digits: 2)
    v.integer("year", &year, 1980...9999, digits: 4)
    v.integer("ltzh", &zoneHours, -13...13, digits: 2)
    v.integer("ltzn", &zoneMinutes, -59...59, digits: 2)
  }
}
