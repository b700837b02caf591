// SPDX-License-Identifier: Apache-2.0
import Messages
import Testing

@Suite("The place of a program's location service")
struct ServiceChoiceTests {
  private static let standard = ServiceChoice.defaultSocket

  private static func choice(_ variables: [String: String], served: Set<String> = [standard]) -> ServiceChoice {
    ServiceChoice({ variables[$0] }, isServed: served.contains)
  }

  @Test("Without variables it is the daemon, if its socket accepts connections")
  func standard() {
    #expect(Self.choice([:]) == .daemon(path: Self.standard))
    #expect(Self.choice([:], served: []) == .inProcess)
  }

  @Test("A socket that is named is waited for")
  func named() {
    #expect(Self.choice(["SEXTANT_SERVICE": "/tmp/a"], served: []) == .daemon(path: "/tmp/a"))
    #expect(Self.choice(["SEXTANT_SERVICE": "/tmp/a", "GNSS_DEVICE": "/dev/ttyACM0"]) == .daemon(path: "/tmp/a"))
  }

  @Test("A program with a receiver of its own, or with `none`, is served in its process")
  func inProcess() {
    #expect(Self.choice(["SEXTANT_SERVICE": "none"]) == .inProcess)
    #expect(Self.choice(["GNSS_DEVICE": "/dev/ttyACM0"]) == .inProcess)
  }

  @Test("An empty variable counts as absent")
  func empty() {
    #expect(Self.choice(["SEXTANT_SERVICE": "", "GNSS_DEVICE": ""]) == .daemon(path: Self.standard))
  }
}
