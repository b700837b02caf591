// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Synchronization

/// A file that a separate thread can replace: fsync(2) takes seconds while flash memory erases, and the caller must not
/// wait for it. A newer text replaces a pending one.
final class BackgroundFile: Sendable {
  private let path: String
  private let waiting = Mutex<String?>(nil)
  /// Locked while the file is written.
  private let writing = Mutex(())

  init(_ path: String) { self.path = path }

  /// Replaces the file later.
  ///
  /// - Parameter failed: receives the error, on any thread.
  func replaceLater(with text: String, _ failed: @escaping @Sendable (FileError) -> Void) {
    let hadText = waiting.withLock { waiting in
      defer { waiting = text }
      return waiting != nil
    }
    // The thread of the pending text writes this one.
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

  /// Writes the pending text, and waits for a write in progress.
  func finish(_ failed: (FileError) -> Void) {
    writing.withLock { _ in
      guard let text = waiting.withLock({ $0.take() }) else { return }
      do throws(FileError) { try PrivateFile.replace(path, with: text) } catch { failed(error) }
    }
  }
}
