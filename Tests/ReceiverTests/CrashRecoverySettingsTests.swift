// SPDX-License-Identifier: Apache-2.0
import Receiver
import TestSupport
import Testing

/// The settings that a program writes to a file are read by the next program, also from a damaged file.
@Suite("The file of settings that were left")
struct CrashRecoverySettingsTests {
  /// Every kind of line that there is.
  private static let text = """
    of x0123456789
    item 807469057 1000
    message 1544 x period 1000
    message 1537 x0107 rate 1
    message 1572 x model 4
    message 1571 x answers 1
    message 1536 x01 protocols 7 3
    message 1553 x low 1
    message 1670 x continuous
    message 1567 x payload x00010203
    value messages -GGA:1
    log 3
    kept 807469057 1000
    unreadable
    whole
    """

  @Test("Every kind of line is read and written again", arguments: ["unreadable", "unread"])
  func lines(knowledge: String) throws {
    let text = Self.text.replacing("unreadable", with: knowledge)
    let settings = try #require(CrashRecoverySettings(text))
    #expect(settings.text == text)
    #expect(CrashRecoverySettings(settings.text) == settings)
  }

  @Test("The port of the line is read again, and no other number is")
  func port() {
    #expect(CrashRecoverySettings("of x01 port 3\nitem 1 2")?.text == "of x01 port 3\nitem 1 2")
    for text in ["of x01 port", "of x01 port 9", "of x01 at 3", "of x01 port 3 3"] {
      #expect(CrashRecoverySettings(text) == nil, "\(text)")
    }
  }

  @Test(
    "A line of blanks alone makes the file none",
    arguments: ["of x\n ", "of x\n \nwhole", " \nof x", " ", "   \n", "\n"])
  func blanks(text: String) {
    #expect(CrashRecoverySettings(text) == nil)
  }

  @Test("A file that was changed anywhere is read or rejected", arguments: 1...4 as ClosedRange<UInt64>)
  func mutated(seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed)
    let tokens = [
      "", " ", "  ", "\n", "\n ", "x", "-1", "0", "65536", "4294967296", "18446744073709551616", "é", "\u{0}", "\r\n",
      "+",
      "message", "item", "kept", "unreadable", "unread", "whole", "of",
    ]
    var read = 0
    for _ in 0..<repetitions(5000) {
      var words = Self.text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      for _ in 0..<random.int(1...3) {
        let place = random.int(0...words.count - 1)
        switch random.int(0...3) {
        case 0: words.insert(random.element(of: tokens), at: place)
        case 1 where words.count > 1: words.remove(at: place)
        case 2: words[place] = random.element(of: tokens)
        default:
          var scalars = Array(words[place].unicodeScalars)
          if !scalars.isEmpty {
            scalars[random.int(0...scalars.count - 1)] = Unicode.Scalar(UInt8(random.int(0...127)))
          }
          words[place] = String(String.UnicodeScalarView(scalars))
        }
      }
      if let settings = CrashRecoverySettings(words.joined(separator: " ")) {
        read += 1
        #expect(CrashRecoverySettings(settings.text) == settings)
      }
    }
    #expect(read > 0)
  }
}
