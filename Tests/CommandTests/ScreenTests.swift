// SPDX-License-Identifier: Apache-2.0
import GPSD
import MonotonicTime
import Receiver
import ReceiverSimulator
import ReceiverStream
import Testing

@testable import sextant

@Suite("The screen of watch")
struct ScreenTests {
  private static let bytes = VirtualLine.recording(startUTCSeconds: 1_780_000_000, seconds: 10).flatMap(\.self)
  private static let columns = [1, 2, 3, 5, 8, 11, 16, 22, 28, 29, 40, 43, 44, 60, 80, 84, 132, 300]
  private static let rows = [1, 2, 3, 4, 5, 8, 12, 16, 24, 40, 100]
  private static let views: [[ScreenKey]] = [
    [], [.character("s")], [.character("m")], [.character("?")], [.character("m"), .character("p"), .pageUp],
  ]

  private static func seconds(_ seconds: UInt64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

  /// A screen after ten epochs of the simulator; the last ones have a position. The name of its device has wide,
  /// combining and control characters.
  private func screen(
    _ capabilities: ScreenCapabilities = .all, device: String = "/dev/gnss0", keys: [ScreenKey] = []
  ) -> Screen {
    var screen = Screen(Self.seconds(0), capabilities)
    screen.open(device, baud: 9600)
    var listener = Listener(searchingFrom: nil, reference: nil, now: Self.seconds(0))
    _ = unsafe listener.receive(Self.bytes.span.bytes, at: Self.seconds(0)) { report, sky in
      screen.take(report, sky, Self.seconds(10))
    }
    screen.set(listener.counters, rejected: 0)
    screen.set(bytes: UInt64(Self.bytes.count))
    var stream = FrameStream()
    var messages: [MessageLog.Entry] = []
    unsafe stream.receive(Self.bytes.span.bytes) { messages.append(MessageLog.Entry($0)) }
    for message in messages { screen.add(message) }
    for key in keys { _ = screen.press(key, Self.seconds(10)) }
    return screen
  }

  private func text(_ screen: inout Screen, _ columns: Int = 80, _ rows: Int = 24, at second: UInt64 = 10) -> [String] {
    screen.lines(ScreenSize(columns: columns, rows: rows), Self.seconds(second)).map(\.text)
  }

  private func fix(_ latitude: Double, _ longitude: Double) -> Fix {
    var fix = Fix()
    fix.kind = .threeD
    (fix.latitudeDegrees, fix.longitudeDegrees) = (latitude, longitude)
    return fix
  }

  // MARK: Size

  @Test("At any size there is a line for each row, and none is wider than the screen", arguments: columns)
  func widths(columns: Int) {
    for capabilities in [ScreenCapabilities.all, ScreenCapabilities(isUTF8: false, hasColour: false)] {
      for keys in Self.views {
        var screen = screen(capabilities, device: "/dev/東京\u{301}\u{1B}[2J🛰", keys: keys)
        screen.show(notice: "東京: a notice of the receiver that is longer than most of the screens are wide, in words")
        for rows in Self.rows {
          let lines = screen.lines(ScreenSize(columns: columns, rows: rows), Self.seconds(10))
          #expect(lines.count == rows)
          for line in lines {
            #expect(
              line.cells <= columns && line.cells == ScreenText.cells(line.text), "\(columns) × \(rows): \(line.text)")
            #expect(capabilities.isUTF8 || line.text.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "\(line.text)")
            #expect(!line.text.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{301}" || $0 == "🛰" })
          }
        }
      }
    }
  }

  @Test("The position is in the first line, or in the first two of a narrow screen, in every view", arguments: columns)
  func positionFirst(columns: Int) {
    for keys in Self.views {
      var screen = screen(keys: keys)
      for rows in Self.rows {
        let lines = text(&screen, columns, rows)
        #expect(!lines[0].isEmpty)
        if columns >= 8 { #expect(lines[0].contains("48.")) }
        if columns >= 11, rows > 1 { #expect(lines[0].contains("11.") || lines[1].contains("11.")) }
        if columns >= 44 { #expect(lines[0].contains("48.16") && lines[0].contains("° N  11.60")) }
      }
    }
  }

  @Test("A number is left out rather than cut, and a cut text has a mark")
  func wholeNumbers() {
    var screen = Screen(Self.seconds(0))
    screen.open("/dev/serial/by-id/usb-u-blox_AG_-_www.u-blox.com_u-blox_GNSS_receiver-if00", baud: 115_200)
    var fix = fix(-89.123456789, -179.123456789)
    fix.horizontalAccuracyMetres = 1234.5
    screen.take(EpochAssembler.Report(fix: fix), Sky(), Self.seconds(0))
    for columns in 1...80 {
      let lines = text(&screen, columns, 24, at: 0)
      if lines[0].contains("±") { #expect(lines[0].hasSuffix("± 1234.5 m")) }
      let narrow = "89.1234568° S".prefix(columns)
      if columns < 13 { #expect(lines[0].hasSuffix("S") || lines[0].hasSuffix("…"), "\(columns): \(lines[0])") }
      #expect(columns > 12 || lines[0].first == narrow.first || columns == 1)
      let status = lines[23]
      if status.contains("/dev"), !status.contains("if00") { #expect(status.contains("…")) }
    }
  }

  @Test("A screen of one cell shows that there is more")
  func oneCell() {
    var screen = screen()
    #expect(text(&screen, 1, 1) == ["…"])
    var plain = self.screen(ScreenCapabilities(isUTF8: false))
    #expect(text(&plain, 1, 1) == [">"])
  }

  @Test("A long notice has up to three lines, and at a small size one")
  func notice() {
    var screen = screen()
    screen.show(notice: "no valid frame for 5 s; still waiting (check that it is a receiver, and its wiring RX to TX)")
    let lines = text(&screen, 50, 24)
    #expect(lines[21] == "  no valid frame for 5 s; still waiting (check")
    #expect(lines[22] == "  that it is a receiver, and its wiring RX to TX)")
    #expect(text(&screen, 50, 5)[3].hasPrefix("  no valid frame for 5 s; still waiting (check"))
    #expect(text(&screen, 50, 5)[3].hasSuffix("…"))
  }

  // MARK: Keys

  @Test("Keys are found in bytes that arrive in pieces of any size, and unknown sequences are none")
  func decoder() {
    let bytes = Array("q\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[6~\u{1B}[1;5C\u{1B}[H\u{1B}[4~\t\u{1B}[200~é ?".utf8)
    let keys: [ScreenKey] = [
      .character("q"), .up, .down, .pageUp, .pageDown, .home, .end, .tab, .character(" "), .character("?"),
    ]
    for size in 1...bytes.count {
      var decoder = KeyDecoder()
      let found = stride(from: 0, to: bytes.count, by: size).flatMap {
        decoder.receive(bytes[$0..<min(bytes.count, $0 + size)])
      }
      #expect(found == keys)
    }
  }

  @Test("A key after Escape counts")
  func escape() {
    var decoder = KeyDecoder()
    #expect(decoder.receive([0x1B]) == [])
    #expect(decoder.receive(Array("q".utf8)) == [.character("q")])
    #expect(decoder.receive([0x1B, 0x1B]) == [.escape])
    #expect(decoder.receive(Array("[A".utf8)) == [.up])
  }

  @Test("q ends from every view, and other keys do nothing", arguments: views)
  func quit(keys: [ScreenKey]) {
    var screen = screen(keys: keys)
    #expect(screen.press(.character("q"), Self.seconds(10)) == .quit)
    var first = self.screen()
    #expect(first.press(.character("x"), Self.seconds(10)) == .none)
  }

  @Test("While it is paused the screen keeps what it shows, and then shows the present state")
  func pause() {
    var screen = screen()
    let before = text(&screen)
    #expect(screen.press(.character("p"), Self.seconds(10)) == .redraw)
    screen.take(EpochAssembler.Report(fix: fix(-33.5, 151.2)), Sky(), Self.seconds(11))
    screen.set(bytes: 9_999_999)
    let paused = text(&screen, at: 60)
    #expect(paused.dropLast() == before.dropLast())
    #expect(paused.last?.contains(" paused ") == true)
    screen.take(EpochAssembler.Report(fix: fix(-33.5, 151.2)), Sky(), Self.seconds(61))
    #expect(screen.press(.character("p"), Self.seconds(61)) == .redraw)
    #expect(text(&screen, at: 61)[0].contains("33.5000000° S  151.2000000° E"))
  }

  @Test("The help lists the keys, and any key returns to the view before it")
  func help() {
    var screen = screen(keys: [.character("s"), .character("?")])
    #expect(text(&screen).contains { $0.contains("list of satellites") })
    #expect(screen.press(.character("m"), Self.seconds(10)) == .redraw)
    #expect(screen.view == .sky)
  }

  @Test("Tab goes through the views")
  func tab() {
    var screen = screen()
    let views = (0..<3).map { _ in
      _ = screen.press(.tab, Self.seconds(10))
      return screen.view
    }
    #expect(views == [.sky, .messages(newer: 0), .satellites(first: 0)])
  }

  @Test("The list of satellites scrolls by rows and pages, and not beyond its ends")
  func scrolling() {
    var screen = screen(keys: [.down])
    let (columns, rows) = (30, 10)
    let second = text(&screen, columns, rows)
    #expect(second.contains { $0.contains("rows 2-") })
    for _ in 0..<100 { _ = screen.press(.pageDown, Self.seconds(10)) }
    let end = text(&screen, columns, rows)
    _ = screen.press(.up, Self.seconds(10))
    #expect(text(&screen, columns, rows) != end, "one step back moves at once")
    _ = screen.press(.home, Self.seconds(10))
    #expect(screen.view == .satellites(first: 0))
  }

  // MARK: Views

  @Test("Each satellite is in the list with its signal, and those with a direction are in the sky")
  func satellites() throws {
    var screen = screen()
    let list = text(&screen, 80, 40)
    let title = try #require(list.first { $0.contains("Satellites ") })
    let count = try #require(Int(title.split(separator: " ")[1].filter(\.isNumber)))
    let names = list.flatMap { $0.split(separator: " ").map(String.init) }.filter {
      $0.count == 3 && "GRECSJ".contains($0.first ?? " ") && $0.dropFirst().allSatisfy(\.isNumber)
    }
    #expect(names.count == count && count > 5)
    _ = screen.press(.character("s"), Self.seconds(10))
    let sky = text(&screen, 60, 40).joined()
    for name in Set(names) { #expect(sky.contains(name)) }
    #expect(sky.contains("·") && sky.contains("N"))
  }

  @Test("A small window has no sky and says so")
  func noSky() {
    var screen = screen(keys: [.character("s")])
    #expect(text(&screen, 80, 7).contains { $0.contains("too small") })
  }

  @Test("The view of messages shows the newest at the bottom, and stays where a reader has scrolled to")
  func messages() throws {
    var screen = screen(keys: [.character("m")])
    func last() -> String? { text(&screen, 80, 24).last { $0.contains("bytes  b562") || $0.contains("$G") } }
    let newest = try #require(last())
    #expect(newest.contains("bytes  b562") || newest.contains("$G"))
    _ = screen.press(.up, Self.seconds(10))
    let older = try #require(last())
    #expect(older != newest)
    var stream = FrameStream()
    let sentence = Array("$GNGLL,4809.9,N,01136.3,E,100000.00,A,A*7C\r\n".utf8)
    var entries: [MessageLog.Entry] = []
    unsafe stream.receive(sentence.span.bytes) { entries.append(MessageLog.Entry($0)) }
    #expect(entries.count == 1)
    for entry in entries { screen.add(entry) }
    #expect(last() == older)
    _ = screen.press(.end, Self.seconds(10))
    #expect(text(&screen, 80, 24).contains { $0.contains("$GNGLL,4809.9") })
  }

  @Test("The log of messages has a limit")
  func limit() throws {
    var log = MessageLog()
    var stream = FrameStream()
    for _ in 0..<100 { unsafe stream.receive(Self.bytes.span.bytes) { log.add(MessageLog.Entry($0)) } }
    #expect(log.entries.count <= 1000 && log.total > 2000)
  }

  // MARK: Terminal

  @Test(
    "The locale decides whether characters beyond ASCII are used",
    arguments: [
      ([:], false), (["LANG": "C"], false), (["LANG": "de_DE.UTF-8"], true), (["LANG": "C.utf8"], true),
      (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], false), (["LC_CTYPE": "C.UTF-8", "LANG": "C"], true),
      (["LANG": "C.UTF-8", "LC_ALL": ""], true),
    ] as [([String: String], Bool)])
  func locale(variables: [String: String], isUTF8: Bool) {
    #expect(ScreenCapabilities { variables[$0] }.isUTF8 == isUTF8)
  }

  @Test(
    "NO_COLOR and terminals without colours are respected",
    arguments: [
      (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": "1"], false),
      (["TERM": "xterm", "NO_COLOR": ""], true),
      (["TERM": "vt220"], false), (["TERM": "linux-m"], false),
    ] as [([String: String], Bool)])
  func colour(variables: [String: String], hasColour: Bool) {
    let capabilities = ScreenCapabilities { variables[$0] }
    #expect(capabilities.hasColour == hasColour)
    var screen = screen(capabilities)
    var line = JSONLine()
    screen.draw(into: &line, (80, 24), Self.seconds(10))
    #expect(line.text.contains("\u{1B}[32m") == hasColour)
    #expect(line.text.contains("\u{1B}[1m"))
  }

  @Test("A line that fills the screen is not erased behind its end, and the last one does not scroll")
  func fullLines() {
    let size = ScreenSize(columns: 4, rows: 2)
    var lines = [ScreenLine(width: 4, isUTF8: true), ScreenLine(width: 4, isUTF8: true)]
    lines[0].put("full")
    lines[1].put("not")
    var output = JSONLine()
    ScreenDrawing.draw(lines, size, hasColour: true, into: &output)
    #expect(output.text == "\u{1B}[Hfull\r\nnot\u{1B}[K")
  }

  @Test("The summary has epochs, the first fix, the last position, bytes and errors")
  func summary() {
    var screen = Screen(Self.seconds(0))
    screen.open("/dev/gnss0", baud: nil)
    screen.take(EpochAssembler.Report(fix: Fix()), Sky(), Self.seconds(1))
    var located = fix(48.1642557, 11.6056307)
    located.horizontalAccuracyMetres = 3.6
    located.time = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000)
    screen.take(EpochAssembler.Report(fix: located), Sky(), Self.seconds(2))
    screen.set(bytes: 1234)
    #expect(
      screen.summary(Self.seconds(20)) == """
        /dev/gnss0: 2 epochs in 20 s, 1 with a position, the first after 2.0 s
        last position 48.1642557° N  11.6056307° E  ± 3.6 m  2026-05-28T20:26:40.000Z
        1234 bytes, 0 frames, 0 wrong checksums, 0 bytes skipped

        """)
    let silent = Screen(Self.seconds(0), ScreenCapabilities(isUTF8: false))
    #expect(silent.summary(Self.seconds(3)).hasPrefix("no device: 0 epochs in 3 s\n"))
  }

  @Test("The output on a terminal begins with the alternate screen, and the key q requests the end")
  func end() {
    var view = WatchView(.screen, now: Self.seconds(0))
    view.open("/dev/gnss0", baud: 9600, .device("/dev/gnss0"))
    view.update(StreamCounters(), rejected: 0, Self.seconds(0))
    let output = view.pending
    #expect(output.hasPrefix("\u{1B}[?1049h") && output.contains("listening"))
    view.discard()
    view.press(Array("q".utf8), at: Self.seconds(1))
    let isEndRequested = view.isEndRequested
    #expect(isEndRequested)
  }
}
