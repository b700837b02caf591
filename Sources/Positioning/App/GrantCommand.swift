// SPDX-License-Identifier: Apache-2.0

/// The command that grants a program its permission, for log lines.
public struct GrantCommand: Hashable, Sendable {
  private let program: String
  private let environment: String

  /// - Parameters:
  ///   - program: the program's name in `sextant authorize`.
  ///   - environment: the assignments that the command needs, such as `SEXTANT_STATE_DIR=/run/hike`; empty if there are
  ///     none.
  public init(program: String, environment: String = "") {
    self.program = Self.quoted(program)
    self.environment = environment
  }

  /// The command line.
  func line(_ status: AuthorizationStatus) -> String {
    let extent = status == .authorizedWhenInUse ? "whenInUse" : "always"
    return (environment.isEmpty ? "" : "\(environment) ") + "sextant authorize grant \(program) \(extent)"
  }

  /// A shell word.
  public static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: ":"), UInt8(ascii: "+"):
          true
        default: false
        }
      }
    return isPlain
      ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
