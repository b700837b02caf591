// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO

/// Releases the code of the program from the memory of its process.
enum CodePageEviction {
  /// The time from the start of the daemon to the release of its code, nanoseconds: a receiver has been found, and its
  /// first locations were delivered.
  static let delayNanoseconds: UInt64 = 60_000_000_000

  /// Unmaps the code that has run so far, most of which only the start needs. The service maps again what it uses, from
  /// the page cache. The kernel drops unmapped pages first when memory is short. Returns the size of the code in bytes;
  /// 0 if the kernel refuses.
  @discardableResult
  static func perform() -> Int {
    guard let path = try? Syscalls.target(ofLink: "/proc/self/exe"), let text = try? UserFile.read("/proc/self/maps")
    else {
      return 0
    }
    return mappings(of: path, in: text).reduce(0) { size, range in
      // `unsafe`: nothing writes to these pages of a file, so that they have the same content when they are mapped
      // again.
      let result = unsafe madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
      return result == 0 ? size + range.count : size
    }
  }

  /// Returns the addresses of the executable mappings of a file that cannot be written to, from the text of
  /// /proc/PID/maps (proc(5)).
  static func mappings(of path: String, in text: String) -> [Range<UInt>] {
    text.split(separator: "\n").compactMap { line in
      // Address, permissions, offset, device, inode, and the path, which may contain spaces.
      let words = line.split(separator: " ", maxSplits: 5)
      guard words.count == 6, words[1] == "r-xp", words[5].drop(while: { $0 == " " }) == path else { return nil }
      let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard ends.count == 2, ends[0] < ends[1] else { return nil }
      return ends[0]..<ends[1]
    }
  }
}
