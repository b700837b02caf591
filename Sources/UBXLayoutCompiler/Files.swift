// SPDX-License-Identifier: Apache-2.0

/// Reads and writes whole files. `unsafe` only because the C library's streams are pointers; each is closed in the
/// function that opened it.
import Glibc

func fail(_ message: String, _ code: Int32) -> Never {
  let line = Array((message + "\n").utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  exit(code)
}

func readFile(_ path: String) -> String { contents(of: path) ?? { fail("\(path): cannot be read", 66) }() }

private func contents(of path: String) -> String? {
  guard let file = unsafe fopen(path, "r") else { return nil }
  defer { unsafe fclose(file) }
  var bytes: [UInt8] = []
  while case let byte = unsafe fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
  return String(decoding: bytes, as: UTF8.self)
}

/// Writes a file. A file that already has this text is not touched, so that nothing is recompiled.
func writeFile(_ text: String, to path: String) {
  guard contents(of: path) != text else { return }
  guard let file = unsafe fopen(path, "w") else { fail("\(path): cannot be written", 73) }
  unsafe fputs(text, file)
  guard unsafe fclose(file) == 0 else { fail("\(path): cannot be written", 74) }
}
