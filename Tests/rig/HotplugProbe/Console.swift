// The calls of the C library with pointers to memory that is theirs for the length of the call: the reason for `unsafe`.
import Glibc

enum Console {
  /// A line on standard output, at once.
  static func write(_ text: String) {
    let bytes = Array("\(text)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  /// How many descriptors this process has; that of the folder that is read for it not counted.
  static func openDescriptors() -> Int {
    guard let folder = unsafe opendir("/proc/self/fd") else { return -1 }
    defer { unsafe closedir(folder) }
    var count = -1
    while let entry = unsafe readdir(folder) {
      let isDot = unsafe entry.pointee.d_name.0 == CChar(bitPattern: UInt8(ascii: "."))
      if !isDot { count += 1 }
    }
    return count
  }
}
