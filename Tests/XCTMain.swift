// SPDX-License-Identifier: Apache-2.0

import Testing

/// The entry point of the tests, by whose file name SwiftPM knows it. All tests are of Swift Testing: without this file SwiftPM also
/// searches the compiler's index for tests of XCTest, and writing that index is a quarter of the compilation.
@main
struct Tests {
  static func main() async {
    // The call in the entry point that SwiftPM generates.
    await __swiftPMEntryPoint() as Never
  }
}
