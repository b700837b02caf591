import EnergyBench
import GPSDJSON

/// The energy bench as text.
struct EnergyTable {
  let rows: [EnergyRow]

  var text: String {
    var text =
      "model day                        mA   on %   own PSM %  x bound  x blind  days/2Ah   fixes  late  stale s  "
    text += "noticed s  crossed s  sky s  wake-ups  worst h\n"
    for row in rows {
      let ledger = row.ledger
      text += pad(row.model, 6) + pad(row.scenario, 24) + right(fixed(row.averageMilliamperes, 3), 7)
      text += right(fixed(row.shareOfAlwaysOn * 100, 2), 7)
      text += right(row.ownPowerSaveMilliamperes.map { fixed(row.averageMilliamperes / $0 * 100, 2) } ?? "-", 12)
      text += right(fixed(row.timesOracle, 2), 9) + right(fixed(row.timesBlindOracle, 2), 9)
      text += right(fixed(row.batteryDays, 1), 10)
      text += right(String(ledger.fixesDelivered), 8) + right(String(ledger.fixesLate), 6)
      text += right(fixed(ledger.worstStalenessSeconds, 1), 9)
      text += right(noticed(ledger.worstMovementSeconds, missed: ledger.movementsMissed), 11)
      text += right(noticed(ledger.worstCrossingSeconds, missed: ledger.crossingsMissed), 11)
      text += right(ledger.worstSkyReturnSeconds.map { fixed($0, 0) } ?? "-", 7)
      text += right(String(ledger.hostWakeups), 10) + right(String(ledger.hostWakeupsInWorstHour), 9) + "\n"
    }
    return text
  }

  private func noticed(_ seconds: Double?, missed: Int) -> String {
    missed > 0 ? "\(missed) missed" : seconds.map { fixed($0, 1) } ?? "-"
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.utf8.count))
  }

  private func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }

  private func fixed(_ value: Double, _ digits: Int) -> String {
    var line = JSONLine()
    line.decimal(min(value, 999_999_999), digits: digits)
    return line.text
  }
}
