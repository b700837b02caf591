// Small files and the environment, read through the C library: its calls take pointers, which is the reason for `unsafe`
// here. Each pointer is used within one call, and strings are copied at once.
import Glibc

enum SystemFiles {
  /// A file could not be read.
  struct Failure: Error {}

  /// The whole of a text file.
  static func contents(of path: String) throws(Failure) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw Failure() }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      if count > 0 {
        bytes += chunk[..<count]
      } else if errno != EINTR {
        throw Failure()
      }
    }
  }

  /// Whether there is such a file, as far as this user may know; access(2).
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// A variable of the environment.
  static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }
}
