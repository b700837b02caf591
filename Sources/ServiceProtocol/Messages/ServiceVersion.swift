// SPDX-License-Identifier: Apache-2.0

/// The version of the messages between a program and the location service.
///
/// Both sides skip keys that they do not know. A version adds cases only; a side sends a case only to a peer whose
/// version has it. So versions that differ by one work together, and others are refused with the program to update.
package enum ServiceVersion {
  /// The version of this source. Since version 2 a program reports the events that it has taken, of those that waited for it.
  package static let current = 2

  /// The reason to refuse a peer, with the remedy; nil if the versions work together.
  package static func refusal(client: Int, service: Int) -> String? {
    // Each number is the other side's word, and may be the least or the greatest one.
    let (difference, isFar) = client.subtractingReportingOverflow(service)
    if !isFar, -1...1 ~= difference { return nil }
    return client < service
      ? "the program speaks version \(client) of the location service's protocol and sextantd version \(service): "
        + "build the program with a newer Sextant"
      : "sextantd speaks version \(service) of the location service's protocol and the program version \(client): "
        + "update sextantd"
  }

  /// The line for the log about a message that cannot be decoded.
  package static func problem(_ error: any Error, of peer: String, version: Int) -> String {
    "\(peer) sent a message of version \(version) that version \(current) cannot read: \(error)"
  }
}
