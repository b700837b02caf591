// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxIO

/// A request over HTTP or HTTPS, which the program `curl` performs.
///
/// FoundationNetworking would make every client of the module depend on libcurl and its thirty libraries, and a statically
/// linked one would not link without their development files, even if it never requests an address.
enum WebRequest {
  /// Time limits for the connection and for the complete answer, seconds.
  private static let connectSeconds = 10
  private static let seconds = 20

  /// Returns the body of an answer with status 200. Blocks the calling thread.
  ///
  /// - Throws: `network` with the reason.
  static func get(_ address: String, limit: Int) throws(GeocodingError) -> [UInt8] {
    guard let curl = program else { throw .network("the program curl is missing; install it") }
    let child: ChildProcess
    do throws(ChildProcessError) {
      // The address is in the input, not among the arguments, which every user of the machine can read.
      child = try ChildProcess(
        curl, ["--disable", "--config", "-"], input: Array(configuration(address, limit: limit).utf8))
    } catch { throw .network(error.description) }
    guard let body = child.readToEnd(limit: limit + 16) else { throw .network("the answer is too long") }
    let (code, errors) = child.end()
    // A program that ignores SIGCHLD gets no exit code; curl writes the reason of a failure.
    guard code == 0 || code == nil && errors.isEmpty else {
      let reason = errors.trimmingCharacters(in: .whitespacesAndNewlines)
      throw .network(reason.isEmpty ? "curl ended with code \(code ?? -1)" : reason)
    }
    return try content(of: body)
  }

  /// The body without the status line at its end.
  private static func content(of answer: [UInt8]) throws(GeocodingError) -> [UInt8] {
    guard let end = answer.lastIndex(of: 0x0A) else { throw .network("the answer is incomplete") }
    let status = String(decoding: answer[(end + 1)...], as: UTF8.self)
    guard status == "200" else { throw .network("HTTP status \(status)") }
    return Array(answer[..<end])
  }

  /// The options of curl (curl(1), "--config"). The address has neither quotes nor backslashes.
  private static func configuration(_ address: String, limit: Int) -> String {
    """
    url = "\(address)"
    user-agent = "\(userAgent)"
    header = "Accept: application/json"
    write-out = "\\n%{http_code}"
    silent
    show-error
    location
    max-redirs = 3
    proto = "=http,https"
    proto-redir = "=http,https"
    connect-timeout = \(connectSeconds)
    max-time = \(seconds)
    max-filesize = \(limit)

    """
  }

  /// The program's name and the library's: servers require a name that identifies the program.
  private static var userAgent: String {
    let name = ProcessInfo.processInfo.processName.unicodeScalars.filter {
      $0.isASCII && (CharacterSet.alphanumerics.contains($0) || "-_.".unicodeScalars.contains($0))
    }
    return "\(String(String.UnicodeScalarView(name))) (Sextant CoreLocation)"
  }

  private static var program: String? {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init) ?? []
    return (folders + ["/usr/bin", "/bin"]).map { $0 + "/curl" }.first(where: FileManager.default.isExecutableFile)
  }
}
