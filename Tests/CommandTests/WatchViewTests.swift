// SPDX-License-Identifier: Apache-2.0
import GPSD
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import sextant

@Suite("The output of watch")
struct WatchViewTests {
  private static let start: Int64 = 1_780_000_000

  /// The output for ten epochs of one read. All but the first ones have a position. With `warmsUp`, the end of an epoch
  /// is announced after each.
  private func output(
    _ kind: WatchView.Kind, limit: Int?, warmsUp: Bool = false
  ) -> (text: String, fixes: Int) {
    let now = Instant(nanoseconds: 0)
    var view = WatchView(kind, limit: limit, now: now)
    view.open("/dev/ttyACM0", baud: 9600, .device("/dev/ttyACM0"))
    var listener = Listener(searchingFrom: nil, reference: nil, now: now)
    let bytes = VirtualLine.recording(startUTCSeconds: Self.start, seconds: 10).flatMap(\.self)
    var written = ""
    _ = unsafe listener.receive(bytes.span.bytes, at: now) { report, sky in
      view.show(report, sky, now)
      guard warmsUp else { return }
      view.warmUp(report, sky)
      written += view.pending
      view.discard()
      view.warmUp(report, sky)
    }
    view.update(listener.counters, rejected: 0, now)
    return (written + view.pending, view.fixes)
  }

  @Test("--json prints a TPV and a SKY for each epoch, one a line")
  func json() {
    let lines = output(.json, limit: nil).text.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix(#"{"class":"TPV","device":"/dev/ttyACM0""#) }.count == 10)
    #expect(lines.filter { $0.hasPrefix(#"{"class":"SKY""#) }.count == 10)
    #expect(lines.count == 20)
  }

  @Test("The preparation for an epoch neither repeats the previous epoch nor removes pending output")
  func warmUp() {
    #expect(output(.json, limit: nil, warmsUp: true).text == output(.json, limit: nil).text)
  }

  @Test("--count ends with the requested epoch, also if a read has more")
  func count() {
    let (text, fixes) = output(.json, limit: 2)
    #expect(fixes == 2)
    #expect(text.split(separator: "\n").filter { $0.contains("TPV") && $0.contains(#""mode":3"#) }.count == 2)
  }

  @Test("A line names a position that is not of satellites or beyond the limits")
  func doubtful() {
    var fix = Fix()
    (fix.kind, fix.latitudeDegrees, fix.longitudeDegrees) = (.deadReckoning, 48, 11)
    var line = JSONLine()
    line.plain(fix)
    (fix.kind, fix.quality) = (.threeD, .simulated)
    line.plain(fix)
    fix.isWithinLimits = false
    line.plain(fix)
    let ends = line.text.split(separator: "\n").map { $0.split(separator: "  ").last ?? "" }
    #expect(ends == ["dead reckoning", "simulated", "outside the receiver's limits"])
  }

  @Test("Without a terminal the output is a line for each epoch")
  func lines() {
    let lines = output(.lines, limit: nil).text.split(separator: "\n")
    #expect(lines.count == 10)
    #expect(lines[0].hasSuffix("no fix"))
    #expect(lines[9].contains("48.16"))
  }

  @Test("A fix disappears from the screen after five seconds without an epoch, and the next one appears")
  func outdated() {
    var screen = Screen(Instant(nanoseconds: 0))
    var fix = Fix()
    fix.kind = .threeD
    (fix.latitudeDegrees, fix.longitudeDegrees) = (48.1642, 11.6056)
    func text(atSeconds seconds: UInt64) -> String {
      var line = JSONLine()
      screen.draw(into: &line, (80, 40), Instant(nanoseconds: seconds * 1_000_000_000))
      return line.text
    }
    for second in 1...3 as ClosedRange<UInt64> {
      screen.take(EpochAssembler.Report(fix: fix), Sky(), Instant(nanoseconds: second * 1_000_000_000))
    }
    let shown = text(atSeconds: 7)
    #expect(shown.contains("3D") && shown.contains("48.16") && shown.contains("no epoch for 4 s"))
    let outdated = text(atSeconds: 8)
    #expect(!outdated.contains("3D") && !outdated.contains("48.16") && outdated.contains("no valid message any more"))
    screen.take(EpochAssembler.Report(fix: fix), Sky(), Instant(nanoseconds: 9_000_000_000))
    #expect(text(atSeconds: 9).contains("48.16"))
  }

  @Test("A receiver with an epoch each ten seconds keeps its fix on the screen between them")
  func slow() {
    var screen = Screen(Instant(nanoseconds: 0))
    var fix = Fix()
    fix.kind = .threeD
    (fix.latitudeDegrees, fix.longitudeDegrees) = (48.1642, 11.6056)
    for second in [0, 10, 20] as [UInt64] {
      screen.take(EpochAssembler.Report(fix: fix), Sky(), Instant(nanoseconds: second * 1_000_000_000))
    }
    var line = JSONLine()
    screen.draw(into: &line, (80, 40), Instant(nanoseconds: 29_000_000_000))
    #expect(line.text.contains("48.16"))
  }

  @Test("The screen is drawn once for a read, from its first cell, and names the device")
  func screen() {
    let text = output(.screen, limit: nil).text
    #expect(text.components(of: "\u{1B}[H") == 1)
    #expect(text.contains("/dev/ttyACM0"))
    #expect(text.contains("48.16"))
    #expect(text.contains("█"))
  }
}

extension String {
  /// The number of occurrences of a text.
  fileprivate func components(of text: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: text) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
