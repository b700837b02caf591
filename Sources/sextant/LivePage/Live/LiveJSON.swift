// SPDX-License-Identifier: Apache-2.0
import GPSD
import MonotonicTime
import Receiver
import ReceiverStream
import UBX
import WireBytes

// The objects of the events. docs/reference/json.md describes them.
extension JSONLine {
  /// Returns the written text, without the line end, and empties the line.
  mutating func takeBytes() -> [UInt8] {
    let copy = copied()
    removeAll()
    return copy
  }

  private func copied() -> [UInt8] {
    let bytes = self.bytes
    var copy: [UInt8] = []
    copy.reserveCapacity(bytes.byteCount)
    for index in 0..<bytes.byteCount where bytes.u1(index) != 0x0A { copy.append(bytes.u1(index)) }
    return copy
  }

  /// Writes a time in ISO 8601.
  mutating func time(_ key: StaticString, _ time: UTCTime?) {
    guard let time else { return }
    name(key)
    put(raw: UInt8(ascii: "\""))
    timestamp(time)
    put(raw: UInt8(ascii: "\""))
  }

  /// Writes a fix. Unknown values are absent.
  mutating func fix(_ fix: Fix, geometry: Dilutions?, visible: Int, clock: UTCTime?) {
    beginObject()
    time("time", fix.time)
    field("mode", Int64(fix.hasPosition ? (fix.kind == .twoD ? 2 : 3) : 0))
    field("status", fix.statusWord)
    if fix.hasPosition {
      field("lat", fix.latitudeDegrees, digits: 9)
      field("lon", fix.longitudeDegrees, digits: 9)
      field("altitudeMSL", fix.heightAboveSeaLevelMetres, digits: 3)
      field("height", fix.heightAboveEllipsoidMetres, digits: 3)
      field("horizontalAccuracy", fix.horizontalAccuracyMetres, digits: 3)
      field("verticalAccuracy", fix.verticalAccuracyMetres, digits: 3)
      field("speed", fix.speedMetresPerSecond, digits: 3)
      field("speedAccuracy", fix.speedAccuracyMetresPerSecond, digits: 3)
      field("course", fix.courseDegrees, digits: 2)
      field("climb", fix.climbMetresPerSecond, digits: 3)
    }
    field("satellitesUsed", fix.satellitesUsed)
    field("satellitesVisible", fix.satellitesInView ?? (visible > 0 ? visible : nil))
    field("pdop", fix.pdop ?? geometry?.pdop, digits: 2)
    field("hdop", fix.hdop ?? geometry?.hdop, digits: 2)
    field("vdop", fix.vdop ?? geometry?.vdop, digits: 2)
    field("tdop", fix.tdop ?? geometry?.tdop, digits: 2)
    field("gdop", fix.gdop ?? geometry?.gdop, digits: 2)
    if let clock, let time = fix.time {
      let seconds = Double(clock.nanosecondsSince1970 - time.nanosecondsSince1970) / 1e9
      // A larger difference is due to the clocks.
      if seconds > 0, seconds < 10 { field("latencySeconds", seconds, digits: 3) }
    }
    endObject()
  }

  /// Writes the satellites, each with its signals.
  mutating func sky(_ sky: borrowing Sky, _ epoch: UTCTime?, _ signals: [UInt16: [SignalTable.Signal]]) {
    beginObject()
    time("time", epoch)
    beginArray("satellites")
    let list = sky.satellites
    for index in list.indices {
      let satellite = list[index]
      self.satellite(satellite, satellite.signals(in: signals))
    }
    endArray()
    endObject()
  }

  private mutating func satellite(_ satellite: Satellite, _ signals: [SignalTable.Signal]) {
    beginObject()
    field("id", text: satellite.name)
    field("gnss", satellite.system.word)
    if satellite.elevationDegrees != Satellite.unknownAngle {
      field("elevation", Int64(satellite.elevationDegrees))
    }
    if satellite.azimuthDegrees >= 0 { field("azimuth", Int64(satellite.azimuthDegrees)) }
    field("used", satellite.isUsed)
    if let quality = signals.compactMap(\.quality).max() { field("quality", Int64(quality)) }
    beginArray("signals")
    for signal in signals { self.signal(signal.name, signal.decibelHertz, signal.isUsed) }
    endArray()
    endObject()
  }

  private mutating func signal(_ name: String, _ decibelHertz: UInt8, _ isUsed: Bool) {
    beginObject()
    field("name", text: name)
    field("cn0", Int64(decibelHertz))
    field("used", isUsed)
    endObject()
  }

  /// Writes the numbers and rates of all messages.
  mutating func messages(_ list: [MessageCount], bytesPerSecond: Double, total: UInt64, at now: Instant) {
    beginObject()
    beginArray("messages")
    for message in list {
      beginObject()
      field("name", text: message.name)
      field("count", Int64(message.count))
      field("rate", message.recent.perSecond, digits: 2)
      field("bytes", Int64(message.bytes))
      field("age", now.seconds(since: message.last), digits: 1)
      field("last", text: message.lastValue)
      endObject()
    }
    endArray()
    field("bytesPerSecond", bytesPerSecond, digits: 1)
    field("total", Int64(clamping: total))
    endObject()
  }

  /// Writes an opened message: its name and bytes, and its fields as `sextant decode --format messages` prints them.
  mutating func opened(_ frame: borrowing Frame, name: String) {
    message(frame)
    let decoded = takeBytes()
    let key = Array("\"fields\":".utf8)
    let start = decoded.indices.first { decoded[$0...].starts(with: key) }
    beginObject()
    field("name", text: name)
    self.name("hex")
    put(raw: UInt8(ascii: "\""))
    for index in 0..<frame.bytes.byteCount { hexadecimal(frame.bytes.u1(index)) }
    put(raw: UInt8(ascii: "\""))
    guard let start else { return endObject() }
    // The rest of the line has the fields, and the end of the object.
    put(raw: UInt8(ascii: ","))
    for byte in decoded[start...] { put(raw: byte) }
  }

  /// Writes the counts of the line.
  mutating func line(
    _ counters: StreamCounters, bytes: UInt64, bytesPerSecond: Double, baud: UInt32?, rejected: Int
  ) {
    beginObject()
    field("bytes", Int64(clamping: bytes))
    field("bytesPerSecond", bytesPerSecond, digits: 1)
    field("frames", Int64(clamping: counters.frames))
    field("checksumErrors", Int64(clamping: counters.badChecksums))
    field("unknownBytes", Int64(clamping: counters.skippedBytes))
    field("tooLong", Int64(clamping: counters.tooLong))
    field("brokenSentences", Int64(clamping: counters.brokenSentences))
    field("withoutChecksum", Int64(clamping: counters.withoutChecksum))
    field("cutFrames", Int64(clamping: counters.cutFrames))
    field("rejectedFields", Int64(rejected))
    if let baud { field("baud", Int64(baud)) }
    endObject()
  }

  /// Writes the trust in the receiver's signals.
  mutating func trust(_ trust: SignalTrust, _ reasons: [String]) {
    beginObject()
    field("trust", trust.name)
    beginArray("reasons")
    for reason in reasons {
      nextElement()
      string(reason)
    }
    endArray()
    endObject()
  }

  /// Writes the state of the sensor fusion.
  mutating func fusion(_ status: FusionStatus) {
    beginObject()
    field("mode", text: status.mode.name)
    beginArray("sensors")
    for sensor in status.sensors {
      nextElement()
      string(sensor.text)
    }
    endArray()
    endObject()
  }

  /// Writes the data of MON-RF or MON-HW on jamming and antenna. Returns false for another message.
  mutating func radio(_ frame: borrowing UBXFrame) -> Bool {
    if let message = frame.message(MonRF.self) {
      beginObject()
      beginArray("blocks")
      for index in 0..<message.rFBlockCount {
        let block = message.rFBlock(index)
        beginObject()
        field("id", Int64(block.blockId))
        radio(jamming: block.flags_jammingState, antenna: block.antStatus, power: block.antPower)
        field("jammingIndicator", Int64(block.jamInd))
        field("noise", Int64(block.noisePerMS))
        field("agc", Int64(block.agcCnt))
        endObject()
      }
      endArray()
      endObject()
      return true
    }
    guard let message = frame.message(MonHW.self) else { return false }
    beginObject()
    beginArray("blocks")
    beginObject()
    field("id", Int64(0))
    radio(jamming: message.flags_jammingState, antenna: message.aStatus, power: message.aPower)
    field("jammingIndicator", Int64(message.jamInd))
    field("noise", Int64(message.noisePerMS))
    field("agc", Int64(message.agcCnt))
    endObject()
    endArray()
    endObject()
    return true
  }

  private mutating func radio(jamming: UInt8, antenna: UInt8, power: UInt8) {
    let jammings: [StaticString] = ["unknown", "ok", "warning", "critical"]
    let antennas: [StaticString] = ["initialising", "unknown", "ok", "short", "open"]
    let powers: [StaticString] = ["off", "on", "unknown"]
    field("jamming", jammings[Int(jamming & 3)])
    field("antenna", antenna < 5 ? antennas[Int(antenna)] : "unknown")
    field("antennaPower", power < 3 ? powers[Int(power)] : "unknown")
  }

  /// Writes the spectrum of MON-SPAN. Returns false for another message.
  mutating func spectrum(_ frame: borrowing UBXFrame) -> Bool {
    guard let message = frame.message(MonSPAN.self) else { return false }
    beginObject()
    beginArray("blocks")
    for index in 0..<message.rFBlockCount {
      let block = message.rFBlock(index)
      beginObject()
      field("centerHz", Int64(block.center))
      field("spanHz", Int64(block.span))
      field("resolutionHz", Int64(block.res))
      field("pgaDB", Int64(block.pga))
      beginArray("bins")
      for bin in 0..<256 { element(Int64(block.spectrum(bin))) }
      endArray()
      endObject()
    }
    endArray()
    endObject()
    return true
  }
}

extension Fix {
  /// The kind and the corrections in one word.
  var statusWord: StaticString {
    switch SolutionKind(self) {
    case .none: "none"
    case .timeOnly: "time only"
    case .outsideLimits: "outside limits"
    case .simulated: "simulated"
    case .surveyed: "surveyed"
    case .deadReckoning: "dead reckoning"
    case .twoD: "2D"
    case .threeD: "3D"
    case .differential, .preciseService: "DGPS"
    case .rtkFloat: "RTK float"
    case .rtkFixed: "RTK fixed"
    }
  }
}

extension Satellite.System {
  fileprivate var word: StaticString {
    switch self {
    case .gps: "GPS"
    case .sbas: "SBAS"
    case .galileo: "Galileo"
    case .beiDou: "BeiDou"
    case .imes: "IMES"
    case .qzss: "QZSS"
    case .glonass: "GLONASS"
    case .navIC: "NavIC"
    case .unknown: "unknown"
    }
  }
}
