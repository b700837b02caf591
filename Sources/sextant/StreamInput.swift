import FileSystem
import Recording

/// The bytes of a receiver's stream from a file, which holds them plainly or is a recording.
struct StreamInput: ~Copyable {
  /// Bytes of the stream so far.
  var bytes: UInt64 { recorded.count }

  private let path: String
  private var file: InputFile
  private var recorded = RecordedBytes()
  private var isAtEnd = false

  /// Opens a file; `-` is standard input.
  init(opening path: String) throws {
    do throws(FileError) { self.init(path, try InputFile(opening: path)) } catch {
      throw CommandFailure(reading: error)
    }
  }

  private init(_ path: String, _ file: consuming InputFile) {
    self.path = path
    self.file = file
  }

  /// Reads on and hands out the bytes of the stream in what was read; false at the end.
  mutating func next(_ body: (RawSpan) -> Void) throws -> Bool {
    if isAtEnd { return false }
    do {
      if let piece = try file.next() {
        try recorded.receive(piece, body)
      } else {
        isAtEnd = true
        let torn = try recorded.finish(body)
        if torn > 0 { printNotice("\(path): ends in a record of \(torn) bytes that was not finished; it is left out") }
        if recorded.damagedBytes > 0 {
          printNotice("\(path): \(recorded.damagedBytes) bytes are damaged; they are left out")
        }
      }
    } catch let error as FileError {
      throw CommandFailure(reading: error)
    } catch let error as RecordingError {
      throw CommandFailure(exitCode: CommandFailure.noInput, description: "\(path): \(error)")
    }
    return true
  }
}
