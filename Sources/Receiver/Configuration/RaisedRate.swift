// SPDX-License-Identifier: Apache-2.0
import UBX

/// A rate that the port has for as long as it is talked to: it is not a setting of the user's, and what is read of the receiver is
/// shown with the rate that was found.
public struct RaisedRate: Sendable, Equatable {
  /// The rate that the port had, and gets back, baud.
  public var found: UInt32
  /// The rate that it has meanwhile, baud.
  package var used: UInt32
  /// The port, where it is known.
  package var port: ReceiverPortNumber?

  /// An item as it was found.
  package func undone(_ id: UInt32, _ bits: UInt64) -> UInt64 {
    id == (port ?? .uart1).rateKey && bits == UInt64(used) ? UInt64(found) : bits
  }
}

extension RaisedRate {
  /// Returns the payload of a CFG message with the rate that the port had before.
  func undone(_ record: ConfigurationRecord, _ payload: [UInt8]) -> [UInt8] {
    guard record.identity == .cfgPRT, payload.count >= 20, let number = ReceiverPortNumber(rawValue: payload[0]),
      number.rateKey != nil, port ?? number == number, payload.u4(8) == used
    else { return payload }
    var payload = payload
    payload.set(u4: found, at: 8)
    return payload
  }
}
