// SPDX-License-Identifier: Apache-2.0
import EnergyBench

/// Starts after three days, and days with few positions, as text.
struct FirstFixTable {
  let starts: [FirstFixRow]
  let days: [RareFixesRow]

  var text: String {
    var text = pad("model", 7) + pad("memory", 12)
    for assistance in Assistance.allCases { text += right(assistance.rawValue, 12) + right("mAs", 8) }
    text += "\n"
    for first in starts where first.assistance == .none {
      text += pad(first.model, 7) + pad(first.hasBackup ? "kept" : "lost", 12)
      for row in starts where row.model == first.model && row.hasBackup == first.hasBackup {
        text += right(fixed(row.seconds, 1) + " s", 12) + right(fixed(row.milliampereSeconds, 0), 8)
      }
      text += "\n"
    }
    text += "\n" + pad("model", 7) + pad("interval", 10) + pad("assistance", 12)
    text += right("mA", 10) + right("fixes", 8) + right("late", 6) + "\n"
    for row in days {
      text += pad(row.model, 7) + pad("\(Int(row.hours)) h", 10) + pad(row.assistance.rawValue, 12)
      text += right(fixed(row.metrics.averageMilliamperes, 4), 10) + right("\(row.metrics.fixesDelivered)", 8)
      text += right("\(row.metrics.fixesLate)", 6) + "\n"
    }
    return text
  }
}

extension JSONText {
  mutating func firstFixes(_ starts: [FirstFixRow], _ days: [RareFixesRow]) {
    beginObject()
    beginArray("firstFixes")
    for row in starts {
      beginObject()
      field("model", text: row.model)
      field("memory", text: row.hasBackup ? "kept" : "lost")
      field("assistance", text: row.assistance.rawValue)
      field("fixSeconds", row.seconds, digits: 1)
      field("milliampereSeconds", row.milliampereSeconds, digits: 1)
      endObject()
    }
    endArray()
    beginArray("days")
    for row in days {
      beginObject()
      field("model", text: row.model)
      field("hours", row.hours, digits: 0)
      field("assistance", text: row.assistance.rawValue)
      field("averageMilliamperes", row.metrics.averageMilliamperes, digits: 4)
      field("fixesDelivered", row.metrics.fixesDelivered)
      field("fixesLate", row.metrics.fixesLate)
      endObject()
    }
    endArray()
    endObject()
    endLine()
  }
}
