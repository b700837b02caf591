// SPDX-License-Identifier: Apache-2.0
import Positioning
import ReceiverStream

/// The conditions of a CLMonitor as text (MO-1): a line for each, with the last handled event.
extension StateText {
  static let monitorHeading = "sextant monitor 1"

  static func text(ofMonitor records: [Monitor.Record]) -> String {
    var text = monitorHeading + "\n"
    for record in records {
      let event = record.lastEvent
      let beacon: Region.Shape? = event.refinement.map { .beacon($0) }
      let condition = fields(of: record.condition)
      let refinement = beacon.map { fields(of: $0) } ?? ["-", "-", "-", "-"]
      let written =
        condition + [
          event.state.rawValue.description, event.date.nanosecondsSince1970.description,
          event.diagnostic.rawValue.description,
        ] + refinement + [escape(event.identifier)]
      // An invalid value would count as damage at the next start.
      if monitorRecord(written.map { $0[...] }) != nil { text += line(written) }
    }
    return text
  }

  static func monitor(in text: String) -> [Monitor.Record] {
    (lines(of: text, heading: monitorHeading) ?? []).compactMap { monitorRecord($0) }
  }

  static func monitorRecord(_ fields: [Substring]) -> Monitor.Record? {
    guard fields.count == 12, let condition = shape(fields[0..<4]),
      let state = UInt(fields[4]).flatMap(Monitor.State.init(rawValue:)), let date = Int64(fields[5]),
      let diagnostic = UInt16(fields[6])
    else { return nil }
    var refinement: BeaconIdentity?
    if case .beacon(let identity) = shape(fields[7..<11]) { refinement = identity }
    return Monitor.Record(
      condition: condition,
      lastEvent: Monitor.Event(
        identifier: unescape(fields[11]), state: state, date: UTCTime(nanosecondsSince1970: date),
        refinement: refinement, diagnostic: Diagnostic(rawValue: diagnostic)))
  }
}
