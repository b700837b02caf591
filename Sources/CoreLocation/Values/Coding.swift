// SPDX-License-Identifier: Apache-2.0
import Foundation

// The keys of the module begin with the name of the class: a subclass may use the plain names for its own properties.
extension NSCoder {
  /// Returns the text of a key; nil if there is none, where `NSKeyedUnarchiver` would terminate the program
  /// (`decodingFailurePolicy`).
  func text(_ key: String) -> String? {
    containsValue(forKey: key) ? decodeObject(of: NSString.self, forKey: key)?.description : nil
  }
}
