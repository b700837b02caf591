// SPDX-License-Identifier: Apache-2.0
import EventLoop
import FileSystem
import Synchronization

/// A file that can be replaced by a thread of its own: fsync(2) takes seconds on flash memory that is erasing, and the caller must not
/// wait for it. A text that waits is dropped for a newer one.
final class BackgroundFile: Sendable {
  private let path: String
  private let waiting = Mutex<String?>(nil)
  /// Locked while the file is written.
  private let writing = Mutex(())

  init(_ path: String) { self.path = path }

  /// Replaces the file soon.
  ///
  /// - Parameter failed: takes the error, on any thread.
  func replaceLater(with text: String, _ failed: @escaping @Sendable (FileError) -> Void) {
    let hadText = waiting.withLock { waiting in
      defer { waiting = text }
      return waiting != nil
    }
    // The thread of a text that waits takes this one.
    if hadText { return }
    if !BackgroundWork.start({ [self] in finish(failed) }) { finish(failed) }
  }

  /// Replaces the file now.
  func replace(with text: String) throws(FileError) {
    try writing.withLock { _ throws(FileError) in
      waiting.withLock { $0 = nil }
      try PrivateFile.replace(path, with: text)
    }
  }

  /// Writes the text that waits, and waits for one that is being written.
  func finish(_ failed: (FileError) -> Void) {
    writing.withLock { _ in
      guard let text = waiting.withLock({ $0.take() }) else { return }
      do throws(FileError) { try PrivateFile.replace(path, with: text) } catch { failed(error) }
    }
  }
}
