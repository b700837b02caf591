// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import ReceiverSimulator
import TestSupport

@testable import Receiver

/// A line with a receiver of another maker, as a test scripts it: sentences once an epoch, and replies to sentences.
struct FamilyLine<Device: FamilyDevice>: HostLine {
  var hostRate: UInt32
  var device: Device
  /// Whether what the host sends comes back.
  var echoes = false
  /// The bytes of the host as text, one entry a write.
  private(set) var writes: [String] = []
  private var now = Instant.zero
  /// The line without an end so far.
  private var unfinished = ""
  private var coming: [(at: Instant, bytes: [UInt8])] = []
  private var nextEpoch = Instant.zero + Milliseconds(100)
  private var lastReply = Instant.zero

  init(_ device: Device) {
    self.device = device
    hostRate = device.rate
  }

  var isPresent: Bool { true }
  var deadline: Instant? { .earlier(coming.map(\.at).min(), nextEpoch) }
  var sent: String { writes.joined() }

  mutating func advance(to now: Instant) {
    self.now = now
    while now >= nextEpoch {
      if !device.isAsleep { coming.append((nextEpoch, device.epoch().flatMap { Wire.nmea($0) })) }
      nextEpoch = nextEpoch + Milliseconds(UInt64(device.period))
    }
  }

  /// Adds bytes that are the first ones to be read.
  mutating func wait(_ bytes: [UInt8]) { coming.append((now + Milliseconds(1), bytes)) }

  mutating func takeReceived() -> [UInt8] {
    let due = coming.filter { $0.at <= now }
    coming.removeAll { $0.at <= now }
    return hostRate == device.rate ? due.flatMap(\.bytes) : due.flatMap { $0.bytes.map { _ in 0xF8 } }
  }

  mutating func send(_ bytes: [UInt8], at now: Instant) {
    var text = String(decoding: bytes, as: UTF8.self)
    writes.append(text)
    if echoes { coming.append((now + Milliseconds(1), bytes)) }
    guard hostRate == device.rate else { return }
    if device.isAsleep {
      device.isAsleep = !device.wakes(by: text)
      if device.isAsleep || !device.readsWakingBytes { return }
      if let end = text.firstIndex(of: "\n") { text = String(text[text.index(after: end)...]) }
    }
    if device.readsWholeLines {
      text = unfinished + text
      let end = text.lastIndex(where: \.isNewline).map { text.index(after: $0) } ?? text.startIndex
      unfinished = String(text[end...])
      text.removeLast(unfinished.count)
    }
    for line in text.split(whereSeparator: \.isNewline) {
      let body = line.drop(while: { $0 == "$" }).prefix(while: { $0 != "*" })
      for reply in device.receive(String(body)) {
        // Septentrio's replies have no checksum.
        let isPlain = reply.hasPrefix("R: ") || reply.hasPrefix("R? ")
        let at = max(now + Milliseconds(device.delay), lastReply + Milliseconds(device.gap))
        if device.gap > 0 { lastReply = at }
        coming.append((at, isPlain ? Array("$\(reply)\r\n".utf8) : Wire.nmea(reply)))
      }
    }
  }
}

/// A receiver of another maker.
protocol FamilyDevice {
  var rate: UInt32 { get }
  var period: Int { get }
  var isAsleep: Bool { get set }
  var delay: UInt64 { get }
  /// The least time between two replies, in milliseconds; 0 sends the replies to a command together.
  var gap: UInt64 { get }
  /// Whether the bytes that wake it are read too.
  var readsWakingBytes: Bool { get }
  /// Whether it takes all bytes before a line end as one command.
  var readsWholeLines: Bool { get }
  mutating func epoch() -> [String]
  mutating func receive(_ body: String) -> [String]
  func wakes(by text: String) -> Bool
}

extension FamilyDevice {
  var delay: UInt64 { 20 }
  var gap: UInt64 { 0 }
  var readsWakingBytes: Bool { true }
  var readsWholeLines: Bool { false }
  func wakes(by text: String) -> Bool { !text.isEmpty }

  /// The sentences of an epoch without a fix.
  static func sentences(_ names: [String], talker: String = "GP") -> [String] {
    names.map { name in
      switch name {
      case "GGA": "\(talker)GGA,,,,,,0,,,,,,,,"
      case "RMC": "\(talker)RMC,,V,,,,,,,,,,N"
      case "GSA": "\(talker)GSA,A,1,,,,,,,,,,,,,,,"
      case "GSV": "GPGSV,1,1,01,05,40,083,46"
      case "GLL": "\(talker)GLL,,,,,,V,N"
      default: "\(talker)VTG,,T,,M,,N,,K,N"
      }
    }
  }
}

/// MT3339 as the documents describe it.
struct PMTKDevice: FamilyDevice {
  var rate: UInt32 = 9600
  var period = 1000
  var isAsleep = false
  var flags = [0, 1, 1, 1, 1, 1] + [Int](repeating: 0, count: 13)
  var refused: [String: Int] = [:]
  /// Acknowledgements that are lost.
  var lost = 0
  var loggerStops = 0

  func epoch() -> [String] {
    Self.sentences(
      ["GLL", "RMC", "VTG", "GGA", "GSA", "GSV"].enumerated().filter { flags[$0.offset] > 0 }.map(\.element))
  }

  mutating func receive(_ body: String) -> [String] {
    guard body.hasPrefix("PMTK") else { return [] }
    let fields = body.split(separator: ",").map { String($0) }
    let number = String(fields[0].dropFirst(4))
    if let flag = refused[number] { return ["PMTK001,\(number),\(flag)"] }
    switch number {
    case "605": return ["PMTK705,AXN_2.51_3339_13101700,5632,PA6H,1.0"]
    case "400": return ["PMTK500,\(period),0,0,0,0"]
    case "414": return ["PMTK514," + flags.map { "\($0)" }.joined(separator: ",")]
    case "220": period = Int(fields[1]) ?? period
    case "314": flags = fields.dropFirst().map { Int($0) ?? 0 }
    case "251":
      rate = UInt32(fields[1]) ?? rate
      return ["PMTK001,251,3"]
    case "161":
      isAsleep = true
      return ["PMTK001,161,3"]
    default: return ["PMTK001,\(number),1"]
    }
    if lost > 0 {
      lost -= 1
      return []
    }
    return ["PMTK001,\(number),3"]
  }
}

/// An LC76G as the documents describe it.
struct PAIRDevice: FamilyDevice {
  var rate: UInt32 = 115_200
  var period = 1000
  var isAsleep = false
  var rates = [1, 1, 1, 1, 1, 1, 0, 0, 0]
  var constellations = [1, 1, 1, 1, 1, 0]
  var firmware = "LC76GABNR02A01S"
  /// Commands that get busy first.
  var busy = 0
  /// Commands that it does not support.
  var unsupported: Set<String> = []
  /// Queries of its name that it loses.
  var namesLost = 0
  private var isLocked = false
  private(set) var isEngineStopped = false
  private(set) var savedPeriod: Int?
  /// Whether it hears nothing but PAIR382, the fourth.
  var isDrowsy = false
  private var knocks = 0

  init(busy: Int = 0, isDrowsy: Bool = false) {
    self.busy = busy
    self.isDrowsy = isDrowsy
  }

  func epoch() -> [String] {
    if isEngineStopped { return [] }
    return Self.sentences(
      ["GGA", "GLL", "GSA", "GSV", "RMC", "VTG"].enumerated().filter { rates[$0.offset] > 0 }.map(\.element),
      talker: "GN") + (isDrowsy ? ["PAIR010,0,0,2401,1000"] : [])
  }

  func wakes(by text: String) -> Bool { text.contains("$PAIR002*38") }

  mutating func receive(_ body: String) -> [String] {
    if isDrowsy {
      knocks += body == "PAIR382,1" ? 1 : 0
      isDrowsy = knocks < 4
      return isDrowsy ? [] : ["PAIR001,382,0"]
    }
    if body == "PQTMVERNO" {
      namesLost -= 1
      return namesLost >= 0 ? [] : ["PQTMVERNO,\(firmware),2022/09/14,11:47:03"]
    }
    guard body.hasPrefix("PAIR") else { return [] }
    let fields = body.split(separator: ",").map { String($0) }
    let number = String(fields[0].dropFirst(4))
    if busy > 0 {
      busy -= 1
      return ["PAIR001,\(number),5"]
    }
    let done = "PAIR001,\(number),0"
    switch number {
    case "021": return [done, "PAIR021,AG3352Q_V2.3.0.AG3352_20230213,S,N,2b31f59,2209141904,2b9,0"]
    case "051": return [done, "PAIR051,\(period)"]
    case "063": return [done, "PAIR063,\(fields[1]),\(rates[Int(fields[1])!])"]
    case "067": return [done, "PAIR067," + constellations.map { "\($0)" }.joined(separator: ",")]
    case "050": period = Int(fields[1])!
    case "062": rates[Int(fields[1])!] = Int(fields[2])!
    case "066":
      constellations = fields.dropFirst().map { Int($0)! }
      return ["PAIR001,066,1", done]
    case _ where unsupported.contains(number): return ["PAIR001,\(number),3"]
    case "382": isLocked = fields[1] == "1"
    case "003": (isAsleep, isEngineStopped) = (!isLocked, true)
    case "650": isAsleep = true
    case "002": isEngineStopped = false
    case "513" where period < 1000 && !isEngineStopped: return ["PAIR001,513,2"]
    case "513": savedPeriod = period
    default: return ["PAIR001,\(number),3"]
    }
    return [done]
  }
}

/// An AT6558 that reads text alone.
struct PCASDevice: FamilyDevice {
  var rate: UInt32 = 9600
  var period = 1000
  var isAsleep = false
  var rates = ["GGA": 1, "GLL": 1, "GSA": 1, "GSV": 1, "RMC": 1, "VTG": 1]
  /// Sentences that are lost.
  var lost = 0
  /// Whether it sends the state of its antenna.
  var antenna = false

  func epoch() -> [String] {
    Self.sentences(["GGA", "GLL", "GSA", "GSV", "RMC", "VTG"].filter { rates[$0]! > 0 }, talker: "GN")
      + (antenna ? ["GPTXT,01,01,01,ANTENNA OK"] : [])
  }

  mutating func receive(_ body: String) -> [String] {
    guard body.hasPrefix("PCAS") else { return [] }
    let fields = body.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    switch fields[0] {
    case "PCAS06":
      return [fields[1] == "0" ? "GPTXT,01,01,02,SW=URANUS5,V5.3.0.0" : "GPTXT,01,01,02,HW=ATGM336H,0001124010111"]
    case "PCAS02", "PCAS03":
      if lost > 0 {
        lost -= 1
        return []
      }
      if fields[0] == "PCAS02" { period = Int(fields[1])! }
      if fields[0] == "PCAS03" {
        for (name, rate) in zip(["GGA", "GLL", "GSA", "GSV", "RMC", "VTG"], fields.dropFirst()) {
          if let rate = Int(rate) { rates[name] = rate }
        }
      }
    default: break
    }
    return []
  }
}

/// An AT6558 whose sentences fill the line: what it replies waits behind its buffer of five seconds.
struct LateDevice: FamilyDevice {
  var rate: UInt32 { inner.rate }
  var period = 1000
  var isAsleep = false
  var delay: UInt64 { 5000 }
  private var inner = PCASDevice(antenna: true)

  func epoch() -> [String] {
    inner.epoch() + (1...20).map { "BDGSV,5,1,20,0\($0 % 10),40,083,46,02,40,083,46" }
  }

  mutating func receive(_ body: String) -> [String] { inner.receive(body) }
}

/// An AT6558 whose sentences have the form of MediaTek's until BeiDou is received, after the first probe.
struct ChangingDevice: FamilyDevice {
  var rate: UInt32 { inner.rate }
  var period = 1000
  var isAsleep = false
  private var inner = PCASDevice()
  private var receivesBeiDou = false

  func epoch() -> [String] {
    ["GNGGA,120000.000,4809.8520,N,01136.3360,E,1,09,0.90,512.0,M,47.6,M,,"] + inner.epoch().dropFirst(2)
      + (receivesBeiDou ? ["BDGSV,1,1,01,06,40,083,46"] : [])
  }

  mutating func receive(_ body: String) -> [String] {
    if body == "PMTK605" { receivesBeiDou = true }
    return inner.receive(body)
  }
}

/// An MT3339 with sentences of four decimals of minutes, which replies late.
struct SlowDevice: FamilyDevice {
  var rate: UInt32 { inner.rate }
  var period = 1000
  var isAsleep = false
  var delay: UInt64
  private var inner = PMTKDevice()

  init(delay: UInt64) { self.delay = delay }

  func epoch() -> [String] {
    ["GPGGA,120000.000,4809.8520,N,01136.3360,E,1,09,0.90,512.0,M,47.6,M,,"] + inner.epoch().dropFirst(3)
  }

  mutating func receive(_ body: String) -> [String] { inner.receive(body) }
}

/// A receiver that sends sentences and replies to nothing.
struct SilentDevice: FamilyDevice {
  var rate: UInt32 = 9600
  var period = 1000
  var isAsleep = false

  func epoch() -> [String] { Self.sentences(["GGA", "RMC"]) }
  mutating func receive(_ body: String) -> [String] { [] }
}

extension VirtualHost where Machine == SessionLog {
  convenience init<Device: FamilyDevice>(
    family device: Device, intent: SessionSettings.Intent = .serve, line kind: SessionSettings.Line = .serial,
    _ adapt: (inout SessionSettings) -> Void = { _ in }
  ) where Line == FamilyLine<Device> {
    var settings = SessionSettings(intent: intent, line: kind)
    adapt(&settings)
    self.init(SessionLog(), FamilyLine(device), settings: settings)
  }
}
