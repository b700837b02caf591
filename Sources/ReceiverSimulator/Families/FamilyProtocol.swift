// SPDX-License-Identifier: Apache-2.0

/// The command languages of simulated receivers that are not u-blox ones.
enum FamilyProtocol: Sendable {
  /// PMTK sentences: MT3339, MT3333.
  case mediaTek
  /// PAIR sentences: AG3352.
  case airoha
  /// PCAS sentences and binary frames: AT6558, AT6668.
  case casic
  /// PQTM sentences: LG290P.
  case quectel
  /// Text lines: UM980.
  case unicore
  /// Binary frames: TAU1201.
  case allystar
  /// PSTM sentences: Teseo-LIV3F.
  case teseo
  /// Text commands with a prompt: mosaic-G5.
  case septentrio
}

/// A deviation from the documents that is reported from the field. The raw values are the words of scenarios and of
/// `sextant simulate --quirk`.
public enum Quirk: String, CaseIterable, Sendable {
  /// PMTK705 without its fourth field (Adafruit_GPS#177).
  case shortRelease = "short-release"
  /// PMTK010,002 after a standby (documents; most firmware sends nothing).
  case wakeMessage = "wake-message"
  /// PQBAUD has an effect when it is repeated only (gpsd).
  case baudTwice = "baud-twice"
  /// PAIR001,<command>,5 in the first two seconds after a start.
  case busyAfterBoot = "busy-after-boot"
  /// The processor sleeps by itself: nothing is read until one of several PAIR382,1 is heard (meshtastic).
  case needsLock = "needs-382"
  /// Deaf after PAIR003 unless PAIR382,1 was sent before (LC86G).
  case deafAfterStop = "deaf-after-003"
  /// No acknowledgement of PAIR650 (Quectel forum 25292).
  case unacknowledgedBackup = "no-650-ack"
  /// Every second acknowledgement is lost, although the command is done.
  case lostAcknowledgements = "lost-acks"
  /// No battery at the backup pin: an interrupted supply resets all that is not in flash.
  case noBackup = "no-backup"
  /// GLONASS is on too: the sentences of a second fill a line at 9600 baud (ATGM332D-5N71).
  case threeSystems = "three-systems"
  /// Each reply comes a second late.
  case lateReplies = "late-replies"
  /// Nothing is answered or acknowledged, although commands are done.
  case noReplies = "no-replies"
  /// Every third reply is replaced with the reply before it.
  case wrongReplies = "wrong-replies"
  /// A change of the rate is acknowledged before it, at the old rate.
  case oldRateAcknowledgement = "old-rate-ack"
  /// Time, position and orbits are lost in standby: a cold start follows.
  case coldStandby = "cold-standby"
  /// A wake-up takes four seconds longer.
  case slowWake = "slow-wake"
  /// Another time between fixes is acknowledged, and the receiver keeps the present one.
  case keptRate = "rate-kept"
  /// Another baud rate is acknowledged, and the receiver keeps the present one.
  case keptBaud = "baud-kept"
  /// Settings that are not in flash are lost in standby.
  case forgetfulStandby = "standby-loses-settings"
  /// CASIC's frames are not acknowledged.
  case unacknowledgedFrames = "no-acks"
  /// A CASIC receiver answers the poll of u-blox's MON-VER with both versions and no extensions.
  case shortVersion = "mon-ver-short"
  /// It answers with the beginning of the message.
  case cutVersion = "mon-ver-cut"
  /// It answers with u-blox's acknowledgement alone.
  case acknowledgedVersion = "mon-ver-ack"
  /// PMTK firmware without the logger LOCUS.
  case noLogger = "no-locus"
  /// The log of LOCUS overwrites its oldest records.
  case overlappingLog = "locus-overlap"
  /// The host of a UM980 is at COM1; without the quirk at COM3, as recorded.
  case firstPort = "com1"
  /// PAIR firmware with the logger LOCUS.
  case logger = "locus"
  /// The PAIR receiver is an LC29H(DA), which has RTCM 3.
  case corrections = "rtcm"
  /// An LG290P accepts MSM as a rover and sends it as a base station only (reported of firmware LG290P03AANR01A06S).
  case observationsOfBase = "msm-base-only"
}

/// The form of a receiver's sentences.
struct SentenceFormat: Sendable {
  /// The sentences of an epoch, in their order.
  var order: [String]
  /// The default interval of each sentence in epochs.
  var defaults: [String: Int]
  var minuteDecimals: Int
  var timeDecimals = 3
  var dopDecimals = 2
  var altitudeDecimals = 1
  /// The talker of BeiDou's own sentences.
  var beiDou = "GB"
  /// Whether sentences have the fields of NMEA 4.10: system and signal numbers, and the navigational status.
  var hasNumbers: Bool
  /// Whether numbers of GSV have leading zeros.
  var padsViews = true
  /// Whether GGA shows that the receiver is a base station.
  var marksBase = false
  /// The text of the antenna, of each epoch that has `TXT`.
  var antennaText: String?
}

/// The properties of a receiver that is not a u-blox one.
struct FamilyTraits: Sendable {
  var language: FamilyProtocol
  var format: SentenceFormat
  var periodMilliseconds: UInt32 = 1000
  /// The baud rates that can be set.
  var baudRates: [UInt32]
  /// Milliseconds from a restart by command to the first byte.
  var restartMilliseconds: UInt64
}
