// SPDX-License-Identifier: Apache-2.0
import Corrections
import FileSystem

/// The password for an NTRIP caster, which is not part of the command line: other users see that in the list of processes.
enum CasterPassword {
  /// The name of the credential of a systemd unit (systemd.exec(5), LoadCredential=).
  static let credential = "ntrip-password"

  /// Returns the source with its password, from the first of these: SEXTANT_NTRIP_PASSWORD, the file that
  /// SEXTANT_NTRIP_PASSWORD_FILE names, the credential of the unit. Without one it is unchanged.
  ///
  /// - Throws: `CommandFailure` if the file cannot be read.
  static func complete(_ source: CorrectionSource) throws -> CorrectionSource {
    if source.namesPassword {
      printNotice(
        "other users can see the password of the command line; leave it out, and set SEXTANT_NTRIP_PASSWORD_FILE")
    }
    guard source.needsPassword else { return source }
    if let password = environment("SEXTANT_NTRIP_PASSWORD") { return source.withPassword(password) }
    let ofUnit = environment("CREDENTIALS_DIRECTORY").map { "\($0)/\(credential)" }.flatMap { exists($0) ? $0 : nil }
    guard let path = environment("SEXTANT_NTRIP_PASSWORD_FILE") ?? ofUnit else { return source }
    do throws(FileError) {
      let text = try UserFile.read(path, limit: 4096)
      return source.withPassword(String(text.prefix { !$0.isNewline }))
    } catch {
      throw CommandFailure(reading: error)
    }
  }
}
