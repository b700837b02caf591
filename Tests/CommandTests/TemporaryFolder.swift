/// A folder for the files of a test.
///
/// The calls of the C library take pointers, which is the reason for `unsafe` here; none leaves its call.
import Glibc

@testable import sextant

/// A folder of its own for one test, removed with all that is in it.
struct TemporaryFolder: ~Copyable {
  let path: String

  init() throws {
    var template = Array("/tmp/sextant-test-XXXXXX".utf8CString)
    // mkdtemp(3) writes the name into the array, which outlives the call.
    guard unsafe mkdtemp(&template) != nil else {
      throw CommandFailure(exitCode: CommandFailure.cannotCreate, description: message(errno))
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    for name in names { unsafe unlink("\(path)/\(name)") }
    unsafe rmdir(path)
  }

  /// The names in the folder, sorted.
  var names: [String] { namesOfFiles(in: path).filter { $0 != "." && $0 != ".." }.sorted() }
}
