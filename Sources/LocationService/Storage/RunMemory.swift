import FileSystem
import Synchronization

/// A record in memory that outlives the process, rewritten in place: at each fix there is time for one call, and none for a
/// new file.
final class RunMemory: Sendable {
  private struct Held: ~Copyable { var file: RecordFile? }

  private let path: String
  private let held = Mutex(Held(file: nil))

  init(_ path: String) { self.path = path }

  /// Keeps a text. Where that is not possible nothing is kept: an old one would hide what the disk has.
  func keep(_ text: String) {
    held.withLock { held in
      // No location is as long as that.
      guard text.utf8.count < RecordFile.size else {
        held.file = nil
        try? PrivateFile.remove(path)
        return
      }
      do throws(FileError) {
        if held.file == nil { held.file = try RecordFile(path) }
        try held.file!.replace(with: text)
      } catch {
        held.file = nil
        try? PrivateFile.remove(path)
      }
    }
  }
}
