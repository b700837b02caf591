// SPDX-License-Identifier: Apache-2.0
import LinuxIO

/// The content of /proc/PID/stat (proc(5)).
struct ProcessStat: Equatable, Sendable {
  private let text: String
  /// The position of the fields after the name.
  private let fields: [Substring]

  /// Returns nil for a text of another form.
  init?(_ text: String) {
    // The name may contain spaces and parentheses.
    guard let end = text.lastIndex(of: ")") else { return nil }
    self.text = text
    fields = text[text.index(after: end)...].split(separator: " ")
  }

  /// The current state of a process; nil if it does not exist.
  init?(process: Int32) {
    guard let text = AttributeFile.read("/proc/\(process)/stat") else { return nil }
    self.init(text)
  }

  /// Returns the number in a field, 3 or above; fields count from 1.
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
  /// The time of the process's start in clock ticks since the start of the computer. It distinguishes processes that
  /// reuse the same id.
  var start: UInt64? { field(22) }

  /// Whether the process group is the terminal's foreground group.
  var isInForeground: Bool {
    guard let group: Int32 = field(5), let foreground: Int32 = field(8) else { return false }
    return foreground > 0 && group == foreground
  }
}
