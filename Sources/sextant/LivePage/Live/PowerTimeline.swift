// SPDX-License-Identifier: Apache-2.0
import GPSD
import MonotonicTime
import ReceiverStream

/// The power states of a receiver over time, with an estimate of its charge from the currents in its data sheet. Beyond
/// ``mostSpans`` states, the oldest are dropped.
package struct PowerTimeline: Sendable {
  /// A demand for the receiver.
  package struct Demand: Equatable, Sendable {
    package var who: String
    package var what: String

    package init(who: String, what: String) {
      self.who = who
      self.what = what
    }
  }

  struct Span: Equatable, Sendable {
    var state: String
    var from: UTCTime
    var to: UTCTime?
  }

  static let mostSpans = 200

  package var demands: [Demand] = []
  private(set) var spans: [Span] = []
  private var isAwake = true
  private var reason: String?
  private var current: Double?
  private var alwaysOn: Double?
  private var charge = 0.0
  private var alwaysOnCharge = 0.0
  private var counted: Instant?

  package init() {}

  /// Records the receiver's state from now on.
  ///
  /// - Parameters:
  ///   - state: the state, in the terms of the power policy or of the session.
  ///   - reason: the reason for the state; nil if unknown.
  ///   - milliamperes: the current in this state, and the current of a receiver that is always on; nil if unknown.
  ///   - utc: the time of day.
  package mutating func set(
    _ state: String, isAwake: Bool, reason: String?, milliamperes: (now: Double, alwaysOn: Double)?, utc: UTCTime,
    at now: Instant
  ) {
    count(until: now)
    (self.isAwake, self.reason) = (isAwake, reason)
    (current, alwaysOn) = (milliamperes?.now, milliamperes?.alwaysOn)
    guard spans.last?.state != state || spans.last?.to != nil else { return }
    end(utc: utc)
    if spans.count == Self.mostSpans { spans.removeFirst() }
    spans.append(Span(state: state, from: utc, to: nil))
  }

  /// Records that the state is no longer known, for example because the receiver is not read.
  package mutating func end(utc: UTCTime) {
    if let last = spans.indices.last, spans[last].to == nil { spans[last].to = utc }
  }

  /// Stops the estimate of the charge until the next state.
  package mutating func pause(at now: Instant) {
    count(until: now)
    (current, alwaysOn, counted) = (nil, nil, nil)
  }

  /// Adds the charge up to now.
  private mutating func count(until now: Instant) {
    if let counted, let current, let alwaysOn {
      let seconds = now.seconds(since: counted)
      charge += seconds * current
      alwaysOnCharge += seconds * alwaysOn
    }
    counted = now
  }

  /// The event for the page; nil before the first state.
  package mutating func event(at now: Instant) -> LiveEvent? {
    guard let last = spans.last else { return nil }
    count(until: now)
    var line = JSONLine()
    line.beginObject()
    line.field("state", text: last.state)
    line.field("awake", isAwake)
    if let reason { line.field("reason", text: reason) }
    if alwaysOnCharge > 0 {
      line.field("chargeMilliampereSeconds", charge, digits: 1)
      line.field("alwaysOnChargeMilliampereSeconds", alwaysOnCharge, digits: 1)
      line.field("estimated", true)
    }
    line.beginArray("demands")
    for demand in demands {
      line.beginObject()
      line.field("who", text: demand.who)
      line.field("what", text: demand.what)
      line.endObject()
    }
    line.endArray()
    line.beginArray("timeline")
    for span in spans {
      line.beginObject()
      line.time("from", span.from)
      line.time("to", span.to)
      line.field("state", text: span.state)
      line.endObject()
    }
    line.endArray()
    line.endObject()
    return LiveEvent(.power, json: line.takeBytes())
  }
}
