// SPDX-License-Identifier: Apache-2.0

/// A u-blox protocol version such as 34.10: two integers; 27.10 is later than 27.9 (interface descriptions, PROTVER).
public struct ProtocolVersion: Hashable, Comparable, Sendable {
  public var major: Int
  public var minor: Int

  public init(_ major: Int, _ minor: Int) {
    self.major = major
    self.minor = minor
  }

  /// Reads "34.10", "18.00" or "18", also with a suffix ("34.30-b1"); nil for anything else.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let major = Int(first) else { return nil }
    guard let minor = Int(parts.count == 1 ? "0" : parts[1].prefix { $0.isASCII && $0.isNumber }) else { return nil }
    self.init(major, minor)
  }

  public static func < (a: ProtocolVersion, b: ProtocolVersion) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
}
