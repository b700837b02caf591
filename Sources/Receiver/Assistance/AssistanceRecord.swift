// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import UBX
import WireBytes

/// The place and the satellites' orbits of a receiver, stored from one run to the next. docs/guides/configuration.md describes the
/// file.
///
/// The navigation database is valid for the same receiver with the same firmware only (interface descriptions, MGA-DBD).
public struct AssistanceRecord: Sendable, Equatable {
  /// A position and its time.
  public struct Place: Sendable, Equatable {
    public var latitudeDegrees: Double
    public var longitudeDegrees: Double
    /// The height above the WGS 84 ellipsoid.
    public var heightMetres: Double
    /// The standard deviation of the position.
    public var accuracyMetres: Double
    public var time: UTCTime

    public init(
      latitudeDegrees: Double, longitudeDegrees: Double, heightMetres: Double, accuracyMetres: Double, time: UTCTime
    ) {
      self.latitudeDegrees = latitudeDegrees
      self.longitudeDegrees = longitudeDegrees
      self.heightMetres = heightMetres
      self.accuracyMetres = accuracyMetres
      self.time = time
    }

    /// The place of a fix within the receiver's limits; nil without one, or without a time.
    public init?(_ fix: Fix) {
      guard fix.hasPosition, fix.isWithinLimits, let latitude = fix.latitudeDegrees,
        let longitude = fix.longitudeDegrees,
        let time = fix.time
      else { return nil }
      self.init(
        latitudeDegrees: latitude, longitudeDegrees: longitude, heightMetres: fix.heightAboveEllipsoidMetres ?? 0,
        accuracyMetres: fix.horizontalAccuracyMetres ?? 100, time: time)
    }
  }

  /// A message of the receiver, which gets it back unchanged.
  public struct Message: Sendable, Equatable {
    var identity: MessageIdentity
    var payload: [UInt8]
  }

  /// The key of a record: the chip's id, or the hardware version without one, and the firmware.
  public struct Key: Sendable, Hashable {
    public var text: String

    public init(_ receiver: ReceiverDescription) {
      let chip = receiver.uniqueID?.hexadecimalDigits ?? "hardware-" + receiver.hardware
      text = chip + " " + (receiver.firmware ?? "unknown")
    }

    init(text: String) { self.text = text }

    /// The key as a part of a file name: ASCII alphanumerics, points and dashes.
    public var fileName: String {
      String(
        text.map { character in
          character.isASCII && (character.isLetter || character.isNumber || character == ".") ? character : "-"
        })
    }
  }

  public var key: Key
  public var place: Place?
  /// When the messages were read.
  public var databaseTime: UTCTime?
  public var database: [Message] = []

  public init(key: Key) { self.key = key }

  private static let title = "sextant-assistance 1"

  /// The content of the file.
  public var text: String {
    var text = "\(Self.title)\nreceiver \(key.text)\n"
    if let place {
      text +=
        "place \(place.latitudeDegrees) \(place.longitudeDegrees) \(place.heightMetres) \(place.accuracyMetres) "
        + "\(place.time.nanosecondsSince1970 / 1_000_000_000)\n"
    }
    if let databaseTime, !database.isEmpty {
      text += "database \(databaseTime.nanosecondsSince1970 / 1_000_000_000) \(database.count)\n"
      for message in database {
        text += message.identity.messageClass.hexadecimalDigits + message.identity.messageID.hexadecimalDigits + " "
        text += message.payload.hexadecimalDigits + "\n"
      }
    }
    return text + "end\n"
  }

  /// Reads the content of a file; nil if it is incomplete or malformed: wrong assistance is worse than none.
  public init?(_ text: String) {
    var lines = text.parts(at: "\n", omittingEmpty: false)[...]
    guard lines.popFirst() == Self.title[...], let receiver = lines.popFirst()?.after("receiver ") else {
      return nil
    }
    key = Key(text: String(receiver))
    while let line = lines.popFirst() {
      let words = line.parts(at: " ")
      switch words.first {
      case "end": return
      case "place":
        guard let place = Self.place(words.dropFirst()) else { return nil }
        self.place = place
      case "database":
        guard words.count == 3, let time = Self.time(words[1]), let count = Int(words[2]), (1...4096).contains(count)
        else { return nil }
        databaseTime = time
        for _ in 0..<count {
          guard let message = lines.popFirst().flatMap({ Self.message($0) }) else { return nil }
          database.append(message)
        }
      default: return nil
      }
    }
    // A file without `end` was cut.
    return nil
  }

  private static func place(_ words: ArraySlice<Substring>) -> Place? {
    let numbers = words.dropLast().compactMap { Double($0) }
    guard words.count == 5, numbers.count == 4, numbers.allSatisfy(\.isFinite),
      let time = words.last.flatMap({ time($0) }),
      abs(numbers[0]) <= 90, abs(numbers[1]) <= 180, abs(numbers[2]) < 1e5, (0..<1e7).contains(numbers[3])
    else { return nil }
    return Place(
      latitudeDegrees: numbers[0], longitudeDegrees: numbers[1], heightMetres: numbers[2], accuracyMetres: numbers[3],
      time: time)
  }

  private static func time(_ word: Substring) -> UTCTime? {
    guard let seconds = Int64(word), (0..<9_000_000_000).contains(seconds) else { return nil }
    return UTCTime(nanosecondsSince1970: seconds * 1_000_000_000)
  }

  private static func message(_ line: Substring) -> Message? {
    let words = line.parts(at: " ")
    guard words.count == 2, let head = [UInt8](hexadecimalDigits: words[0]), head.count == 2,
      let payload = [UInt8](hexadecimalDigits: words[1]),
      payload.count <= 512
    else { return nil }
    let identity = MessageIdentity(head[0], head[1])
    // Other messages are never sent from a file.
    guard [.mgaDBD, .aidEPH, .aidALM, .aidHUI].contains(identity) else { return nil }
    return Message(identity: identity, payload: payload)
  }
}
