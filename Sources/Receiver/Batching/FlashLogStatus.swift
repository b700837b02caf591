// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverStream
import UBX

/// The status of the log that some receivers write to their own flash (interface descriptions, "logging"): positions to a
/// tenth of a metre and times to the second, which only an erasure removes.
public struct FlashLogStatus: Sendable, Equatable {
  /// The number of entries, positions and others.
  public var entries: Int
  /// Whether positions are being added.
  public var isRecording: Bool
  /// Whether there is a log.
  public var isCreated: Bool
  /// The used bytes, and the size of the log.
  public var bytes: Int
  public var mostBytes: Int

  public static var poll: Command { .poll(.logINFO) }

  /// Reads the payload of LOG-INFO; nil if it is another message.
  public init?(_ payload: [UInt8]) {
    let bytes = payload.span
    guard let message = unsafe LogINFO(payload: bytes.bytes), message.version == 1 else { return nil }
    entries = Int(message.entryCount)
    isRecording = message.status_recording
    isCreated = !message.status_inactive
    self.bytes = Int(message.currentLogSize)
    mostBytes = Int(message.currentMaxLogSize)
  }
}

extension Command {
  /// Switches the recording on or off, one position per second at most: CFG-LOGFILTER, in RAM.
  static func records(_ isOn: Bool, usesItems: Bool) -> Command {
    if usesItems {
      // CFG-LOGFILTER-RECORD_ENA, -ONCE_PER_WAKE_UP_ENA, -APPLY_ALL_FILTERS, -MIN_INTERVAL, -TIME_THRS, -SPEED_THRS,
      // -POSITION_THRS.
      let keys: [UInt32] = [
        0x10DE_0003, 0x10DE_0004, 0x30DE_0005, 0x30DE_0006, 0x30DE_0007, 0x40DE_0008, 0x10DE_0002,
      ]
      return Configuration.valset(
        keys.map { ConfigurationPair(id: $0, bits: $0 == 0x10DE_0002 && isOn ? 1 : 0) }, layers: 1)
    }
    var payload = [UInt8](repeating: 0, count: 12)
    payload[0] = 1
    payload[1] = isOn ? 0b101 : 0
    return Command(.cfgLOGFILTER, payload, answer: .acknowledgement)
  }

  /// Creates a log of the largest size that ends when it is full, and keeps the oldest positions.
  static var createsLog: Command { Command(.logCREATE, [UInt8](repeating: 0, count: 8), answer: .acknowledgement) }

  static var erasesLog: Command {
    // Flash is erased block by block.
    Command(.logERASE, answer: .acknowledgement).with(timeout: Milliseconds(3000))
  }

  /// Reads up to 256 entries; entries without a position leave gaps.
  static func entries(from first: Int, count: Int) -> Command {
    var payload: [UInt8] = []
    payload.append(u4: UInt32(first))
    payload.append(u4: UInt32(count))
    payload.append(u4: 0)
    return Command(.logRETRIEVE, payload, answer: .list(.logRETRIEVEPOS, .count(count)))
  }

  /// Finds the first entry of a time or later (LOG-FINDTIME).
  static func entry(at time: UTCTime) -> Command {
    let (date, second) = (time.day.components, Int(time.nanosecondsOfDay / 1_000_000_000))
    var payload: [UInt8] = [0, 0, 0, 0]
    payload.append(u2: UInt16(truncatingIfNeeded: date.year))
    payload += [date.month, date.day, second / 3600, second / 60 % 60, second % 60, 0].map { UInt8(clamping: $0) }
    return Command(.logFINDTIME, payload, answer: .message(.logFINDTIME))
  }
}

extension BatchedFix {
  /// Reads a LOG-RETRIEVEPOS payload of 40 bytes, version 0, with the number of its entry; nil for anything else.
  init?(logRETRIEVEPOS payload: [UInt8]) {
    let bytes = payload.span
    unsafe self.init(logRETRIEVEPOS: bytes.bytes)
  }

  /// Reads the same from borrowed bytes.
  init?(logRETRIEVEPOS payload: RawSpan) {
    guard let message = LogRETRIEVEPOS(payload: payload), message.version == 0 else { return nil }
    number = UInt16(truncatingIfNeeded: message.entryIndex)
    fix = Fix()
    fix.time = Self.time(
      year: message.year, month: message.month, day: message.day, hour: message.hour, minute: message.minute,
      second: message.second)
    fix.timeIsResolved = fix.time != nil
    let (latitude, longitude) = (Double(message.lat) * 1e-7, Double(message.lon) * 1e-7)
    guard message.fixType == 2 || message.fixType == 3, abs(latitude) <= 90, abs(longitude) <= 180 else { return }
    fix.kind = message.fixType == 3 ? .threeD : .twoD
    fix.quality = .autonomous
    fix.source = .ubx
    fix.latitudeDegrees = latitude
    fix.longitudeDegrees = longitude
    if message.fixType == 3 { fix.heightAboveSeaLevelMetres = Double(message.hMSL) / 1000 }
    Self.setAccuracy(message.hAcc, of: &fix)
    Self.setSpeed(Double(message.gSpeed) / 1000, course: Double(message.heading) / 1e5, of: &fix)
    fix.satellitesUsed = Int(message.numSV)
  }
}
