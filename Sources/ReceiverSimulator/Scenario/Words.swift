// SPDX-License-Identifier: Apache-2.0

import MonotonicTime

/// Parses the words of a line, one after the other.
struct Words {
  private let words: [Substring]
  private let line: Int
  private var index = 0

  init(_ text: Substring, line: Int) {
    words = text.split { $0 == " " || $0 == "\t" || $0 == "\r" }
    self.line = line
  }

  var isAtEnd: Bool { index == words.count }
  var peek: Substring? { isAtEnd ? nil : words[index] }

  func error(_ message: String) -> ScenarioError { ScenarioError(line: line, message: message) }

  mutating func next() -> Substring? {
    guard !isAtEnd else { return nil }
    defer { index += 1 }
    return words[index]
  }

  /// Takes the next word if it equals this one.
  mutating func take(_ word: String) -> Bool {
    guard let peek, peek == word else { return false }
    index += 1
    return true
  }

  mutating func expect(_ word: String, or other: String? = nil) throws(ScenarioError) {
    if take(word) { return }
    let wanted = other.map { "`\($0)` or `\(word)`" } ?? "`\(word)`"
    throw error(peek.map { "\(wanted) should stand where `\($0)` is" } ?? "\(wanted) is missing at the end")
  }

  func expectEnd() throws(ScenarioError) {
    if let peek { throw error("`\(peek)` is too much; remove it, or put it on a line of its own") }
  }

  mutating func sky() throws(ScenarioError) -> SkyView {
    guard let word = next(), let sky = SkyView(rawValue: String(word)) else {
      throw error("a sky is open, urban, indoor or none")
    }
    return sky
  }

  /// The name of a receiver, such as `mt3339`.
  mutating func model() throws(ScenarioError) -> ReceiverModel {
    guard let model = next().flatMap({ ReceiverModel(rawValue: String($0)) }) else {
      throw error("a model is \(ReceiverModel.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return model
  }

  /// A deviation of the receiver, such as `lost-acks`.
  mutating func quirk() throws(ScenarioError) -> Quirk {
    guard let quirk = next().flatMap({ Quirk(rawValue: String($0)) }) else {
      throw error("a quirk is \(Quirk.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return quirk
  }

  /// `48.1642,11.6056`.
  mutating func coordinates() throws(ScenarioError) -> (Double, Double) {
    let parts = (next() ?? "").split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let latitude = Double(parts[0]), let longitude = Double(parts[1]),
      abs(latitude) <= ScenarioLimits.latitudeDegrees,
      abs(longitude) <= 180
    else { throw error("a place is LATITUDE,LONGITUDE in degrees without a space, such as 48.1642,11.6056") }
    return (latitude, longitude)
  }

  /// `500m,-200m`: north and east.
  mutating func offsets() throws(ScenarioError) -> (Double, Double) {
    let parts = (next() ?? "").split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let north = Self.metres(parts[0]), let east = Self.metres(parts[1]) else {
      throw error("a way is NORTH,EAST in metres without a space, such as 500m,-1.2km")
    }
    return (north, east)
  }

  mutating func metres() throws(ScenarioError) -> Double {
    guard let word = next(), let metres = Self.metres(word) else {
      throw error("a length has a unit, such as 120m or 2.5km")
    }
    return metres
  }

  private static func metres(_ word: Substring) -> Double? {
    let metres =
      if word.hasSuffix("km") {
        Double(word.dropLast(2)).map { $0 * 1000 }
      } else {
        word.hasSuffix("m") ? Double(word.dropLast()) : nil
      }
    return metres.flatMap { $0.isFinite ? $0 : nil }
  }

  mutating func speed() throws(ScenarioError) -> Double {
    var speed: Double?
    if let word = next() {
      if word.hasSuffix("km/h") { speed = Double(word.dropLast(4)).map { $0 / 3.6 } }
      if word.hasSuffix("m/s") { speed = Double(word.dropLast(3)) }
    }
    guard let speed, speed > 0 else { throw error("a speed is above 0 and has a unit, such as 1.4m/s or 50km/h") }
    guard speed <= ScenarioLimits.metresPerSecond else { throw error("no receiver works above 500m/s; move slower") }
    return speed
  }

  /// A duration above 0.
  mutating func seconds() throws(ScenarioError) -> Double {
    let seconds = try time()
    guard seconds > 0 else { throw error("the time is more than 0") }
    return seconds
  }

  /// `90s`, `5min`, `1h30min`, `250ms`, or `08:30` and `08:30:15` from the start.
  mutating func time() throws(ScenarioError) -> Double {
    guard let word = next(), let seconds = Self.clockSeconds(word) ?? Self.unitSeconds(word) else {
      throw error("a time is such as 90s, 5min, 1h30min, 250ms or 08:30")
    }
    guard seconds <= ScenarioLimits.seconds else {
      throw error("a time is at most ten years (3650d); use `forever` for a movement without an end")
    }
    return seconds
  }

  private static func clockSeconds(_ word: Substring) -> Double? {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3 else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
      guard part.count == 2 || index == 0, let number = Int(part), number >= 0, index == 0 || number < 60 else {
        return nil
      }
      seconds = seconds * 60 + Double(number)
    }
    return parts.count == 2 ? seconds * 60 : seconds
  }

  private static func unitSeconds(_ word: Substring) -> Double? {
    let units: [(name: String, seconds: Double)] = [("ms", 0.001), ("min", 60), ("s", 1), ("h", 3600), ("d", 86_400)]
    var rest = word
    var seconds = 0.0
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isNumber || $0 == "." }
      rest = rest.dropFirst(digits.count)
      guard let number = Double(digits), let unit = units.first(where: { rest.hasPrefix($0.name) }) else { return nil }
      rest = rest.dropFirst(unit.name.count)
      seconds += number * unit.seconds
    }
    return seconds
  }

  mutating func milliseconds() throws(ScenarioError) -> Milliseconds { Milliseconds(seconds: try seconds()) }

  /// A share such as `2%`.
  mutating func share() throws(ScenarioError) -> Double {
    guard let word = next(), word.hasSuffix("%"), let percent = Double(word.dropLast()), 0...100 ~= percent else {
      throw error("a share is a percentage, such as 2%")
    }
    return percent / 100
  }
}
