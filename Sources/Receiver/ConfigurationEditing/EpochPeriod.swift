// SPDX-License-Identifier: Apache-2.0
import UBX
import WireBytes

/// The rate of epochs before and after a change, and whether the line has capacity for it.
struct EpochPeriod {
  /// CFG-RATE-MEAS, milliseconds, and CFG-RATE-NAV, measurements an epoch.
  static let items: [UInt32] = [0x3021_0001, 0x3021_0002]
  /// The rates of lines that are proposed.
  static let usualRates: [UInt32] = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]

  /// The rate of epochs after the change divided by the rate before.
  private(set) var factor = 1.0

  /// Notes a change of one of the two items.
  mutating func change(_ id: UInt32, from found: UInt64, to desired: UInt64) {
    guard Self.items.contains(id), found > 0, desired > 0 else { return }
    factor *= Double(found) / Double(desired)
  }

  /// Notes a change of CFG-RATE: measRate is at offset 0, navRate at 2.
  mutating func change(from found: [UInt8], to desired: [UInt8]) {
    guard found.count >= 4, desired.count >= 4 else { return }
    let (before, after) = (Double(found.u2(0)) * Double(found.u2(2)), Double(desired.u2(0)) * Double(desired.u2(2)))
    guard before > 0, after > 0 else { return }
    factor *= before / after
  }

  /// Returns why the line cannot carry the new rate of epochs, with the next step; nil if it can, or if the rate does
  /// not rise.
  ///
  /// - Parameters:
  ///   - line: the line before the change.
  ///   - rate: the baud rate of the line after the change.
  ///   - rates: the rates that the receiver's line can be set to, in ascending order.
  ///   - hasReplies: whether the measured bytes contain replies, which come once.
  func problem(
    _ line: MeasuredLine, at rate: UInt32, rates: [UInt32] = Self.usualRates, hasReplies: Bool = true
  ) -> String? {
    let needed = line.bytesPerSecond * factor
    guard factor > 1, LineLoad.isPossible(line.bytesPerSecond, at: line.rate),
      hasReplies ? LineLoad.isHopeless(needed, at: rate) : needed > LineLoad.capacity(rate)
    else { return nil }
    let better = rates.first { $0 > rate && LineLoad.carries(needed, at: $0) }
    let cure = better.map { "set a faster line in the same command (baud=\($0)), or send" } ?? "send"
    return "this rate needs \(Int(clamping: needed.rounded(.up))) bytes a second, and a line of \(rate) baud carries "
      + "\(Int(clamping: LineLoad.capacity(rate))): replies of the receiver would be lost; \(cure) fewer messages first "
      + "(messages=GSV@0)"
  }
}
