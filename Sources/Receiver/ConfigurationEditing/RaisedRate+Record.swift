// SPDX-License-Identifier: Apache-2.0
import UBX

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
