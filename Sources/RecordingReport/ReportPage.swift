// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// The page of one or several recordings: HTML with its style and its pictures inside, and nothing loaded from elsewhere.
package enum ReportPage {
  private static let style = """
    :root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#667;--line:#0b61c4;--band:#9cc4f0;--edge:#ccd}
    @media(prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e8eb;--soft:#9aa3ad;--line:#6ab0ff;--band:#2c4f78;--edge:#3a414a}}
    body{background:var(--back);color:var(--text);font:15px/1.45 system-ui,sans-serif;margin:0 auto;padding:12px;max-width:1560px}
    h1{font-size:1.4em}h2{font-size:1.15em;margin:1.4em 0 .3em}h3{font-size:1em;margin:.8em 0 .2em;color:var(--soft)}
    .wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
    th,td{text-align:left;padding:2px 14px 2px 0;border-bottom:1px solid var(--edge);vertical-align:top}td.n{text-align:right}
    .files{display:grid;gap:8px 28px;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr))}
    .files>div{min-width:0}svg{width:100%;height:auto;display:block}.square svg{max-width:460px}
    svg text{fill:var(--soft);font-size:11px}.axis{fill:none;stroke:var(--edge)}.line{fill:none;stroke:var(--line);stroke-width:1.5}
    .band{fill:none;stroke:var(--band);stroke-width:1.6}.points{stroke:var(--line);stroke-width:2;stroke-linecap:round;opacity:.5}
    .circle{fill:none;stroke:#d2691e;stroke-width:1.5}.trail{fill:none;stroke:currentColor;opacity:.45}
    .dot{fill:currentColor}.ring{fill:none;stroke:currentColor}
    .c0{color:#2f7ed8}.c1{color:#8a8a8a}.c2{color:#2ca02c}.c3{color:#d62728}.c5{color:#9467bd}.c6{color:#e08a00}.c7{color:#17becf}
    """

  /// Returns the page.
  package static func html(_ files: [RecordingStatistics.Result]) -> String {
    var html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    html += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
    html += "<title>\(escaped(files.map(\.name).joined(separator: ", ")))</title><style>\(style)</style></head><body>"
    html += "<h1>\(files.count == 1 ? "Recording" : "Comparison of recordings")</h1>"
    html += summary(files)
    html += section("Deviation", files, isSquare: true) { deviation($0) }
    html += section("Track", files, isSquare: true) { track($0) }
    html += section("Sky", files, isSquare: true) { sky($0) }
    html += section("C/N0", files) { signals($0) }
    let charts: [(String, Int, (EpochStatistics) -> Series)] = [
      ("Fix: 0 none, 1 time, 2 2D, 3 3D, 4 corrected, 5 RTK float, 6 RTK fixed", 0, \.kind),
      ("Height above sea level, m", 1, \.altitude), ("Speed, m/s", 2, \.speed),
      ("Horizontal accuracy by the receiver, m", 2, \.accuracy), ("HDOP", 2, \.dilution),
      ("Satellites used", 0, \.used),
    ]
    for (title, digits, series) in charts {
      html += section(title, files) { chart(series($0.epochs), $0.epochs, digits, title) }
    }
    html += section("Jamming and antenna", files) { remarks($0.remarks) }
    html += section("Messages", files) { messages($0) }
    return html + "</body></html>\n"
  }

  private static func section(
    _ title: String, _ files: [RecordingStatistics.Result], isSquare: Bool = false,
    _ content: (RecordingStatistics.Result) -> String
  ) -> String {
    var html = "<h2>\(escaped(title))</h2><div class=\"files\(isSquare ? " square" : "")\">"
    for file in files {
      html += "<div>" + (files.count > 1 ? "<h3>\(escaped(file.name))</h3>" : "") + content(file) + "</div>"
    }
    return html + "</div>\n"
  }

  private static func table(_ head: [String], _ rows: [[String]]) -> String {
    var html = "<div class=\"wide\"><table><tr>" + head.map { "<th>\(escaped($0))</th>" }.joined() + "</tr>"
    for row in rows {
      html += "<tr>"
      for (index, cell) in row.enumerated() { html += "<td\(index > 0 ? " class=\"n\"" : "")>\(escaped(cell))</td>" }
      html += "</tr>"
    }
    return html + "</table></div>"
  }

  // MARK: The summary

  private static func summary(_ files: [RecordingStatistics.Result]) -> String {
    var rows: [[String]] = []
    func row(_ name: String, _ value: (RecordingStatistics.Result) -> String) { rows.append([name] + files.map(value)) }
    row("Size") { "\($0.bytes) bytes, \($0.counters.frames) frames" }
    row("From") { $0.epochs.axis.first.map { time($0) } ?? "no time" }
    row("To") { $0.epochs.axis.last.map { time($0) } ?? "no time" }
    row("Covered time") { Drawing.duration($0.epochs.axis.seconds) }
    row("Jumps of the time") { "\($0.epochs.axis.jumps)" }
    row("Epochs, with a position") { "\($0.epochs.epochs), \($0.epochs.positions)" }
    row("Availability") { file in
      file.epochs.epochs == 0 ? "–" : fixed(100 * Double(file.epochs.positions) / Double(file.epochs.epochs), 2) + " %"
    }
    row("First position after") { $0.epochs.firstFixSeconds.map { Drawing.duration($0) } ?? "none" }
    row("Time to first fix by the receiver") { firstFixes($0.remarks) }
    row("Outages, together, longest") { file in
      let epochs = file.epochs
      return
        "\(epochs.outages), \(Drawing.duration(epochs.outageSeconds)), \(Drawing.duration(epochs.longestOutageSeconds))"
    }
    let results = files.map { $0.epochs.deviation.result }
    func deviation(_ name: String, _ value: (Deviation.Result) -> Double?) {
      rows.append([name] + results.map { $0.flatMap(value).map { "\(fixed($0, 3)) m" } ?? "–" })
    }
    deviation("CEP50") { $0.cep50 }
    deviation("CEP95") { $0.cep95 }
    deviation("Height, 95 %") { $0.height95 }
    row("Wrong checksums") { "\($0.counters.badChecksums)" }
    row("Bytes outside of frames") { "\($0.counters.skippedBytes)" }
    row("Broken, cut, too long") { "\($0.counters.brokenSentences), \($0.counters.cutFrames), \($0.counters.tooLong)" }
    row("Fields out of range") { "\($0.rejectedFields)" }
    return table([""] + files.map(\.name), rows)
  }

  private static func firstFixes(_ remarks: ReceiverRemarks) -> String {
    let times = remarks.starts.map { $0.firstFixSeconds.map { Drawing.duration($0) } ?? "none" }
    if times.isEmpty { return "not sent (NAV-STATUS)" }
    return times.joined(separator: ", ") + (remarks.furtherStarts > 0 ? ", … (\(remarks.furtherStarts) more)" : "")
  }

  private static func time(_ time: UTCTime) -> String {
    let date = time.day.components
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let second = Int(time.nanosecondsOfDay / 1_000_000_000)
    return "\(date.year)-\(two(date.month))-\(two(date.day)) "
      + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) UTC"
  }

  // MARK: Pictures with their numbers

  private static func deviation(_ file: RecordingStatistics.Result) -> String {
    guard let result = file.epochs.deviation.result else { return "<p>No position.</p>" }
    let centre = file.truth == nil ? "the mean" : "the given place"
    var html = Drawing.plane(
      result.sample, circles: [result.cep50, result.cep95], isTrack: false, label: "Positions around \(centre)")
    html += "<p>Half of the positions are within \(fixed(result.cep50, 3)) m of \(centre), 95 % within "
    html += "\(fixed(result.cep95, 3)) m, the farthest at \(fixed(result.greatest, 3)) m."
    if file.truth != nil {
      html += " The mean is \(fixed(result.mean.x, 3)) m east, \(fixed(result.mean.y, 3)) m north"
      if !result.mean.z.isNaN, file.truth?.heightMetres != nil { html += " and \(fixed(result.mean.z, 3)) m above" }
      html += " of it."
    }
    if let height = result.height95 {
      html +=
        " 95 % of the heights are within \(fixed(height, 3)) m of the \(file.truth?.heightMetres == nil ? "mean" : "given") height."
    }
    if file.epochs.speed.total.count > 0, file.epochs.speed.total.mean > 0.5 {
      html += " The receiver moved: the deviation is not its error."
    }
    if result.count > Deviation.capacity {
      html += " Quantiles are of \(Deviation.capacity) of \(result.count) positions."
    }
    return html + "</p>"
  }

  private static func track(_ file: RecordingStatistics.Result) -> String {
    let places = file.epochs.outline.places
    guard !places.isEmpty else { return "<p>No position.</p>" }
    let (east, north) = (places.map(\.x), places.map(\.y))
    return Drawing.plane(places, circles: [], isTrack: true, label: "Track")
      + "<p>\(fixed((east.max() ?? 0) - (east.min() ?? 0), 2)) m from west to east, "
      + "\(fixed((north.max() ?? 0) - (north.min() ?? 0), 2)) m from south to north.</p>"
  }

  private static func sky(_ file: RecordingStatistics.Result) -> String {
    let rows = file.satellites.satellites.sorted { $0.key < $1.key }
    guard !rows.isEmpty else { return "<p>No satellites are in the recording.</p>" }
    let systems = "G GPS, S SBAS, E Galileo, C BeiDou, J QZSS, R GLONASS, N NavIC"
    return Drawing.sky(rows.map { ($0.key, $0.value) })
      + "<p>\(rows.count) satellites (\(systems)); filled: used. A larger dot has a stronger signal.</p>"
  }

  private static func signals(_ file: RecordingStatistics.Result) -> String {
    func cells(_ counts: SignalCounts) -> [String] {
      [
        "\(counts.count)", fixed(counts.mean, 1), "\(counts.smallest)", "\(counts.quantile(0.5))", "\(counts.greatest)",
      ]
    }
    var html = ""
    let signals = file.satellites.signals.filter { $0.value.count > 0 }.sorted { $0.key < $1.key }
    if !signals.isEmpty {
      html += table(
        ["Signal", "Values", "Mean dBHz", "Least", "Median", "Greatest"],
        signals.map {
          [SatelliteStatistics.name(gnssId: UInt8($0.key >> 8), sigId: UInt8($0.key & 0xFF))] + cells($0.value)
        })
    }
    let rows = file.satellites.satellites.filter { $0.value.signals.count > 0 }.sorted { $0.key < $1.key }
    guard !rows.isEmpty else { return html + "<p>No signal of a satellite is in the recording.</p>" }
    return html
      + table(
        ["Satellite", "Values", "Mean dBHz", "Least", "Median", "Greatest", "Used"],
        rows.map { key, row in
          ["\(SatelliteStatistics.prefix(UInt8(key >> 8)))\(key & 0xFF)"] + cells(row.signals)
            + ["\(fixed(100 * Double(row.used) / Double(row.epochs), 0)) %"]
        })
  }

  private static func chart(_ series: Series, _ epochs: EpochStatistics, _ digits: Int, _ title: String) -> String {
    guard series.total.count > 0 else { return "<p>No value.</p>" }
    return Drawing.chart(series, seconds: epochs.axis.seconds, digits: digits, label: title)
      + "<p>\(fixed(series.total.minimum, digits)) to \(fixed(series.total.maximum, digits)), "
      + "mean \(fixed(series.total.mean, max(2, digits))).</p>"
  }

  private static func remarks(_ remarks: ReceiverRemarks) -> String {
    guard !remarks.stages.isEmpty else { return "<p>The recording has no MON-RF and no MON-HW.</p>" }
    let jamming = ["unknown", "ok", "warning", "critical"]
    let antenna = ["starting", "unknown", "ok", "short", "open", "other"]
    func states(_ counts: [Int], _ names: [String]) -> String {
      zip(names, counts).filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
    func range(_ values: Series.Bucket) -> String {
      "\(fixed(values.minimum, 0)) … \(fixed(values.maximum, 0)), mean \(fixed(values.mean, 0))"
    }
    return table(
      ["Input", "Jamming", "Antenna", "Noise", "Gain (0–8191)", "CW indicator (0–255)"],
      remarks.stages.sorted { $0.key < $1.key }.map { id, stage in
        [
          "\(id)", states(stage.jamming, jamming), states(stage.antenna, antenna), range(stage.noise),
          range(stage.gain),
          range(stage.indicator),
        ]
      })
  }

  private static func messages(_ file: RecordingStatistics.Result) -> String {
    guard !file.messages.isEmpty else { return "<p>No message.</p>" }
    let seconds = file.epochs.axis.seconds
    return table(
      ["Message", "Number", "Per second"],
      file.messages.map { [$0.name, "\($0.count)", seconds > 0 ? fixed(Double($0.count) / seconds, 2) : "–"] })
  }
}
