// SPDX-License-Identifier: Apache-2.0

/// A u-blox protocol version such as 34.10: two integers; 27.10 is later than 27.9 (interface descriptions, PROTVER).
public struct ProtocolVersion: Hashable, Comparable, Sendable {
  public var major: Int
  public var minor: Int

  public init(_ major: Int, _ minor: Int) {
    self.major = major
    self.minor = minor
  }

  /// Reads "34.10", "18.00" or "18"; nil for anything else.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let major = Int(parts[0]) else { return nil }
    guard parts.count == 1 || Int(parts[1]) != nil else { return nil }
    self.init(major, parts.count == 2 ? Int(parts[1]) ?? 0 : 0)
  }

  public static func < (a: ProtocolVersion, b: ProtocolVersion) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
}
