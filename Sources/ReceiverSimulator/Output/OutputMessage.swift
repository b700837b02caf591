// SPDX-License-Identifier: Apache-2.0
import UBX

/// A periodic message, at each epoch or every few epochs.
struct OutputMessage: Sendable {
  /// The receivers with the message.
  enum Availability: Sendable {
    case all
    /// Up to M8.
    case old
    /// With NAV-EOE: from protocol version 18.
    case eoe
    /// From M8.
    case fromM8
    /// From M9.
    case new
    /// High-precision receivers.
    case highPrecision
    case geofence
    /// With SEC-SIG.
    case security
    /// With dead reckoning.
    case fusion
    /// With SEC-OSNMA.
    case authentication
  }

  /// The class and id in messages that set rates; sentences have class 0xF0, PUBX 0xF1, RTCM 3 messages 0xF5.
  var identity: MessageIdentity
  /// The key of CFG-MSGOUT for the I2C port; the keys of the other ports follow. 0 without a key.
  var key: UInt32
  var availability: Availability
  /// Whether the message is on by default.
  var isDefault: Bool

  private init(
    _ messageClass: UInt8, _ id: UInt8, key: UInt32, _ availability: Availability = .all, isDefault: Bool = false
  ) {
    identity = MessageIdentity(messageClass, id)
    self.key = key == 0 ? 0 : 0x2091_0000 | key
    self.availability = availability
    self.isDefault = isDefault
  }

  var isSentence: Bool { 0xF0...0xF1 ~= identity.messageClass }

  /// The number of an RTCM 3 message; nil for others. Its id is the number without a thousand (interface descriptions, class 0xF5).
  var correction: Int? {
    guard identity.messageClass == 0xF5 else { return nil }
    return 1000 + Int(identity.messageID)
  }

  func isAvailable(in traits: ModelTraits) -> Bool {
    if traits.configuration == .none { return isSentence }
    return switch availability {
    case .all: true
    case .old: traits.hasOldNavigation
    case .eoe: traits.hasEOE
    case .fromM8: traits.protocolVersion >= 1500
    case .new: traits.protocolVersion >= 2700
    case .highPrecision: traits.hasHighPrecision
    case .geofence: traits.hasGeofence
    case .security: traits.protocolVersion >= 4000
    case .fusion: traits.hasSensorFusion
    case .authentication: traits.protocolVersion >= 5000
    }
  }

  /// All messages, in the order of the firmware within an epoch; NAV-EOE is the last. Keys: interface descriptions,
  /// CFG-MSGOUT.
  static let all: [OutputMessage] = sentences + messages + corrections

  private static let sentences = [
    OutputMessage(0xF0, 0x0A, key: 0x00A6),  // DTM
    OutputMessage(0xF0, 0x04, key: 0x00AB, isDefault: true),  // RMC
    OutputMessage(0xF0, 0x05, key: 0x00B0, isDefault: true),  // VTG
    OutputMessage(0xF0, 0x0D, key: 0x00B5),  // GNS
    OutputMessage(0xF0, 0x00, key: 0x00BA, isDefault: true),  // GGA
    OutputMessage(0xF0, 0x02, key: 0x00BF, isDefault: true),  // GSA
    OutputMessage(0xF0, 0x03, key: 0x00C4, isDefault: true),  // GSV
    OutputMessage(0xF0, 0x01, key: 0x00C9, isDefault: true),  // GLL
    OutputMessage(0xF0, 0x07, key: 0x00D3),  // GST
    OutputMessage(0xF0, 0x08, key: 0x00D8),  // ZDA
    OutputMessage(0xF1, 0x00, key: 0x00EC),  // PUBX,00
    OutputMessage(0xF1, 0x03, key: 0x00F1),  // PUBX,03
    OutputMessage(0xF1, 0x04, key: 0x00F6),  // PUBX,04
  ]

  private static let messages = [
    OutputMessage(0x01, 0x06, key: 0, .old),  // NAV-SOL
    OutputMessage(0x01, 0x07, key: 0x0006),  // NAV-PVT
    OutputMessage(0x01, 0x30, key: 0, .old),  // NAV-SVINFO
    OutputMessage(0x01, 0x34, key: 0x0010, .eoe),  // NAV-ORB
    OutputMessage(0x01, 0x35, key: 0x0015, .fromM8),  // NAV-SAT
    OutputMessage(0x01, 0x03, key: 0x001A),  // NAV-STATUS
    OutputMessage(0x01, 0x01, key: 0x0024),  // NAV-POSECEF
    OutputMessage(0x01, 0x02, key: 0x0029),  // NAV-POSLLH
    OutputMessage(0x01, 0x14, key: 0x0033, .highPrecision),  // NAV-HPPOSLLH
    OutputMessage(0x01, 0x04, key: 0x0038),  // NAV-DOP
    OutputMessage(0x01, 0x11, key: 0x003D),  // NAV-VELECEF
    OutputMessage(0x01, 0x12, key: 0x0042),  // NAV-VELNED
    OutputMessage(0x01, 0x20, key: 0x0047),  // NAV-TIMEGPS
    OutputMessage(0x01, 0x21, key: 0x005B),  // NAV-TIMEUTC
    OutputMessage(0x01, 0x26, key: 0x0060, .fromM8),  // NAV-TIMELS
    OutputMessage(0x01, 0x22, key: 0x0065),  // NAV-CLOCK
    OutputMessage(0x01, 0x09, key: 0x007E, .fromM8),  // NAV-ODO
    OutputMessage(0x01, 0x36, key: 0x0083, .new),  // NAV-COV
    OutputMessage(0x01, 0x3B, key: 0x0088, .highPrecision),  // NAV-SVIN
    OutputMessage(0x01, 0x43, key: 0x0345, .new),  // NAV-SIG
    OutputMessage(0x02, 0x15, key: 0x02A4, .highPrecision),  // RXM-RAWX
    OutputMessage(0x02, 0x20, key: 0, .old),  // RXM-SVSI
    OutputMessage(0x0A, 0x21, key: 0x0187, .all),  // MON-RXR
    OutputMessage(0x0A, 0x09, key: 0x01B4, .old),  // MON-HW
    OutputMessage(0x0A, 0x36, key: 0x034F, .new),  // MON-COMMS
    OutputMessage(0x0A, 0x38, key: 0x0359, .new),  // MON-RF
    OutputMessage(0x10, 0x10, key: 0x0105, .fusion),  // ESF-STATUS
    OutputMessage(0x27, 0x09, key: 0x0634, .security),  // SEC-SIG
    OutputMessage(0x27, 0x0A, key: 0x06CA, .authentication),  // SEC-OSNMA
    OutputMessage(0x01, 0x61, key: 0x015F, .eoe),  // NAV-EOE
  ]

  private static let corrections = [
    OutputMessage(0xF5, 0x05, key: 0x02BD, .highPrecision),  // 1005
    OutputMessage(0xF5, 0x4A, key: 0x035E, .highPrecision),  // 1074
    OutputMessage(0xF5, 0x4D, key: 0x02CC, .highPrecision),  // 1077
    OutputMessage(0xF5, 0x54, key: 0x0363, .highPrecision),  // 1084
    OutputMessage(0xF5, 0x57, key: 0x02D1, .highPrecision),  // 1087
    OutputMessage(0xF5, 0x5E, key: 0x0368, .highPrecision),  // 1094
    OutputMessage(0xF5, 0x61, key: 0x0318, .highPrecision),  // 1097
    OutputMessage(0xF5, 0x7C, key: 0x036D, .highPrecision),  // 1124
    OutputMessage(0xF5, 0x7F, key: 0x02D6, .highPrecision),  // 1127
    OutputMessage(0xF5, 0xE6, key: 0x0303, .highPrecision),  // 1230
  ]

  /// The index of a message in `all`.
  static func index(of identity: MessageIdentity) -> Int? { all.firstIndex { $0.identity == identity } }
}
