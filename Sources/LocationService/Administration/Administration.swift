import Positioning

/// What was decided outside the program about what it may know, as the texts of three files; nil where there is none.
struct Administration: Sendable, Equatable {
  /// The program's identifier.
  let app: String
  /// The program's own permission, which its answers and `sextant authorize` write.
  var authorization: String?
  /// The user's switch of all location services.
  var services: String?
  /// What the machine's administrator decided.
  var policy: String?

  init(app: String) { self.app = app }

  /// Whether location services are on (GE-1). A switch that cannot be read is off: whoever touched it did not want less
  /// privacy.
  var servicesAreOn: Bool {
    (ServicesSwitch.isOn(services) ?? false) && !LocationPolicy(parsing: policy).servicesAreOff
  }

  /// Whether the administrator keeps this program from it, which its user cannot change (C4).
  var isRestricted: Bool { LocationPolicy(parsing: policy).restricted.contains(app) }

  /// What cannot be read of them, a line each with the cure.
  func complaints(stateFolder: String) -> [String] {
    var complaints: [String] = []
    if ServicesSwitch.isOn(services) == nil {
      complaints.append(
        "\(stateFolder)/\(ServicesSwitch.path) cannot be read, and counts as off; say `sextant authorize services on`")
    }
    if let complaint = LocationPolicy(parsing: policy).complaint { complaints.append(complaint) }
    if let authorization, StateText.authorization(in: authorization) == nil {
      complaints.append(
        "the permission of \(app) in \(stateFolder) cannot be read, and stays what it was; say "
          + "`sextant authorize grant \(app) always` or the like")
    }
    return complaints
  }
}

/// The user's switch of all location services, as a file of the state folder.
enum ServicesSwitch {
  static let path = "settings/services"
  private static let heading = "sextant services 1"

  static func text(isOn: Bool) -> String { heading + "\n" + (isOn ? "on" : "off") + "\n" }

  /// nil when it says neither.
  static func isOn(_ text: String?) -> Bool? {
    guard let text else { return true }
    guard let word = StateText.lines(of: text, heading: heading)?.first?.first else { return nil }
    return word == "on" ? true : word == "off" ? false : nil
  }
}
