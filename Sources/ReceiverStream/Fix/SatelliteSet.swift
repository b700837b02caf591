/// A set of satellites, by system and number: a bit for each.
struct SatelliteSet: Sendable {
  private var words = InlineArray<9, UInt64>(repeating: 0)

  init() {}

  /// Adds a satellite; false when it was there, or has a number that no satellite of its system has.
  @discardableResult
  mutating func insert(_ system: Satellite.System, _ number: UInt8) -> Bool {
    guard let bit = Self.bit(system, number) else { return false }
    let index = Int(system.rawValue)
    if words[index] & bit != 0 { return false }
    words[index] |= bit
    return true
  }

  func contains(_ system: Satellite.System, _ number: UInt8) -> Bool {
    guard let bit = Self.bit(system, number) else { return false }
    return words[Int(system.rawValue)] & bit != 0
  }

  /// SBAS counts from 120, the others from 1; all have fewer than 64.
  @inline(always)
  private static func bit(_ system: Satellite.System, _ number: UInt8) -> UInt64? {
    let place = system == .sbas ? number &- 119 : number
    return place > 0 && place < 64 ? 1 &<< UInt64(place) : nil
  }
}
