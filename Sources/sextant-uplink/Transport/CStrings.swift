// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Copies of texts for a function of C, which last as long as this value.
///
/// `unsafe`, because C takes pointers: to copies that this value owns and frees.
@safe final class CStrings {
  private var copies: [UnsafeMutablePointer<CChar>] = unsafe []

  deinit { unsafe copies.forEach { unsafe free($0) } }

  /// Returns a copy of a text; nil for nil.
  func copy(_ text: String?) -> UnsafePointer<CChar>? {
    guard let text, let copy = unsafe strdup(text) else { return nil }
    unsafe copies.append(copy)
    return unsafe UnsafePointer(copy)
  }
}
