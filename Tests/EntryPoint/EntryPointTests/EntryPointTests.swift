// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Test("All tests are of Swift Testing, because the entry point of make check runs no others")
func allTestsAreOfSwiftTesting() throws {
  let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
  let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
  var count = 0
  for case let file as URL in files where file.pathExtension == "swift" {
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(!text.contains("import XC" + "Test\n"), "\(file.path)")
    count += 1
  }
  #expect(count > 100)
}
