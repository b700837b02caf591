// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages

/// The file of locations that a deferral keeps on this host. It grows with each location and is emptied once they are
/// delivered.
final class DeferredLocationStore {
  private let path: String
  private var file: File?
  private var isFailureLogged = false

  /// A reference to a file, whose value cannot be copied.
  private final class File {
    let value: AppendOnlyFile
    init(_ path: String) throws(FileError) { value = try AppendOnlyFile(private: path) }
  }

  init(_ path: String) { self.path = path }

  func keep(_ text: String) { attempt { file throws(FileError) in try file.append(text) } }
  func discard() { attempt { file throws(FileError) in try file.empty() } }

  private func attempt(_ body: (borrowing AppendOnlyFile) throws(FileError) -> Void) {
    do throws(FileError) {
      if file == nil { file = try File(path) }
      if let file { try body(file.value) }
    } catch {
      if !isFailureLogged {
        System.log("deferred locations cannot be stored: \(error) (SEXTANT_STATE_DIR names the folder)")
      }
      isFailureLogged = true
    }
  }
}
