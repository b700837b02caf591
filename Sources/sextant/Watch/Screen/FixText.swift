// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

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
