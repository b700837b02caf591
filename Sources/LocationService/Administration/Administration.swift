// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning

/// The external decisions about the program's permission, from three files; a text is nil for a file that does not exist.
package struct Administration: Sendable, Equatable {
  /// The program.
  let app: AppDescription
  /// The program's permission, which the user's answers and `sextant authorize` write.
  var authorization: String?
  /// The user's switch of all location services.
  var services: String?
  /// The policy of the machine's administrator.
  var policy = LocationPolicy(parsing: nil)

  init(app: AppDescription) { self.app = app }

  /// Whether location services are on (GE-1). A switch that cannot be read counts as off, in favour of privacy.
  var servicesAreOn: Bool {
    (ServicesSwitch.isOn(services) ?? false) && !policy.servicesAreOff
  }

  /// Whether the administrator denies locations to this program, which its user cannot change (C4).
  var isRestricted: Bool { policy.restricts(app) }

  /// Returns a line for each file that cannot be read, with the next step.
  func problems(stateFolder: String) -> [String] {
    var problems: [String] = []
    if ServicesSwitch.isOn(services) == nil {
      problems.append(
        "\(stateFolder)/\(ServicesSwitch.path) cannot be read, and counts as off; run `sextant authorize services on`")
    }
    if let problem = policy.problem { problems.append(problem) }
    if let authorization, StateText.authorization(in: authorization) == nil {
      problems.append(
        "the permission of \(app.identifier) in \(stateFolder) cannot be read, and stays what it was; run "
          + "`sextant authorize grant \(app.identifier) always` or the like")
    }
    return problems
  }
}

/// The user's switch of all location services, as a file of the state folder.
enum ServicesSwitch {
  static let path = "settings/services"
  private static let heading = "sextant services 1"

  static func text(isOn: Bool) -> String { heading + "\n" + (isOn ? "on" : "off") + "\n" }

  /// Returns the text of the file in a state folder without its checksums; nil if there is no file. A damaged file, and one that
  /// cannot be read, such as a link, gives a text that cannot be parsed.
  static func read(inFolder folder: String) -> String? {
    let text: String?
    do throws(FileError) { text = try PrivateFile.read("\(folder)/\(path)") } catch { return "" }
    guard let text else { return nil }
    let checked = ChecksummedText(text, place: path)
    return checked.damage > 0 ? text : checked.content
  }

  /// Whether the switch is on, which is the default without a file; nil for a text that cannot be parsed.
  static func isOn(_ text: String?) -> Bool? {
    guard let text else { return true }
    guard let word = StateText.lines(of: text, heading: heading)?.first?.first else { return nil }
    return word == "on" ? true : word == "off" ? false : nil
  }
}
