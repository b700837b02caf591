// SPDX-License-Identifier: Apache-2.0

import Testing

/// The entry point of the tests of `make check`, by whose file name SwiftPM knows it. The entry point that SwiftPM generates searches the
/// compiler's index for tests of XCTest, and writing that index is a quarter of the compilation.
@main
struct Tests {
  static func main() async {
    // The call in SwiftPM's entry point.
    await __swiftPMEntryPoint() as Never
  }
}
