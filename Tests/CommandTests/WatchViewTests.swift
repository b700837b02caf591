import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import sextant

@Suite("What watch shows")
struct WatchViewTests {
  private static let start: Int64 = 1_780_000_000

  /// What is shown of ten epochs that one read brings, all but the first ones with a position.
  /// With rehearsals, the end of an epoch is announced after each.
  private func shown(
    _ kind: WatchView.Kind, limit: Int?, rehearses: Bool = false
  ) -> (text: String, fixes: Int) {
    let now = Instant(nanoseconds: 0)
    var view = WatchView(kind, limit: limit, now: now)
    view.open("/dev/ttyACM0", baud: 9600, .device("/dev/ttyACM0"))
    var listener = Listener(searchingFrom: nil, reference: nil, now: now)
    let bytes = VirtualLine.recording(startUTCSeconds: Self.start, seconds: 10).flatMap(\.self)
    var written = ""
    _ = unsafe listener.receive(bytes.span.bytes, at: now) { report, sky in
      view.show(report, sky, now)
      guard rehearses else { return }
      view.rehearse(report, sky)
      written += view.pending
      view.discard()
      view.rehearse(report, sky)
    }
    view.update(listener.counters, rejected: 0, now)
    return (written + view.pending, view.fixes)
  }

  @Test("--json is a TPV and a SKY for each epoch, on lines of their own")
  func json() {
    let lines = shown(.json, limit: nil).text.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix(#"{"class":"TPV","device":"/dev/ttyACM0""#) }.count == 10)
    #expect(lines.filter { $0.hasPrefix(#"{"class":"SKY""#) }.count == 10)
    #expect(lines.count == 20)
  }

  @Test("Getting ready for an epoch shows nothing of the one before again, and takes nothing away that waits")
  func rehearsals() {
    #expect(shown(.json, limit: nil, rehearses: true).text == shown(.json, limit: nil).text)
  }

  @Test("--count ends with the epoch that was asked for, also when a read brings more")
  func count() {
    let (text, fixes) = shown(.json, limit: 2)
    #expect(fixes == 2)
    #expect(text.split(separator: "\n").filter { $0.contains("TPV") && $0.contains(#""mode":3"#) }.count == 2)
  }

  @Test("Without a terminal people get a line for each epoch")
  func lines() {
    let lines = shown(.lines, limit: nil).text.split(separator: "\n")
    #expect(lines.count == 10)
    #expect(lines[0].hasSuffix("no fix"))
    #expect(lines[9].contains("48.16"))
  }

  @Test("The screen is drawn once for a read, from its first place, and names the device")
  func screen() {
    let text = shown(.screen, limit: nil).text
    #expect(text.components(of: "\u{1B}[H") == 1)
    #expect(text.contains("/dev/ttyACM0"))
    #expect(text.contains("48.16"))
    #expect(text.contains("█"))
  }
}

extension String {
  /// How often a text stands in this one.
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
