// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Testing

@testable import sextantd

@Suite("The code of the daemon")
struct CodePageEvictionTests {
  @Test("Only executable mappings of the program that cannot be written to are released")
  func mappings() {
    let text = """
      5571bce0000-5571bfc0000 r--p 00000000 fe:00 1133111                    /opt/my service/sextantd
      5571bfc0000-5571c840000 r-xp 001d8000 fe:00 1133111                    /opt/my service/sextantd
      5571c840000-5571c8b0000 r--p 00a48000 fe:00 1133111                    /opt/my service/sextantd
      5571c8b0000-5571c8d0000 rw-p 00aa6000 fe:00 1133111                    /opt/my service/sextantd
      5571c8d0000-5571c8e0000 rwxp 00aa6000 fe:00 1133111                    /opt/my service/sextantd
      5571d000000-5571d021000 rw-p 00000000 00:00 0                          [heap]
      7f1a0000000-7f1a0010000 r-xp 00026000 fe:00 2110                       /usr/lib/x86_64-linux-gnu/libc.so.6
      7ffd0000000-7ffd0002000 r-xp 00000000 00:00 0                          [vdso]
      9000-8000 r-xp 00000000 fe:00 1133111                                  /opt/my service/sextantd
      x-y r-xp 00000000 fe:00 1133111                                        /opt/my service/sextantd
      """
    #expect(CodePageEviction.mappings(of: "/opt/my service/sextantd", in: text) == [0x5571bfc0000..<0x5571c840000])
    #expect(CodePageEviction.mappings(of: "/usr/bin/other", in: text).isEmpty)
  }

  /// The kilobytes of executable pages of this program that are mapped.
  private static func mapped() throws -> Int {
    let path = try Syscalls.target(ofLink: "/proc/self/exe")
    var isCode = false
    var size = 0
    for line in try UserFile.read("/proc/self/smaps", limit: 1 << 24).split(separator: "\n") {
      let words = line.split(separator: " ", omittingEmptySubsequences: true)
      if words.count >= 5, words[0].contains("-") { isCode = words[1] == "r-xp" && line.hasSuffix(path) }
      if isCode, words[0] == "Rss:" { size += Int(words[1]) ?? 0 }
    }
    return size
  }

  @Test("The program continues with less of its code mapped")
  func release() throws {
    let before = try Self.mapped()
    #expect(CodePageEviction.perform() >= before * 1024)
    let after = try Self.mapped()
    #expect(after < before, "\(before) kB before, \(after) kB after")
  }
}
