import FileSystem

/// The file of locations that a deferral keeps on this host: it grows with each, and is emptied when they are delivered.
final class DeferredLocationStore {
  private let path: String
  private var file: File?
  private var isComplained = false

  /// Holds a file, which cannot be copied, so that a class can have none.
  private final class File {
    let value: AppendOnlyFile
    init(_ path: String) throws(FileError) { value = try AppendOnlyFile(private: path) }
  }

  init(_ path: String) { self.path = path }

  func keep(_ text: String) { attempt { file throws(FileError) in try file.append(text) } }
  func forget() { attempt { file throws(FileError) in try file.empty() } }

  private func attempt(_ body: (borrowing AppendOnlyFile) throws(FileError) -> Void) {
    do throws(FileError) {
      if file == nil { file = try File(path) }
      if let file { try body(file.value) }
    } catch {
      if !isComplained {
        System.log("locations that are deferred cannot be made safe: \(error) (SEXTANT_STATE_DIR names it)")
      }
      isComplained = true
    }
  }
}
