// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NSCoder {
  /// Returns the text of a key; nil without one, where `NSKeyedUnarchiver` would end the program (`decodingFailurePolicy`).
  func text(_ key: String) -> String? {
    containsValue(forKey: key) ? decodeObject(of: NSString.self, forKey: key)?.description : nil
  }
}
