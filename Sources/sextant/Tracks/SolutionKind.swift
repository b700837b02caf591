// SPDX-License-Identifier: Apache-2.0
import ReceiverStream

/// The kind of a fix for output, from its kind, its quality and the receiver's limits; in the order of a chart.
enum SolutionKind: Int, CaseIterable {
  case none, timeOnly
  /// A position beyond the receiver's limits of accuracy, of any kind.
  case outsideLimits
  case simulated
  /// A place that was surveyed or entered.
  case surveyed
  /// Dead reckoning; sentences call it estimated.
  case deadReckoning
  case twoD, threeD, differential, preciseService, rtkFloat, rtkFixed

  init(_ fix: Fix) {
    self =
      switch (fix.kind, fix.quality) {
      case (.timeOnly, _): .timeOnly
      case _ where !fix.hasPosition: .none
      case _ where !fix.isWithinLimits: .outsideLimits
      case (.deadReckoning, _), (_, .estimated): .deadReckoning
      case (.surveyed, _), (_, .manual): .surveyed
      case (_, .simulated): .simulated
      case (_, .rtkFixed): .rtkFixed
      case (_, .rtkFloat): .rtkFloat
      case (_, .preciseService): .preciseService
      case (_, .differential): .differential
      case (.twoD, _): .twoD
      default: .threeD
      }
  }
}
