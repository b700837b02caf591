// SPDX-License-Identifier: Apache-2.0

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
    if let credentials { text += "Authorization: Basic \(base64(Array(credentials.utf8)))\r\n" }
    text += "Connection: close\r\n\r\n"
    return Array(text.utf8)
  }

  /// RFC 4648, section 4.
  static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = (0..<3).reduce(0) { $0 << 8 | (start + $1 < bytes.count ? Int(bytes[start + $1]) : 0) }
      for place in 0..<4 {
        let isFill = start + place > bytes.count
        text.append(isFill ? UInt8(ascii: "=") : digits[group >> (18 - 6 * place) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
