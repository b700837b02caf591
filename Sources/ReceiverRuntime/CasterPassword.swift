// SPDX-License-Identifier: Apache-2.0
import LinuxIO

/// The password for an NTRIP caster, and the account at AssistNow, which are not part of the command line: other users can see
/// that in the list of processes.
package enum CasterPassword {
  /// The notice for a source that names its password on the command line.
  package static let notice =
    "other users can see the password of the command line; leave it out, and set SEXTANT_NTRIP_PASSWORD_FILE"

  /// Returns the source with its password, from the first of these: SEXTANT_NTRIP_PASSWORD, the file that
  /// SEXTANT_NTRIP_PASSWORD_FILE names, the credential of the unit. If there is none, it is unchanged.
  ///
  /// - Parameter variable: returns a variable of the environment.
  /// - Throws: the error of a file that cannot be read.
  package static func complete(
    _ source: CorrectionSource, _ variable: (String) -> String?
  ) throws(FileError) -> CorrectionSource {
    guard source.needsPassword else { return source }
    return try password("SEXTANT_NTRIP_PASSWORD", credential: "ntrip-password", variable).map(source.withPassword)
      ?? source
  }

  /// The password of the caster of `sextant base`, from SEXTANT_CASTER_PASSWORD, the file that SEXTANT_CASTER_PASSWORD_FILE names,
  /// or the credential `caster-password` of the unit; nil without one.
  package static func ofOwnCaster(_ variable: (String) -> String?) throws(FileError) -> String? {
    try password("SEXTANT_CASTER_PASSWORD", credential: "caster-password", variable)
  }

  /// The account of `assistnow = on`, from SEXTANT_ASSISTNOW, the file that SEXTANT_ASSISTNOW_FILE names, or the credential
  /// `assistnow` of the unit; nil without one.
  package static func ofAssistNow(_ variable: (String) -> String?) throws(FileError) -> String? {
    try password("SEXTANT_ASSISTNOW", credential: "assistnow", variable)
  }

  /// - Parameters:
  ///   - name: the variable with the password; with `_FILE`, that with the path of a file.
  ///   - credential: the name of the credential of a systemd unit (systemd.exec(5), LoadCredential=).
  private static func password(
    _ name: String, credential: String, _ variable: (String) -> String?
  ) throws(FileError) -> String? {
    func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    if let password = value(name) { return password }
    let ofUnit = value("CREDENTIALS_DIRECTORY").map { "\($0)/\(credential)" }
    guard let path = value("\(name)_FILE") ?? ofUnit.flatMap({ FileLookup.exists($0) ? $0 : nil }) else { return nil }
    return String(try UserFile.read(path, limit: 4096).prefix { !$0.isNewline })
  }
}
