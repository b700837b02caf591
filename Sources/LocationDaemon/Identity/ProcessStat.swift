// SPDX-License-Identifier: Apache-2.0
import FileSystem

/// The content of /proc/PID/stat (proc(5)).
struct ProcessStat: Equatable, Sendable {
  private let text: String
  /// Where the fields after the name begin.
  private let fields: [Substring]

  /// Nil for a text that is not of this form.
  init?(_ text: String) {
    // The name may have spaces and parentheses.
    guard let end = text.lastIndex(of: ")") else { return nil }
    self.text = text
    fields = text[text.index(after: end)...].split(separator: " ")
  }

  /// The state of a process now; nil if it does not exist.
  init?(process: Int32) {
    guard let text = AttributeFile.read("/proc/\(process)/stat") else { return nil }
    self.init(text)
  }

  /// Returns a number, whose fields count from 1, from the third one on.
  func field<Number: FixedWidthInteger>(_ number: Int) -> Number? {
    fields.indices.contains(number - 3) ? Number(fields[number - 3]) : nil
  }

  var name: Substring {
    guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")"), start < end else { return "" }
    return text[text.index(after: start)..<end]
  }

  var parent: Int32? { field(4) }
  /// Whether it has a controlling terminal.
  var hasTerminal: Bool { field(7) ?? 0 != 0 }
  /// The time of the process's start in clock ticks since the start of the computer. It tells processes apart that have the same
  /// number one after the other.
  var start: UInt64? { field(22) }

  /// Whether the process group is the terminal's foreground group.
  var isInForeground: Bool {
    guard let group: Int32 = field(5), let foreground: Int32 = field(8) else { return false }
    return foreground > 0 && group == foreground
  }
}
