// SPDX-License-Identifier: Apache-2.0

/// The version of the messages between a program and the location service.
///
/// Both sides skip unknown keys. A version only adds cases; a side sends a case only to a peer whose version has it.
/// Therefore versions that differ by one work together; for others the refusal names the program to update.
package enum ServiceVersion {
  /// The version of this source. Since version 2 a program acknowledges the waiting events that it has received.
  package static let current = 2

  /// The reason to refuse a peer, with the remedy; nil if the versions work together.
  package static func refusal(client: Int, service: Int) -> String? {
    // Each number comes from the other side, and may be the smallest or the largest integer.
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
