// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import sextant

@Suite("Subcommands that are programs of their own")
struct SubprogramTests {
  @Test("The benchmarks of a checkout are found from its build folder, and from no other place")
  func folders() {
    #expect(
      Subprogram.foldersInCheckout(of: "/home/me/sextant/.build/x86_64-unknown-linux-gnu/release")
        == ["/home/me/sextant/.build/packages/release", "/home/me/sextant/.build/packages/debug"])
    #expect(Subprogram.foldersInCheckout(of: "/usr/local/bin") == [])
  }
}
