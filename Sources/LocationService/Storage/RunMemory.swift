// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Synchronization

/// A record in memory that outlives the process. It is rewritten in place with one system call, because a new file for
/// each fix would take too long.
final class RunMemory: Sendable {
  private struct State: ~Copyable { var file: RecordFile? }

  private let path: String
  private let state = Mutex(State(file: nil))

  init(_ path: String) { self.path = path }

  /// Stores a text. If that fails, the record is removed: an old record would hide the newer one on the disk.
  func keep(_ text: [UInt8]) {
    state.withLock { state in
      // A location is never that long.
      guard text.count < RecordFile.size else {
        state.file = nil
        try? PrivateFile.remove(path)
        return
      }
      do throws(FileError) {
        if state.file == nil { state.file = try RecordFile(path) }
        try state.file!.replace(with: text)
      } catch {
        state.file = nil
        try? PrivateFile.remove(path)
      }
    }
  }
}
