// SPDX-License-Identifier: Apache-2.0
import Messages
import WireBytes

extension AppDescription {
  /// The identifier as the name of a folder.
  var folderName: String { Self.fileName(of: identifier) }

  /// Returns a file name for a name of any bytes: ASCII alphanumerics and `._-` are kept, other bytes become %XX.
  ///
  /// - Parameter dots: whether dots are kept.
  static func fileName(of name: String, dots: Bool = true) -> String {
    let escaped = StateText.escape(name) { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
      // A name of only dots would refer to another folder.
      case 0x2E: dots && !name.begins(with: ".")
      default: false
      }
    }
    return escaped.isEmpty ? "%" : escaped
  }
}
