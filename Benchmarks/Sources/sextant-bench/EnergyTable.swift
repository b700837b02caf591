// SPDX-License-Identifier: Apache-2.0
import EnergyBench

/// The energy bench as text.
struct EnergyTable {
  let rows: [EnergyRow]

  private static let columns = [
    ("mA", 7), ("on %", 7), ("own PSM %", 12), ("x bound", 9), ("x blind", 9), ("days/2Ah", 10), ("fixes", 8),
    ("late", 6), ("lost", 6),
    ("stale s", 9), ("noticed s", 11), ("crossed s", 11), ("sky s", 7), ("wake-ups", 10), ("worst h", 9),
  ]

  var text: String {
    var text = pad("model", 7) + pad("day", 24)
    for (heading, width) in Self.columns { text += right(heading, width) }
    text += "\n"
    for row in rows {
      let metrics = row.metrics
      text += pad(row.model, 7) + pad(row.scenario, 24) + right(fixed(row.averageMilliamperes, 3), 7)
      text += right(fixed(row.shareOfAlwaysOn * 100, 2), 7)
      text += right(row.ownPowerSaveMilliamperes.map { fixed(row.averageMilliamperes / $0 * 100, 2) } ?? "-", 12)
      text += right(fixed(row.timesOracle, 2), 9) + right(fixed(row.timesBlindOracle, 2), 9)
      text += right(fixed(row.batteryDays, 1), 10)
      text += right(String(metrics.fixesDelivered), 8) + right(String(metrics.fixesLate), 6)
      text += right(String(metrics.fixesLost), 6)
      text += right(fixed(metrics.worstStalenessSeconds, 1), 9)
      text += right(noticed(metrics.worstMovementSeconds, missed: metrics.movementsMissed), 11)
      text += right(noticed(metrics.worstCrossingSeconds, missed: metrics.crossingsMissed), 11)
      text += right(metrics.worstSkyReturnSeconds.map { fixed($0, 0) } ?? "-", 7)
      text += right(String(metrics.hostWakeups), 10) + right(String(metrics.hostWakeupsInWorstHour), 9) + "\n"
    }
    return text
  }
}

private func noticed(_ seconds: Double?, missed: Int) -> String {
  missed > 0 ? "\(missed) missed" : seconds.map { fixed($0, 1) } ?? "-"
}
