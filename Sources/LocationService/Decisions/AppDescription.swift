import Positioning

/// The program that the service works for.
public struct AppDescription: Sendable {
  /// What its state is kept under: a bundle identifier, or the executable's name.
  public var identifier: String
  /// What it declares of itself, and its words to the user.
  public var keys: UsageKeys

  public init(identifier: String, keys: UsageKeys) {
    self.identifier = identifier
    self.keys = keys
  }

  /// The identifier as the name of a folder.
  var folderName: String { Self.fileName(of: identifier) }

  /// A name of any bytes as that of a file: letters, digits and `._-` stay, other bytes become %XX.
  ///
  /// - Parameter dots: whether they stay.
  static func fileName(of name: String, dots: Bool = true) -> String {
    let escaped = StateText.escape(name) { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
      // A name of dots alone is another folder's.
      case 0x2E: dots && !name.hasPrefix(".")
      default: false
      }
    }
    return escaped.isEmpty ? "%" : escaped
  }
}
