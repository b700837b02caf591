// SPDX-License-Identifier: Apache-2.0
import LocationService
import Testing

@Suite("Places of a program's property list")
struct PropertyListPathsTests {
  @Test("A list of the program's own name comes before the one of its folder, and that before the one in /usr/share")
  func order() {
    #expect(
      PropertyListPaths.paths(ofExecutable: "/usr/bin/hike") == [
        "/usr/bin/hike.plist", "/usr/bin/hike.app/Contents/Info.plist", "/usr/bin/hike.app/Info.plist",
        "/usr/bin/Info.plist", "/usr/share/hike/Info.plist",
      ])
  }

  @Test("An executable inside a bundle has the list of the bundle")
  func bundle() {
    #expect(
      PropertyListPaths.paths(ofExecutable: "/a/H.app/Contents/Linux/H").suffix(2) == [
        "/a/H.app/Contents/Info.plist", "/usr/share/H/Info.plist",
      ])
  }

  @Test("A name without a folder is of the present folder, and one in the root of the root")
  func names() {
    #expect(PropertyListPaths.paths(ofExecutable: "hike").first == "./hike.plist")
    #expect(PropertyListPaths.paths(ofExecutable: "/hike").first == "/hike.plist")
  }
}
