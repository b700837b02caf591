// SPDX-License-Identifier: Apache-2.0
import WireBytes

/// The request for a stream of a caster (RTCM 10410.1, "Ntrip version 2.0", over HTTP/1.1).
package enum NTRIPRequest {
  /// Returns the bytes of the request.
  ///
  /// - Parameters:
  ///   - host: the name or address of the caster.
  ///   - port: its port.
  ///   - mount: the mount point, without a leading slash.
  ///   - credentials: `user:password`; nil for a caster without authentication.
  ///   - version: the version of the program, for the header User-Agent.
  package static func bytes(
    host: String, port: UInt16, mount: String, credentials: String?, version: String
  ) -> [UInt8] {
    var text = "GET /\(mount) HTTP/1.1\r\nHost: \(host):\(port)\r\nNtrip-Version: Ntrip/2.0\r\n"
    text += "User-Agent: NTRIP sextant/\(version)\r\n"
    if let credentials { text += "Authorization: Basic \(Base64.text(of: credentials))\r\n" }
    text += "Connection: close\r\n\r\n"
    return Array(text.utf8)
  }
}
