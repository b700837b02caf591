// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The dictionary of an error: any values, which are never changed.
struct ErrorDetails: @unchecked Sendable, Equatable {
  let values: [String: Any]

  static func == (a: Self, b: Self) -> Bool { NSDictionary(dictionary: a.values).isEqual(to: b.values) }
}
