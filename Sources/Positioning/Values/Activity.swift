// SPDX-License-Identifier: Apache-2.0

/// The user's activity; the raw values equal those of CLActivityType.
public enum Activity: Int, Codable, Sendable, CaseIterable {
  case other = 1
  case automotiveNavigation = 2
  case fitness = 3
  case otherNavigation = 4
  case airborne = 5
}
