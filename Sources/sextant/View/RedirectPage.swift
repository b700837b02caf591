// SPDX-License-Identifier: Apache-2.0
import LinuxIO

/// A file that leads a browser to an address with a token, removed with the value.
///
/// All users see the arguments of a program in /proc/PID/cmdline, so the browser gets the path of the file, which only its
/// user can read.
final class RedirectPage {
  let path: String
  private let folder: PrivateTemporaryFolder

  /// - Throws: `CommandFailure`, `FileError` if the file cannot be written.
  init(to address: String) throws {
    // The folder of the desktop's session ends with it, and is not on a disk.
    let session = environment("XDG_RUNTIME_DIR").flatMap { try? PrivateTemporaryFolder(inOwn: $0) }
    folder = try session ?? PrivateTemporaryFolder()
    path = "\(folder.path)/view.html"
    try UserFile.replace(path, with: Self.text(to: address), permissions: 0o600)
  }

  // The folder's end removes the folder.
  deinit { UserFile.remove(path) }

  static func text(to address: String) -> String {
    let escapes: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"]
    let target = address.map { escapes[$0] ?? String($0) }.joined()
    return """
      <!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
      <meta http-equiv="refresh" content="0; url=\(target)"><title>sextant view</title><a href="\(target)">sextant view</a></html>

      """
  }
}
