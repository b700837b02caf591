// SPDX-License-Identifier: Apache-2.0
import GPSD
import LinuxIO
import LocationService
import Positioning

/// The output of `sextant authorize`.
struct PermissionListing {
  var folder: String
  /// Whether services are on, by the user's switch and the machine's policy.
  var isOn: Bool
  var isOnForUser: Bool
  var entries: [AuthorizationStore.Entry]
  /// The questions that wait in the location service.
  var questions: [OpenQuestion] = []

  /// Returns text for the user: the switch, then a line for each program.
  func lines() -> String {
    var text = "location services are " + (isOn ? "on" : isOnForUser ? "off for this machine" : "off") + "\n"
    for question in questions {
      let app = PrintedText.escaped(question.app)
      let stated = question.label.map { app.hasPrefix("\($0)@") ? "" : " as \(PrintedText.escaped($0))" } ?? ""
      text +=
        "\(app) asks\(stated): \(PrintedText.escaped(question.prompt.text)) (process \(question.process); answer with `sextant authorize allow` or "
        + "`deny`)\n"
    }
    if entries.isEmpty, !questions.isEmpty { return text }
    if entries.isEmpty { return text + "no program has asked yet (\(folder))\n" }
    let names = entries.map { PrintedText.escaped($0.app) }
    let width = names.map(\.count).max() ?? 0
    for (name, entry) in zip(names, entries) {
      var words = [Self.name(entry.status)]
      if entry.accuracy == .reduced { words.append("to about 5 km") }
      if entry.isRestricted { words.append("restricted by the machine's administrator") }
      if entry.isUnreadable { words.append("the stored decision cannot be read") }
      if entry.regions > 0 { words.append("\(entry.regions) region\(entry.regions == 1 ? "" : "s")") }
      if entry.visits { words.append("visits") }
      text +=
        name + String(repeating: " ", count: width - name.count + 2) + words.joined(separator: ", ") + "\n"
    }
    return text
  }

  /// Returns one JSON object.
  func json() -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("services", isOn)
    line.field("folder", text: folder)
    line.beginArray("apps")
    for entry in entries {
      line.beginObject()
      line.field("app", text: entry.app)
      line.field("status", text: Self.name(entry.status))
      line.field("accuracy", text: entry.accuracy == .full ? "full" : "reduced")
      line.field("regions", entry.regions)
      line.field("visits", entry.visits)
      line.field("restricted", entry.isRestricted)
      line.endObject()
    }
    line.endArray()
    line.beginArray("questions")
    for question in questions {
      line.beginObject()
      line.field("app", text: question.app)
      line.field("pid", question.process)
      line.field("text", text: question.prompt.text)
      line.endObject()
    }
    line.endArray()
    line.endObject()
    line.endLine()
    return line.text
  }

  /// The name of the status in Core Location.
  private static func name(_ status: AuthorizationStatus) -> String { "\(status)" }
}
