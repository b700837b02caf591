import Receiver
import UBX

/// How often epochs come before and after a change, and whether the line has room for them.
struct EpochPeriod {
  /// CFG-RATE-MEAS, milliseconds, and CFG-RATE-NAV, measurements an epoch.
  static let items: [UInt32] = [0x3021_0001, 0x3021_0002]
  private static let usualRates: [UInt32] = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]

  /// How many times as many epochs there are as before.
  private(set) var factor = 1.0

  /// An item of the two.
  mutating func change(_ id: UInt32, from found: UInt64, to wanted: UInt64) {
    guard Self.items.contains(id), found > 0, wanted > 0 else { return }
    factor *= Double(found) / Double(wanted)
  }

  /// CFG-RATE: measRate at 0, navRate at 2.
  mutating func change(from found: [UInt8], to wanted: [UInt8]) {
    guard found.count >= 4, wanted.count >= 4 else { return }
    let (before, after) = (Double(found.u2(0)) * Double(found.u2(2)), Double(wanted.u2(0)) * Double(wanted.u2(2)))
    guard before > 0, after > 0 else { return }
    factor *= before / after
  }

  /// Why a line cannot carry what is to come, with the cure; nil when it can, or nothing grows.
  ///
  /// - Parameters:
  ///   - line: the line as it was before.
  ///   - rate: the rate that it will have.
  func problem(_ line: MeasuredLine, at rate: UInt32) -> String? {
    let wanted = line.bytesPerSecond * factor
    guard factor > 1, LineLoad.isPossible(line.bytesPerSecond, at: line.rate), LineLoad.isHopeless(wanted, at: rate)
    else { return nil }
    let better = Self.usualRates.first { $0 > rate && LineLoad.carries(wanted, at: $0) }
    let cure = better.map { "set a faster line in the same command (baud=\($0)), or have" } ?? "have"
    return "so many fixes are \(Int(wanted.rounded(.up))) bytes a second, and a line of \(rate) baud carries "
      + "\(Int(LineLoad.capacity(rate))): the receiver would not be reached any more; \(cure) fewer messages first "
      + "(messages=GSV@0)"
  }
}
