// SPDX-License-Identifier: Apache-2.0

/// The version of this package: printed by `sextant --version`, sent to NTRIP casters.
package enum SextantVersion {
  package static let text = "0.3.0"
}
