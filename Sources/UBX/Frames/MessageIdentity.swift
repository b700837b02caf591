// SPDX-License-Identifier: Apache-2.0

/// A message's class and id, the two bytes after the sync characters of a frame.
public struct MessageIdentity: Hashable, Sendable {
  /// The class, such as 0x01 for NAV.
  public var messageClass: UInt8
  /// The id within the class.
  public var messageID: UInt8

  @inlinable
  public init(_ messageClass: UInt8, _ messageID: UInt8) {
    self.messageClass = messageClass
    self.messageID = messageID
  }

  /// Class and id as one number, for tables and switches.
  @inlinable
  public var key: UInt16 { UInt16(messageClass) << 8 | UInt16(messageID) }
}
