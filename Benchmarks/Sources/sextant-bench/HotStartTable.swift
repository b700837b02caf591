// SPDX-License-Identifier: Apache-2.0
import EnergyBench

/// The first minutes after a hot start as text.
struct HotStartTable {
  let rows: [HotStartRow]

  var text: String {
    var text = pad("", 27) + right("without a report", 34) + right("with it", 34) + "\n"
    text += pad("model", 7) + pad("client", 20)
    for _ in 0..<2 { text += right("fix s", 10) + right("saving s", 12) + right("mAs", 12) }
    text += "\n"
    for row in rows {
      text += pad(row.model, 7) + pad(row.scenario, 20)
      for metrics in [row.silent, row.reporting] {
        text += right(metrics.start.fixSeconds.map { fixed($0, 1) } ?? "-", 10)
        text += right(metrics.start.savingSeconds.map { fixed($0, 1) } ?? "-", 12)
        text += right(fixed(metrics.chargeMilliampereSeconds, 0), 12)
      }
      text += "\n"
    }
    return text
  }
}

extension JSONText {
  mutating func hotStarts(_ rows: [HotStartRow]) {
    beginObject()
    beginArray("hotStarts")
    for row in rows {
      for (isReported, metrics) in [(false, row.silent), (true, row.reporting)] {
        beginObject()
        field("model", text: row.model)
        field("scenario", text: row.scenario)
        field("orbits", text: isReported ? "reported" : "not reported")
        if let seconds = metrics.start.fixSeconds { field("fixSeconds", seconds, digits: 1) }
        if let seconds = metrics.start.savingSeconds { field("savingSeconds", seconds, digits: 1) }
        field("milliampereSeconds", metrics.chargeMilliampereSeconds, digits: 1)
        endObject()
      }
    }
    endArray()
    endObject()
    endLine()
  }
}
