// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxIO
import ReceiverRuntime
import ReceiverStream

/// `sextant report`: the statistics of recordings as a page.
struct Report: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Make a page of recordings.",
    discussion: """
      Writes one HTML file with pictures and numbers of a recording: deviation, track, sky, signals, charts over time, messages. \
      Several recordings are shown side by side. The page loads nothing from elsewhere.
      """)

  @Option(name: .shortAndLong, help: "The page; - for standard output.")
  var output = "report.html"

  @Option(
    help: """
      The place of the antenna, LAT,LON or LAT,LON,HEIGHT in degrees and metres above the ellipsoid: deviations are from \
      it and not from the mean.
      """)
  var truth: String?

  @Argument(help: "Recordings, or plain bytes; - for standard input. At most 8.")
  var files: [String]

  func validate() throws {
    if files.isEmpty || files.count > 8 { throw ValidationError("Name one to eight recordings.") }
    if files.contains(output), output != "-" { throw ValidationError("--output is one of the recordings.") }
    if truth != nil, place == nil { throw ValidationError("--truth must be LAT,LON or LAT,LON,HEIGHT.") }
  }

  /// The place of the antenna; nil without the option, and for text that is not a place.
  private var place: Truth? {
    guard let parts = truth?.split(separator: ",", omittingEmptySubsequences: false) else { return nil }
    let numbers = parts.compactMap { Double($0) }
    guard numbers.count == parts.count, (2...3).contains(numbers.count), numbers.allSatisfy(\.isFinite),
      abs(numbers[0]) <= 90, abs(numbers[1]) <= 180
    else { return nil }
    return Truth(
      latitudeDegrees: numbers[0], longitudeDegrees: numbers[1], heightMetres: numbers.count == 3 ? numbers[2] : nil)
  }

  func run() throws {
    let results = try files.map { try read($0) }
    for result in results where result.epochs.positions == 0 {
      printNotice("\(result.name): no fix with a position; its page has no track and no deviation")
    }
    let page = ReportPage.html(results)
    if output == "-" { return try Output.write(page) }
    try write(page)
    printNotice("\(output): \(page.utf8.count / 1000) kB")
  }

  private func read(_ path: String) throws -> RecordingStatistics.Result {
    var input = try StreamInput(opening: path, printsMeanwhile: false)
    var statistics = RecordingStatistics(truth: place)
    var datum = LocalDatum()
    let counters = try input.read(
      pauses: { statistics.pauses(milliseconds: $0) },
      frame: { frame in
        datum.receive(frame)
        statistics.receive(frame)
      })
    try input.check(counters)
    if let notice = datum.notice { printNotice("\(input.name): \(notice)") }
    return statistics.finish(name: input.name, bytes: input.bytes, counters)
  }

  /// Replaces the page in one step, so that a full disk leaves the former one.
  private func write(_ page: String) throws {
    do throws(FileError) { try UserFile.replace(output, with: page, permissions: 0o600) } catch {
      throw CommandFailure(.cannotCreate, "\(error.path): \(error.reason); name another file with --output")
    }
  }
}
