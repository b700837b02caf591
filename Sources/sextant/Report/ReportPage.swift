// SPDX-License-Identifier: Apache-2.0

import ReceiverStream
import WireBytes

/// The page of one or several recordings: HTML with embedded style and pictures, and no external resources.
package enum ReportPage {
  /// Returns the page.
  package static func html(_ files: [RecordingStatistics.Result]) -> String {
    var files = files
    let (paths, names) = (files.map(\.name), shortNames(files.map(\.name)))
    for index in files.indices { files[index].name = names[index] }
    let heading = files.count == 1 ? files[0].receiver ?? names[0] : names.joined(separator: " and ")
    let title = files.count == 1 && files[0].receiver != nil ? "\(heading) – \(names[0])" : heading
    var html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    html += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
    html += "<title>\(escaped(title))</title><style>\(style)</style></head><body><main>"
    html += first(files, heading: heading)
    let isOne = files.count == 1
    html += section("Sky", files, isOne ? "w3" : "w6") { sky($0) }
    if isOne { html += section("C/N0 by satellite", note: "dBHz", files, "w5") { signals($0) } }
    html += section("Position", files, isOne ? "w4" : "w6") { position($0) }
    if !isOne { html += section("C/N0 by satellite", note: "dBHz", files, "w12", least: 460) { signals($0) } }
    html += charts(files)
    html += section("Jamming and antenna", files, isOne ? "w6" : "w12", least: 460) { remarks($0.remarks) }
    html += "<section class=\"card \(isOne ? "w6" : "w12")\"><h2>Recording</h2>\(details(files, paths))</section>\n"
    html += section("Messages", files, "w12", least: 460) { messages($0) }
    return html + "</main></body></html>\n"
  }

  /// The names of files without their folders. Equal names get as many folders as are needed to distinguish them.
  static func shortNames(_ paths: [String]) -> [String] {
    let parts = paths.map { $0.split(separator: "/") }
    let most = parts.map(\.count).max() ?? 0
    return paths.indices.map { index in
      guard !parts[index].isEmpty else { return paths[index] }
      for count in 1...max(1, most) {
        let name = parts[index].suffix(count)
        let isUnique = paths.indices.allSatisfy { $0 == index || parts[$0].suffix(count) != name }
        if isUnique { return name.joined(separator: "/") }
      }
      return parts[index].last.map { String($0) } ?? paths[index]
    }
  }

  private static func section(
    _ title: String, note: String = "", _ files: [RecordingStatistics.Result], _ width: String, least: Int = 300,
    _ content: (RecordingStatistics.Result) -> String
  ) -> String {
    var html = "<section class=\"card \(width)\"><h2>\(escaped(title)) <small>\(escaped(note))</small></h2>"
    html += "<div class=\"files\" style=\"--least:\(least)px\">"
    for file in files {
      html += "<div>" + (files.count > 1 ? "<h3>\(escaped(file.name))</h3>" : "") + content(file) + "</div>"
    }
    return html + "</div></section>\n"
  }

  private static func table(_ head: [String], _ rows: [[String]]) -> String {
    var html = "<div class=\"wide tall\"><table><tr>" + head.map { "<th>\(escaped($0))</th>" }.joined() + "</tr>"
    for row in rows {
      html += "<tr>"
      for (index, cell) in row.enumerated() { html += "<td\(index > 0 ? " class=\"n\"" : "")>\(escaped(cell))</td>" }
      html += "</tr>"
    }
    return html + "</table></div>"
  }

  // MARK: The first look

  /// The heading and the key figures: side by side for one recording, in columns for several.
  private static func first(_ files: [RecordingStatistics.Result], heading: String) -> String {
    var html = "<header class=\"card\"><h1>\(escaped(heading))</h1>"
    func note(_ figure: KeyFigure) -> String { figure.note.isEmpty ? "" : "<small>\(escaped(figure.note))</small>" }
    func mark(_ figure: KeyFigure) -> String { figure.level.map { " class=\"\($0.rawValue)\"" } ?? "" }
    let figures = files.map { KeyFigure.all($0) }
    if files.count == 1 {
      if files[0].receiver != nil { html += "<p>\(escaped(files[0].name))</p>" }
      html += "<dl>"
      // The receiver is the heading.
      for figure in figures[0].dropFirst() {
        html += "<div><dt>\(figure.name)</dt><dd>"
        html += "<span\(mark(figure))>\(escaped(figure.value))</span>\(note(figure))</dd></div>"
      }
      return html + "</dl></header>\n"
    }
    html += "<div class=\"wide\"><table class=\"key\"><tr><th></th>"
    html += files.map { "<th>\(escaped($0.name))</th>" }.joined() + "</tr>"
    for row in figures[0].indices {
      html += "<tr><td>\(figures[0][row].name)</td>"
      for figure in figures.map({ $0[row] }) {
        html += "<td><span\(mark(figure))>\(escaped(figure.value))</span> \(note(figure))</td>"
      }
      html += "</tr>"
    }
    return html + "</table></div></header>\n"
  }

  // MARK: The details

  private static func details(_ files: [RecordingStatistics.Result], _ paths: [String]) -> String {
    var rows: [[String]] = [["File"] + paths]
    func row(_ name: String, _ value: (RecordingStatistics.Result) -> String) { rows.append([name] + files.map(value)) }
    row("Size") { "\($0.bytes) bytes, \($0.counters.frames) frames" }
    row("From") { time($0.epochs.axis.first, on: $0.epochs.axis) }
    row("To") { time($0.epochs.axis.last, on: $0.epochs.axis) }
    row("Jumps of the time") { "\($0.epochs.axis.jumps)" }
    row("Epochs, with a position") {
      "\($0.epochs.epochs), \($0.epochs.positions)" + ($0.isStored ? ", stored in the receiver" : "")
    }
    row("First position after") { file in
      file.epochs.firstFixSeconds.map { Drawing.duration($0, on: file.epochs.axis) } ?? "none"
    }
    row("Time to first fix by the receiver") { firstFixes($0.remarks) }
    row("Outages, together, longest") { file in
      let epochs = file.epochs
      let lengths = [epochs.outageSeconds, epochs.longestOutageSeconds].map { Drawing.duration($0, on: epochs.axis) }
      return "\(epochs.outages), \(lengths[0]), \(lengths[1])"
    }
    row("Height, 95 %") { $0.epochs.deviation.result?.height95.map { "\(fixed($0, 3)) m" } ?? "–" }
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

  /// The time of an epoch at an end of the axis.
  static func time(_ time: UTCTime?, on axis: RecordingAxis) -> String {
    time.map { Self.time($0) } ?? (axis.hasTime ? "no date" : "no time")
  }

  static func time(_ time: UTCTime) -> String {
    let time = time.roundedToMilliseconds
    let date = time.day.components
    let second = Int(time.nanosecondsOfDay / 1_000_000_000)
    return "\(date.year)-\(date.month.digits(2))-\(date.day.digits(2)) "
      + "\((second / 3600).digits(2)):\((second / 60 % 60).digits(2)):\((second % 60).digits(2)) UTC"
  }

  // MARK: Pictures with their numbers

  /// The deviation of a stationary receiver, or the track of a moving one; the other picture can be expanded.
  private static func position(_ file: RecordingStatistics.Result) -> String {
    guard file.epochs.positions > 0 else { return "<p>No position.</p>" }
    let (deviation, track) = (deviation(file), track(file))
    return file.epochs.isMoving
      ? track + "<details><summary>Deviation</summary>\(deviation)</details>"
      : deviation + "<details><summary>Track</summary>\(track)</details>"
  }

  private static func square(_ picture: String) -> String { "<div class=\"square\">\(picture)</div>" }

  private static func deviation(_ file: RecordingStatistics.Result) -> String {
    guard let result = file.epochs.deviation.result else { return "<p>No position.</p>" }
    let centre = file.truth == nil ? "the mean" : "the given place"
    var html = square(
      Drawing.plane(
        result.sample, circles: [result.cep50, result.cep95], isTrack: false, label: "Positions around \(centre)"))
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
    if file.epochs.isMoving {
      html += " The receiver moved: the deviation is not its error."
    }
    if result.count > PositionDeviation.capacity {
      html += " Quantiles are of \(PositionDeviation.capacity) of \(result.count) positions."
    }
    return html + "</p>"
  }

  private static func track(_ file: RecordingStatistics.Result) -> String {
    let places = file.epochs.outline.places
    guard !places.isEmpty else { return "<p>No position.</p>" }
    let (east, north) = (places.map(\.x), places.map(\.y))
    return square(Drawing.plane(places, circles: [], isTrack: true, label: "Track"))
      + "<p>\(fixed((east.max() ?? 0) - (east.min() ?? 0), 2)) m from west to east, "
      + "\(fixed((north.max() ?? 0) - (north.min() ?? 0), 2)) m from south to north.</p>"
  }

  private static func sky(_ file: RecordingStatistics.Result) -> String {
    let rows = file.satellites.satellites.sorted { $0.key < $1.key }
    guard !rows.isEmpty else { return "<p>No satellites are in the recording.</p>" }
    return square(Drawing.sky(rows.map { ($0.key, $0.value) })) + "<p>Filled: used. Larger: stronger.</p>"
      + systems(file)
  }

  /// Numbers by satellite system.
  private static func systems(_ file: RecordingStatistics.Result) -> String {
    let names = ["GPS", "SBAS", "Galileo", "BeiDou", "IMES", "QZSS", "GLONASS", "NavIC", "unknown"]
    let bySystem = Dictionary(grouping: file.satellites.satellites, by: { min(8, Int($0.key >> 8)) })
    return table(
      ["System", "Used", "In view", "Mean dBHz"],
      bySystem.sorted { $0.key < $1.key }.map { system, rows in
        let count = rows.reduce(0) { $0 + $1.value.signals.count }
        let sum = rows.reduce(0) { $0 + $1.value.signals.sum }
        return [
          names[system], "\(rows.count { $0.value.used > 0 })", "\(rows.count)",
          count > 0 ? fixed(Double(sum) / Double(count), 1) : "–",
        ]
      })
  }

  private static func signals(_ file: RecordingStatistics.Result) -> String {
    func cells(_ counts: SignalCounts) -> [String] {
      [
        "\(counts.count)", fixed(counts.mean, 1), "\(counts.smallest)", "\(counts.quantile(0.5))", "\(counts.greatest)",
      ]
    }
    let rows = file.satellites.satellites.filter { $0.value.signals.count > 0 }.sorted { $0.key < $1.key }
    var html = rows.isEmpty ? "<p>No signal of a satellite is in the recording.</p>" : bars(rows)
    let signals = file.satellites.signals.filter { $0.value.count > 0 }.sorted { $0.key < $1.key }
    if !signals.isEmpty {
      html += table(
        ["Signal", "Values", "Mean dBHz", "Least", "Median", "Greatest"],
        signals.map {
          [SatelliteStatistics.name(gnssId: UInt8($0.key >> 8), sigId: UInt8($0.key & 0xFF))] + cells($0.value)
        })
    }
    guard !rows.isEmpty else { return html }
    return html + "<details><summary>Satellites as a table</summary>"
      + table(
        ["Satellite", "Values", "Mean dBHz", "Least", "Median", "Greatest", "Used"],
        rows.map { key, row in
          [name(key)] + cells(row.signals) + [KeyFigure.percent(row.used, of: row.epochs, digits: 1)]
        }) + "</details>"
  }

  private static func name(_ key: UInt16) -> String {
    SatelliteStatistics.name(system: UInt8(key >> 8), number: UInt8(key & 0xFF))
  }

  /// A bar for the mean of each satellite with a line from the lowest to the highest value, 0 to 55 dBHz.
  private static func bars(_ rows: [(key: UInt16, value: SatelliteStatistics.Row)]) -> String {
    func height(_ value: Double) -> String { fixed(100 * max(0, min(55, value)) / 55, 1) + "%" }
    var html = "<div class=\"bars\" tabindex=\"0\"><div class=\"scale\"><div class=\"v\">"
    for value in stride(from: 0.0, through: 50, by: 10) {
      html += "<span style=\"bottom:\(height(value))\">\(fixed(value, 0))</span>"
    }
    html += "</div></div>"
    for (key, row) in rows {
      let (least, greatest) = (Double(row.signals.smallest), Double(row.signals.greatest))
      html += "<div title=\"\(name(key)): mean \(fixed(row.signals.mean, 1)) dBHz, "
      html += "\(fixed(least, 0)) to \(fixed(greatest, 0))\">"
      html += "<div class=\"v c\(min(8, key >> 8))\"><i\(row.used > 0 ? "" : " class=\"open\"")"
      html += " style=\"height:\(height(row.signals.mean))\"></i>"
      html +=
        "<s style=\"bottom:\(height(least));height:\(height(greatest - least))\"></s></div><u>\(name(key))</u></div>"
    }
    return html + "</div><p>Bars: mean. Lines: least to greatest. Outlined: not used.</p>"
  }

  // MARK: Charts

  /// The charts, with the same axes for all recordings.
  private static func charts(_ files: [RecordingStatistics.Result]) -> String {
    let seconds = files.map(\.epochs.axis.seconds).max() ?? 0
    let width = files.count == 1 ? "w4" : "w12"
    let charts: [(String, String, Int, (EpochStatistics) -> Series)] = [
      ("Satellites used", "", 0, \.used), ("Horizontal accuracy by the receiver", "m", 2, \.accuracy),
      ("HDOP", "", 2, \.dilution),
      ("Height above sea level", "m", 1, \.altitude), ("Speed", "m/s", 2, \.speed),
    ]
    var html = section("Fix", files, width) { fixes($0.epochs, seconds: seconds) }
    for (title, unit, digits, series) in charts {
      let totals = files.map { series($0.epochs).total }.filter { $0.count > 0 }
      guard let low = totals.map(\.minimum).min(), let high = totals.map(\.maximum).max() else { continue }
      let ticks = Drawing.ticks(from: low, to: high, digits: digits)
      html += section(title, note: unit, files, width) { file in
        let series = series(file.epochs)
        guard series.total.count > 0 else { return "<p>No value.</p>" }
        return Drawing.chart(series, ticks: ticks, seconds: seconds, label: title)
          + "<p>\(fixed(series.total.minimum, digits)) to \(fixed(series.total.maximum, digits)), "
          + "mean \(fixed(series.total.mean, max(2, digits))).</p>"
      }
    }
    return html
  }

  /// The kinds of fix over time, and their fractions.
  private static func fixes(_ epochs: EpochStatistics, seconds: Double) -> String {
    guard epochs.epochs > 0 else { return "<p>No epoch.</p>" }
    let kinds = epochs.kinds.indices.filter { epochs.kinds[$0] > 0 }
    let (low, high) = (kinds[0], kinds[kinds.count - 1])
    var ticks = kinds.map { Drawing.Tick(value: Double($0), label: KeyFigure.kinds[$0]) }
    // One kind is a line in the middle.
    if low == high {
      ticks =
        [Drawing.Tick(value: Double(low) - 1, label: "")] + ticks + [Drawing.Tick(value: Double(low) + 1, label: "")]
    }
    return Drawing.chart(epochs.kind, ticks: ticks, seconds: seconds, label: "Kind of fix")
      + "<p>\(escaped(KeyFigure.shares(epochs))).</p>"
  }

  private static func remarks(_ remarks: ReceiverRemarks) -> String {
    guard !remarks.stages.isEmpty else { return "<p>The recording has no MON-RF and no MON-HW.</p>" }
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
          "\(id)", states(stage.jamming, ReceiverRemarks.jammingNames), states(stage.antenna, antenna),
          range(stage.noise),
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

extension ReportPage {
  /// The colours of the live page (Sources/sextant/LivePage/Page/page.css). A test compares them.
  package static let palette = """
      --back: light-dark(#f3f4f6, #0f1216);
      --card: light-dark(#fff, #171b20);
      --text: light-dark(#1b1f24, #e4e7ea);
      --soft: light-dark(#5a646e, #98a2ad);
      --edge: light-dark(#dfe3e8, #2a3037);
      --accent: light-dark(#0b61c4, #6ab0ff);
      --band: light-dark(#b9d4f3, #27476b);
      --good: light-dark(#1a7f45, #4cc283);
      --warn: light-dark(#9a5b00, #e3a548);
      --bad: light-dark(#c22b2b, #ff7b73);
      --GPS: light-dark(#2f7ed8, #5b9df0);
      --SBAS: light-dark(#7a7f86, #9aa1a9);
      --Galileo: light-dark(#24963a, #4cc261);
      --BeiDou: light-dark(#d0392f, #f0685e);
      --QZSS: light-dark(#8a5cbf, #b48ae0);
      --GLONASS: light-dark(#c87600, #f0a23a);
      --NavIC: light-dark(#0f93a5, #3fcfe0);
    """

  /// Texts have the same size at every width: only lines and areas of pictures are stretched.
  static let style = """
    :root{color-scheme:light dark;
    \(palette)}
    *{box-sizing:border-box}
    body{margin:0;background:var(--back);color:var(--text);font:14px/1.45 Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums}
    main{display:grid;gap:12px;padding:12px 16px 24px;grid-template-columns:repeat(12,minmax(0,1fr));max-width:1920px;margin:0 auto}
    .card{grid-column:span 12;min-width:0;padding:12px 14px;background:var(--card);border:1px solid var(--edge);border-radius:10px}
    h1{font-size:1.35rem;margin:0;overflow-wrap:anywhere}h2{font-size:.95rem;font-weight:600;margin:0 0 8px}h3{font-size:.9rem;font-weight:500;margin:0 0 6px;color:var(--soft);overflow-wrap:anywhere}
    h2 small,p,summary{color:var(--soft);font-weight:400;font-size:.85rem}p{margin:6px 0 0;overflow-wrap:anywhere}summary{cursor:pointer;margin-top:8px}
    dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(128px,1fr));gap:10px 20px;margin:12px 0 0}
    dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-size:1.15rem;font-weight:500}dd small{display:block;color:var(--soft);font-weight:400;font-size:.8rem}
    .good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
    .wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
    th,td{text-align:left;padding:3px 12px 3px 0;border-bottom:1px solid var(--edge);vertical-align:baseline}th{color:var(--soft);font-weight:500;font-size:.85rem}
    td.n,th.n{text-align:right}.key td{font-size:1.05rem;font-weight:500}.key td:first-child{font-size:.85rem;font-weight:400;color:var(--soft)}tr:last-child td{border-bottom:0}
    .key small{color:var(--soft);font-weight:400;font-size:.85rem}.bar{fill:none;stroke:var(--soft)}.files{display:grid;gap:8px 24px;grid-template-columns:repeat(auto-fit,minmax(min(100%,var(--least,300px)),1fr))}.files>div{min-width:0}
    svg{display:block;width:100%}svg text{fill:var(--soft);font-size:11px}.square{max-width:420px;margin:0 auto}
    .axis{fill:none;stroke:var(--edge);vector-effect:non-scaling-stroke}.line,.points,.band,.circle{fill:none;vector-effect:non-scaling-stroke}
    .line{stroke:var(--accent);stroke-width:1.5}.band{stroke:var(--band);stroke-width:2}.points{stroke:var(--accent);stroke-width:2.4;stroke-linecap:round;opacity:.5}
    .circle{stroke:var(--warn);stroke-width:1.4;stroke-dasharray:5 4}.trail{fill:none;stroke:currentColor;opacity:.35}.dot{fill:currentColor}.ring{fill:none;stroke:currentColor;stroke-width:1.6}
    .chart{display:grid;grid-template-columns:auto minmax(0,1fr);gap:2px 6px;font-size:12px;color:var(--soft)}.chart svg{height:120px}.chart .y{position:relative;text-align:right;white-space:nowrap}
    .y b{display:block;visibility:hidden;height:0;font-weight:400}.y span{position:absolute;right:0;transform:translateY(-50%)}.x{grid-column:2;display:flex;justify-content:space-between}
    .bars{display:flex;gap:2px;overflow-x:auto;padding-top:18px;font-size:11px;color:var(--soft)}
    .bars>div{flex:1 0 13px;max-width:34px}.bars .v{position:relative;height:170px;border-bottom:1px solid var(--edge);background:repeating-linear-gradient(to top,var(--edge) 0 1px,#0000 1px 18.18%)}
    .v i{position:absolute;bottom:0;left:8%;right:8%;background:currentColor;border:1px solid currentColor}.v .open{background:none}.v s{position:absolute;left:50%;border-left:1px solid var(--text);opacity:.55}
    .bars u{display:block;writing-mode:vertical-rl;transform:rotate(180deg);margin:4px auto 0;text-decoration:none;color:var(--soft);line-height:13px}
    .bars .scale{flex:0 0 20px;max-width:20px}.scale .v{background:none;border-color:#0000}.scale span{position:absolute;right:4px;transform:translateY(50%)}
    table:not(.key) th:not(:first-child){text-align:right}.tall{max-height:440px;overflow:auto}
    .c0{color:var(--GPS)}.c1{color:var(--SBAS)}.c2{color:var(--Galileo)}.c3{color:var(--BeiDou)}.c5{color:var(--QZSS)}.c6{color:var(--GLONASS)}.c7{color:var(--NavIC)}
    @media(min-width:760px){.w4,.w5,.w3,.w6{grid-column:span 6}}
    @media(min-width:1300px){.w3{grid-column:span 3}.w4{grid-column:span 4}.w5{grid-column:span 5}}
    @media(max-width:759px){main{padding:8px;gap:8px}.card{padding:10px}dl{grid-template-columns:repeat(2,1fr)}th,td{padding-right:8px}}
    @media print{.tall{max-height:none}:root{color-scheme:light}body{background:#fff;font-size:12px;print-color-adjust:exact}main{padding:0;gap:6px}.card{break-inside:avoid}dl{grid-template-columns:repeat(4,1fr)}.w3,.w4{grid-column:span 4}.w5{grid-column:span 8}.w6{grid-column:span 6}.bars{overflow:hidden}.bars>div{flex-basis:8px}}
    """
}
