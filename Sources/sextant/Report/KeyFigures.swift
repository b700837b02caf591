// SPDX-License-Identifier: Apache-2.0

/// A number at the top of the page, with a remark and its grade.
struct KeyFigure: Equatable {
  enum Level: String { case good, warn, bad }

  var name: String
  var value: String
  var note = ""
  var level: Level?
}

extension KeyFigure {
  /// The names of the kinds of fix, in the order of `SolutionKind`.
  static let kinds = [
    "no fix", "time only", "outside limits", "simulated", "surveyed place", "dead reckoning", "2D fix", "3D fix",
    "corrected fix", "precise fix", "RTK float", "RTK fixed",
  ]

  /// The figures of a recording, the same set for every recording.
  static func all(_ file: RecordingStatistics.Result) -> [KeyFigure] {
    [
      KeyFigure(name: "Receiver", value: file.receiver ?? "not sent", note: file.receiver == nil ? "no MON-VER" : ""),
      KeyFigure(
        name: "Duration", value: Drawing.duration(file.epochs.axis.seconds, on: file.epochs.axis),
        note: ReportPage.time(file.epochs.axis.first, on: file.epochs.axis)),
      availability(file.epochs), deviation(file), signals(file.satellites), firstFix(file), jamming(file.remarks),
      used(file),
    ]
  }

  /// A fraction in per cent. The text shows 0 and 100 only if they are exact.
  static func percent(_ count: Int, of total: Int, digits: Int = 1) -> String {
    guard total > 0 else { return "–" }
    let text = fixed(100 * Double(count) / Double(total), digits)
    let (none, all) = (fixed(0, digits), fixed(100, digits))
    if text == none, count > 0 { return "< \(digits == 1 ? "0.1" : "0.01") %" }
    if text == all, count < total { return "> \(digits == 1 ? "99.9" : "99.99") %" }
    return (text == none ? "0" : text == all ? "100" : text) + " %"
  }

  /// The kinds of fix and their shares, the most frequent first: "3D fix 98.2 %, no fix 1.8 %".
  static func shares(_ epochs: EpochStatistics) -> String {
    epochs.kinds.indices.filter { epochs.kinds[$0] > 0 }.sorted { epochs.kinds[$0] > epochs.kinds[$1] }
      .map { "\(kinds[$0]) \(percent(epochs.kinds[$0], of: epochs.epochs))" }.joined(separator: ", ")
  }

  private static func availability(_ epochs: EpochStatistics) -> KeyFigure {
    let share = epochs.epochs == 0 ? nil : Double(epochs.valid) / Double(epochs.epochs)
    return KeyFigure(
      name: "Availability", value: percent(epochs.valid, of: epochs.epochs, digits: 2), note: shares(epochs),
      level: share.map { $0 >= 0.99 ? .good : $0 >= 0.9 ? .warn : .bad })
  }

  private static func deviation(_ file: RecordingStatistics.Result) -> KeyFigure {
    guard let result = file.epochs.deviation.result else {
      return KeyFigure(name: "CEP50", value: "–", note: "no position")
    }
    return KeyFigure(
      name: "CEP50", value: "\(fixed(result.cep50, 3)) m",
      note: "CEP95 \(fixed(result.cep95, 3)) m" + (file.epochs.isMoving ? "; moved: not its error" : ""))
  }

  private static func signals(_ satellites: SatelliteStatistics) -> KeyFigure {
    let rows = satellites.satellites.values.map(\.signals).filter { $0.count > 0 }
    let count = rows.reduce(0) { $0 + $1.count }
    guard count > 0 else { return KeyFigure(name: "Mean C/N0", value: "–", note: "no signal") }
    let mean = Double(rows.reduce(0) { $0 + $1.sum }) / Double(count)
    return KeyFigure(
      name: "Mean C/N0", value: "\(fixed(mean, 1)) dBHz",
      note: "\(rows.count) satellites, best \(rows.map(\.greatest).max() ?? 0)")
  }

  private static func firstFix(_ file: RecordingStatistics.Result) -> KeyFigure {
    let name = "Time to first fix"
    if let start = file.remarks.starts.first {
      return KeyFigure(
        name: name, value: start.firstFixSeconds.map { Drawing.duration($0) } ?? "none", note: "by the receiver",
        level: start.firstFixSeconds == nil ? .bad : nil)
    }
    return KeyFigure(
      name: name, value: file.epochs.firstFixSeconds.map { Drawing.duration($0, on: file.epochs.axis) } ?? "none",
      note: "from the first epoch", level: file.epochs.firstFixSeconds == nil ? .bad : nil)
  }

  /// The worst state of any input.
  private static func jamming(_ remarks: ReceiverRemarks) -> KeyFigure {
    let stages = remarks.stages.values
    guard !stages.isEmpty else { return KeyFigure(name: "Jamming", value: "not sent", note: "no MON-RF, no MON-HW") }
    let worst = stages.compactMap { stage in stage.jamming.indices.last { stage.jamming[$0] > 0 } }.max() ?? 0
    let indicator = stages.map(\.indicator.maximum).max() ?? 0
    return KeyFigure(
      name: "Jamming", value: ReceiverRemarks.jammingNames[worst],
      note: "CW indicator to \(fixed(indicator, 0)) of 255",
      level: [nil, .good, .warn, .bad][worst])
  }

  private static func used(_ file: RecordingStatistics.Result) -> KeyFigure {
    let used = file.epochs.used.total
    guard used.count > 0 else { return KeyFigure(name: "Satellites used", value: "–") }
    let inView = file.satellites.satellites.count
    return KeyFigure(
      name: "Satellites used", value: fixed(used.mean, 1),
      note: "\(fixed(used.minimum, 0)) to \(fixed(used.maximum, 0))" + (inView > 0 ? ", \(inView) in view" : ""))
  }
}
