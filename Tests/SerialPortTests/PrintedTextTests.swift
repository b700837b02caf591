// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import Testing

@Suite("Text of the outside on a terminal")
struct PrintedTextTests {
  @Test(
    "Control characters of C0 and C1, separators of lines and changes of direction are escaped",
    arguments: [
      ("\u{1B}]0;title\u{07}", "\\u001b]0;title\\u0007"), ("a\u{9B}2Jb", "a\\u009b2Jb"), ("\u{7F}", "\\u007f"),
      ("ok\r\nsextant: forged", "ok\\u000d\\u000asextant: forged"), ("\u{202E}txt", "\\u202etxt"),
      ("\u{2028}", "\\u2028"),
      ("\u{0}", "\\u0000"),
    ])
  func escaped(text: String, printed: String) { #expect(PrintedText.escaped(text) == printed) }

  @Test("Every scalar up to U+2100 that a terminal obeys is escaped, and no other", arguments: [false, true])
  func all(keepsLines: Bool) {
    for scalar in (0...0x2100).compactMap(Unicode.Scalar.init) {
      let isControl =
        scalar.properties.generalCategory == .control || scalar.value == 0x2028 || scalar.value == 0x2029
        || scalar.properties.isBidiControl
      let isKept = keepsLines && (scalar == "\n" || scalar == "\t")
      let text = String(Character(scalar))
      #expect((PrintedText.escaped(text, keepsLines: keepsLines) == text) == (!isControl || isKept), "\(scalar.value)")
    }
  }
}

@Suite("The checks of a program at its start")
struct ProcessStartTests {
  @Test("Descriptors and threads that there are, are not a reason to end; more descriptors than the limit are")
  func shortage() {
    #expect(ProcessStart.prepare(descriptors: 8, threads: 2) == nil)
    let most = ProcessStart.prepare(descriptors: .max)
    #expect(most == .descriptors(.tooManyOpenFiles, needed: .max))
    // Descriptors opened for the check are closed.
    #expect(ProcessStart.prepare(descriptors: 8) == nil)
  }

  @Test("A closed pipe, and a file at the limit of its size, are errors of a write; the signals would kill the process")
  func ignoredSignals() {
    _ = ProcessStart.prepare(descriptors: 1)
    for number in [SIGPIPE, SIGXFSZ] {
      var action = sigaction()
      #expect(unsafe sigaction(number, nil, &action) == 0)
      // SIG_IGN is the number 1 as a function pointer, which Swift cannot compare.
      #expect(unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1, "\(number)")
    }
  }
}
