// SPDX-License-Identifier: Apache-2.0
import RTCM3
import ReceiverStream
import WireBytes

/// The newest broadcast ephemeris of each satellite, for the next start of a receiver. docs/guides/first-fix.md has the
/// sources.
///
/// Times are UTC of a synchronised computer. The value does not use a clock or files.
public struct EphemerisStock: Sendable, Equatable {
  /// The number of ephemerides that were not used, by reason.
  public struct Refused: Sendable, Equatable {
    /// Expired, or of a time that has not come.
    public var expired = 0
    /// Incomplete, or with a field out of range.
    public var implausible = 0
    public var unhealthy = 0

    public var total: Int { expired + implausible + unhealthy }
  }

  public private(set) var refused = Refused()
  /// Counts the changes.
  public private(set) var revision = 0
  private var ephemerides: [RINEXSatellite: AssistanceEphemeris] = [:]
  /// Galileo satellites whose ephemeris is from F/NAV.
  private var fromFNAV: Set<RINEXSatellite> = []

  /// A receiver needs four satellites in view. Ephemerides of this many satellites, in all systems together, are enough for its start.
  static let enough = 8
  /// The messages of RTCM 3 that are read.
  public static let messageNumbers: Set<Int> = [1019, 1020, 1042, 1045, 1046]

  public init() {}

  public static func == (a: EphemerisStock, b: EphemerisStock) -> Bool { a.ephemerides == b.ephemerides }

  public var isEmpty: Bool { ephemerides.isEmpty }

  // MARK: Sources

  /// Handles a correction. Returns whether the stock has changed.
  @discardableResult
  public mutating func receive(_ frame: borrowing RTCM3Frame, at utc: UTCTime) -> Bool {
    guard let number = frame.messageNumber, Self.messageNumbers.contains(number) else { return false }
    guard let ephemeris = BroadcastEphemeris(frame, near: GPSTicks(utc)) else {
      refused.implausible += 1
      return false
    }
    return receive(ephemeris, at: utc)
  }

  /// Handles an ephemeris of a message or file. Returns whether the stock has changed.
  @discardableResult
  package mutating func receive(_ broadcast: BroadcastEphemeris, at utc: UTCTime) -> Bool {
    do throws(AssistanceEphemeris.Refusal) {
      let isINAV = broadcast.satellite.system != .galileo || AssistanceEphemeris.isINAV(broadcast.values)
      return insert(try AssistanceEphemeris(broadcast), isINAV: isINAV, at: utc)
    } catch {
      return refuse(error, broadcast.satellite)
    }
  }

  /// Handles the ephemerides of an answer of AssistNow, which come from I/NAV for Galileo. Returns whether the stock has changed.
  @discardableResult
  public mutating func receive(_ answer: AssistNowAnswer, at utc: UTCTime) -> Bool {
    var hasChanged = false
    for message in answer.messages where message.identity != .mgaANO {
      do throws(AssistanceEphemeris.Refusal) {
        if insert(try AssistanceEphemeris(message, near: utc), isINAV: true, at: utc) { hasChanged = true }
      } catch {
        if refuse(error, AssistanceEphemeris.satellite(of: message)) { hasChanged = true }
      }
    }
    return hasChanged
  }

  /// Counts a refusal. Returns whether the stock has changed: an older ephemeris of an unhealthy satellite must not be used either.
  private mutating func refuse(_ refusal: AssistanceEphemeris.Refusal, _ satellite: RINEXSatellite?) -> Bool {
    switch refusal {
    case .implausible: refused.implausible += 1
    case .unhealthy:
      refused.unhealthy += 1
      return satellite.map { remove($0) } ?? false
    case .otherSystem: break
    }
    return false
  }

  private mutating func insert(_ found: AssistanceEphemeris, isINAV: Bool, at utc: UTCTime) -> Bool {
    let now = utc.seconds
    guard found.from <= now, now < found.until else {
      refused.expired += 1
      return false
    }
    if let old = ephemerides[found.satellite] {
      let replaces =
        found.reference > old.reference
        || found.reference == old.reference && isINAV && fromFNAV.contains(found.satellite)
      guard replaces else { return false }
    }
    ephemerides[found.satellite] = found
    if isINAV { fromFNAV.remove(found.satellite) } else { fromFNAV.insert(found.satellite) }
    revision += 1
    return true
  }

  private mutating func remove(_ satellite: RINEXSatellite) -> Bool {
    guard ephemerides.removeValue(forKey: satellite) != nil else { return false }
    revision += 1
    return true
  }

  /// Reads a RINEX navigation file. Returns whether the stock has changed; nil if it is not such a file.
  public mutating func read(rinex bytes: RawSpan, at utc: UTCTime) -> Bool? {
    guard var file = RINEXNavigationReader(bytes) else { return nil }
    var hasChanged = false
    while let ephemeris = file.next() { if receive(ephemeris, at: utc) { hasChanged = true } }
    refused.implausible += file.unreadable
    return hasChanged
  }

  // MARK: Use

  /// The usable messages at a time, in the order of the systems and satellites.
  package func messages(at utc: UTCTime) -> [AssistanceRecord.Message] {
    let now = utc.seconds
    return ephemerides.values.filter { $0.from <= now && now < $0.until }.sorted { $0.satellite < $1.satellite }
      .map(\.message)
  }

  /// The number of usable ephemerides at a time.
  public func count(at utc: UTCTime) -> Int {
    let now = utc.seconds
    return ephemerides.values.count { $0.from <= now && now < $0.until }
  }

  /// Returns the time in seconds for which enough ephemerides for a start without reception of orbits remain; 0 with too few.
  public func usableSeconds(at utc: UTCTime) -> Double {
    let now = utc.seconds
    let ends = ephemerides.values.filter { $0.from <= now && now < $0.until }.map(\.until).sorted(by: >)
    return ends.count < Self.enough ? 0 : Double(ends[Self.enough - 1] - now)
  }

  // MARK: File

  private static let title = "sextant-ephemerides 1"
  private static let mostLines = 512

  /// The content of the file, without what has expired.
  public func text(at utc: UTCTime) -> String {
    var text = Self.title + "\n"
    for one in ephemerides.values.sorted(by: { $0.satellite < $1.satellite }) where utc.seconds < one.until {
      let flag = fromFNAV.contains(one.satellite) ? "F" : "-"
      text += "\(String(Unicode.Scalar(one.satellite.system.character)))\(one.satellite.number) \(flag) "
      text += "\(one.reference) \(one.from) \(one.until) \(one.message.payload.hexadecimalDigits)\n"
    }
    return text + "end\n"
  }

  /// Reads the content of a file; nil if it is incomplete or malformed: wrong assistance is worse than none.
  public init?(_ text: String) {
    var lines = text.parts(at: "\n", omittingEmpty: false)[...]
    guard lines.popFirst() == Self.title[...], lines.count <= Self.mostLines else { return nil }
    while let line = lines.popFirst() {
      if line == "end" { return }
      let words = line.parts(at: " ")
      guard words.count == 6, let one = Self.ephemeris(words) else { return nil }
      ephemerides[one.satellite] = one
      if words[1] == "F" { fromFNAV.insert(one.satellite) }
    }
    // A file without `end` was cut.
    return nil
  }

  private static func ephemeris(_ words: [Substring]) -> AssistanceEphemeris? {
    guard let character = words[0].utf8.first, let system = RINEXSatellite.System(character: character),
      let number = UInt8(words[0].dropFirst()), let identity = AssistanceEphemeris.identities[system],
      AssistanceEphemeris.numbers[system]?.contains(number) == true,
      let payload = [UInt8](hexadecimalDigits: words[5]), payload.count == AssistanceEphemeris.sizes[system],
      payload[0] == 1, payload[2] == number,
      let reference = Int64(words[2]), let from = Int64(words[3]), let until = Int64(words[4]),
      (0..<9_000_000_000).contains(reference), (reference - 180_000...reference).contains(from),
      (reference...reference + 180_000).contains(until)
    else { return nil }
    return AssistanceEphemeris(
      satellite: RINEXSatellite(system: system, number: number), reference: reference, from: from, until: until,
      message: AssistanceRecord.Message(identity: identity, payload: payload))
  }
}

extension AssistanceEphemeris {
  init(satellite: RINEXSatellite, reference: Int64, from: Int64, until: Int64, message: AssistanceRecord.Message) {
    (self.satellite, self.reference, self.from, self.until, self.message) = (satellite, reference, from, until, message)
  }
}

extension UTCTime {
  fileprivate var seconds: Int64 { nanosecondsSince1970 / 1_000_000_000 }
}
