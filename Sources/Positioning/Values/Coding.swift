// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

// The encoded form of values between programs. Module ReceiverStream has no Codable, because it is compiled for
// microcontrollers.

/// Encoded as an integer: nanoseconds since 1970-01-01 00:00:00 UTC.
extension UTCTime: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(nanosecondsSince1970: try decoder.singleValueContainer().decode(Int64.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(nanosecondsSince1970)
  }
}
