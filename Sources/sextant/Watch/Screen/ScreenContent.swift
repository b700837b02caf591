// SPDX-License-Identifier: Apache-2.0

import GPSD
import MonotonicTime
import ReceiverStream
import UBX
import WireBytes

/// The content of the screen of `sextant watch`.
struct ScreenContent {
  var device = ""
  var baud: UInt32?
  var bytes: UInt64 = 0
  var counters = StreamCounters()
  /// The number of fields that were rejected.
  var rejected = 0
  /// A message to the user.
  var message: String?
  var log = MessageLog()
  /// When the screen was paused with this content.
  var pausedAt: Instant?

  private(set) var fix = Fix()
  private(set) var satellites: [Satellite] = []
  private(set) var epochs = 0
  private(set) var lastEpoch: Instant?
  /// The time between the last two epochs, milliseconds.
  private(set) var interval: UInt64?
  /// Whether the last epoch is too old to be shown.
  private(set) var isOutdated = false
  /// The number of epochs with a position, when the first one came, and the last one.
  private(set) var positions: (count: Int, first: Instant?, last: Fix?) = (0, nil, nil)
  let start: Instant

  init(_ now: Instant) { start = now }

  /// The least age from which an epoch is not shown any more, and the number of its intervals.
  private static let (outdatedMilliseconds, outdatedIntervals) = (5000 as UInt64, 3 as UInt64)

  /// Takes a report.
  mutating func take(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ now: Instant) {
    fix = report.fix
    isOutdated = false
    if report.skyChanged {
      let all = sky.satellites
      satellites = all.indices.map { all[$0] }
    }
    if fix.hasPosition { positions.last = fix }
    guard !report.isUpdate else { return }
    epochs += 1
    if fix.hasPosition {
      positions.count += 1
      positions.first = positions.first ?? now
    }
    if let lastEpoch { interval = now.milliseconds(since: lastEpoch) }
    lastEpoch = now
  }

  /// Discards the last epoch when it is outdated: at a wrong rate, or of a silent receiver, it would stay for ever.
  mutating func discardOutdated(_ now: Instant) {
    guard !isOutdated, let lastEpoch, now.milliseconds(since: lastEpoch) >= Self.outdatedMilliseconds,
      now.milliseconds(since: lastEpoch) >= Self.outdatedIntervals * (interval ?? 0)
    else { return }
    (fix, interval, isOutdated, satellites) = (Fix(), nil, true, [])
  }

  /// Returns three lines: epochs, the last position, bytes and errors.
  func summary(_ now: Instant) -> String {
    let seconds = ScreenText.number(now.seconds(since: start), digits: 0)
    var text = "\(device.isEmpty ? "no device" : device): \(Self.count(epochs, "epoch")) in \(seconds) s"
    if let first = positions.first {
      let wait = ScreenText.number(first.seconds(since: start), digits: 1)
      text += ", \(positions.count) with a position, the first after \(wait) s"
    } else if epochs > 0 {
      text += ", none with a position"
    }
    text += "\n"
    if let last = positions.last, let latitude = last.latitudeDegrees, let longitude = last.longitudeDegrees {
      text += "last position \(FixText.latitude(latitude, digits: 7))  \(FixText.longitude(longitude, digits: 7))"
      if let accuracy = last.horizontalAccuracyMetres { text += "  ± \(ScreenText.number(accuracy, digits: 1)) m" }
      if let time = last.time { text += "  \(ScreenText.written { $0.timestamp(time) })" }
      text += "\n"
    }
    return text
      + "\(bytes) bytes, \(Self.count(Int(counters.frames), "frame")), "
      + "\(Self.count(Int(counters.badChecksums), "wrong checksum")), \(counters.skippedBytes) bytes skipped\n"
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}

/// The words of a fix.
enum FixText {
  static func latitude(_ degrees: Double, digits: Int) -> String {
    ScreenText.number(abs(degrees), digits: digits) + (degrees < 0 ? "° S" : "° N")
  }

  static func longitude(_ degrees: Double, digits: Int) -> String {
    ScreenText.number(abs(degrees), digits: digits) + (degrees < 0 ? "° W" : "° E")
  }

  /// The kind and the quality, such as "3D, RTK fixed".
  static func kind(_ fix: Fix) -> String {
    let kind =
      switch fix.kind {
      case .none: "none"
      case .timeOnly: "time only"
      case .twoD: "2D"
      case .threeD: "3D"
      case .deadReckoning: "dead reckoning"
      case .combined: "3D with sensors"
      case .surveyed: "surveyed place"
      }
    return kind + quality(fix)
  }

  private static func quality(_ fix: Fix) -> String {
    guard fix.hasPosition else { return "" }
    return switch fix.quality {
    case .differential: ", differential"
    case .preciseService: ", precise"
    case .rtkFloat: ", RTK float"
    case .rtkFixed: ", RTK fixed"
    case .estimated: ", estimated"
    case .manual: ", manual"
    case .simulated: ", simulated"
    case .unknown, .autonomous: ""
    }
  }
}

/// The last messages of a receiver, for the screen.
struct MessageLog {
  /// A message as it arrived.
  struct Entry: Equatable {
    /// Such as `UBX NAV-PVT`; empty for a sentence, which begins with its name.
    var name: String
    /// The length of the message in bytes.
    var length: Int
    /// Its first bytes, up to `longest`.
    var bytes: [UInt8]

    private static let longest = 256

    init(_ frame: borrowing Frame) {
      length = frame.bytes.byteCount
      bytes = [UInt8](copying: frame.bytes.extracting(first: Self.longest))
      name =
        if let ubx = frame.ubx {
          "UBX \(MessageLayout.of(ubx)?.name.description ?? Self.number(ubx.identity))"
        } else if let rtcm3 = frame.rtcm3 {
          "RTCM3 \(rtcm3.messageNumber.map(String.init) ?? "empty")"
        } else if let spartn = frame.spartn {
          "SPARTN \(spartn.messageType)-\(spartn.subtype)"
        } else {
          ""
        }
    }

    /// The message in one line: a sentence as it is, a binary message in hexadecimal digits.
    var text: String {
      if name.isEmpty {
        return ScreenText.foreign(String(decoding: bytes.filter { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self))
      }
      let digits = ScreenText.written { line in for byte in bytes { line.hexadecimal(byte) } }
      return "\(name)  \(length) bytes  \(digits)"
    }

    private static func number(_ identity: MessageIdentity) -> String {
      ScreenText.written {
        $0.put("0x")
        $0.hexadecimal(identity.messageClass)
        $0.put("-0x")
        $0.hexadecimal(identity.messageID)
      }
    }
  }

  private(set) var entries: [Entry] = []
  /// The number of messages so far.
  private(set) var total: UInt64 = 0

  private static let most = 1000

  /// Adds a message. The oldest ones are discarded.
  mutating func add(_ entry: Entry) {
    if entries.count >= Self.most { entries.removeFirst(Self.most / 2) }
    entries.append(entry)
    total += 1
  }
}
