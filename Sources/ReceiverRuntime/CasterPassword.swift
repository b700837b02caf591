// SPDX-License-Identifier: Apache-2.0
import Corrections
import FileSystem

/// The password for an NTRIP caster, which is not part of the command line: other users can see that in the list of
/// processes.
package enum CasterPassword {
  /// The notice for a source that names its password on the command line.
  package static let notice =
    "other users can see the password of the command line; leave it out, and set SEXTANT_NTRIP_PASSWORD_FILE"

  /// The name of the credential of a systemd unit (systemd.exec(5), LoadCredential=).
  private static let credential = "ntrip-password"

  /// Returns the source with its password, from the first of these: SEXTANT_NTRIP_PASSWORD, the file that
  /// SEXTANT_NTRIP_PASSWORD_FILE names, the credential of the unit. If there is none, it is unchanged.
  ///
  /// - Parameter variable: returns a variable of the environment.
  /// - Throws: the error of a file that cannot be read.
  package static func complete(
    _ source: CorrectionSource, _ variable: (String) -> String?
  ) throws(FileError) -> CorrectionSource {
    func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    guard source.needsPassword else { return source }
    if let password = value("SEXTANT_NTRIP_PASSWORD") { return source.withPassword(password) }
    let ofUnit = value("CREDENTIALS_DIRECTORY").map { "\($0)/\(credential)" }
    guard
      let path = value("SEXTANT_NTRIP_PASSWORD_FILE") ?? ofUnit.flatMap({ FileLookup.exists($0) ? $0 : nil })
    else { return source }
    let text = try UserFile.read(path, limit: 4096)
    return source.withPassword(String(text.prefix { !$0.isNewline }))
  }
}
