// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator

/// The states of a receiver over a day as SVG: one band, states with a higher current higher.
struct StatePicture {
  let row: EnergyRow
  let log: [(since: Instant, state: VirtualPowerState)]
  let seconds: Double
  private let width = 960.0
  private let left = 110.0

  private static let names = ["off", "standby", "cyclic tracking", "tracking", "acquisition"]
  private static let colours = ["#d0d0d0", "#9ecae1", "#74c476", "#fd8d3c", "#d62728"]

  var svg: String {
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(left + width + 20)) 240" font-family="sans-serif" \
      font-size="12">
      <title>\(row.model), \(row.scenario)</title>
      <rect width="100%" height="100%" fill="white"/>
      <text x="\(Int(left))" y="18">\(row.model), \(row.scenario): \(fixed(row.averageMilliamperes, 3)) mA, \
      \(fixed(row.shareOfAlwaysOn * 100, 2)) % of always on</text>

      """
    for (level, name) in Self.names.enumerated() {
      text += "<text x=\"\(Int(left) - 8)\" y=\"\(Int(y(level)) + 14)\" text-anchor=\"end\">\(name)</text>\n"
    }
    text += bars()
    text += axis()
    return text + "</svg>\n"
  }

  private func y(_ level: Int) -> Double { 36 + Double(4 - level) * 34 }

  private func x(_ time: Double) -> Double { left + time / seconds * width }

  /// One bar for each state; bars narrower than half a pixel are joined with their neighbours of the same level.
  private func bars() -> String {
    var text = ""
    for wanted in Self.names.indices {
      var from: Double?
      var end = 0.0
      for (index, entry) in log.enumerated() where level(of: entry.state) == wanted {
        let since = entry.since.seconds(since: .zero)
        let until = index + 1 < log.count ? log[index + 1].since.seconds(since: .zero) : seconds
        if let open = from, (since - end) / seconds * width > 0.5 {
          text += bar(open, end, wanted)
          from = since
        }
        if from == nil { from = since }
        end = until
      }
      if let open = from { text += bar(open, end, wanted) }
    }
    return text
  }

  private func bar(_ from: Double, _ until: Double, _ level: Int) -> String {
    let wide = max(x(until) - x(from), 0.4)
    return "<rect x=\"\(fixed(x(from), 1))\" y=\"\(Int(y(level)))\" width=\"\(fixed(wide, 1))\" height=\"20\" "
      + "fill=\"\(Self.colours[level])\"/>\n"
  }

  private func axis() -> String {
    var text = "<line x1=\"\(Int(left))\" y1=\"208\" x2=\"\(Int(left + width))\" y2=\"208\" stroke=\"black\"/>\n"
    let step = seconds > 43_200 ? 3 : 1
    for hour in stride(from: 0, through: Int(seconds / 3600), by: step) {
      text += "<text x=\"\(fixed(x(Double(hour) * 3600), 1))\" y=\"226\" text-anchor=\"middle\">\(hour) h</text>\n"
    }
    return text
  }

  private func level(of state: VirtualPowerState) -> Int {
    switch state {
    case .off, .hardwareBackup: 0
    case .standby, .inactive: 1
    case .optimisedTracking: 2
    case .stopped, .tracking: 3
    case .starting, .acquisition: 4
    }
  }

  /// A number with this many decimals.
  private func fixed(_ value: Double, _ digits: Int) -> String {
    var factor = 1
    for _ in 0..<digits { factor *= 10 }
    let scaled = Int((value * Double(factor)).rounded())
    guard digits > 0 else { return String(scaled) }
    let fraction = String(abs(scaled) % factor)
    return "\(scaled < 0 ? "-" : "")\(abs(scaled) / factor)."
      + String(repeating: "0", count: digits - fraction.utf8.count) + fraction
  }
}
