// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import MonotonicTime
import Testing

@testable import ReceiverRuntime
@testable import sextantd

@Suite("The status of receivers")
struct StatusTests {
  @Test("Only root sees the mount point that was chosen by the position")
  func chosenMount() {
    var receiver = ReceiverStatus(device: "/dev/gnss", isOpen: true)
    receiver.corrections = CorrectionStatus(
      source: "ntrip://c:2101/MUNICH", configured: "ntrip://c:2101/", state: .flowing, receivedAt: nil, bytes: 7,
      failure: nil)
    for (user, source) in [(0 as UInt32, "ntrip://c:2101/MUNICH"), (1000, "ntrip://c:2101/")] {
      let members = LocationServer.quality(of: receiver, isMeasuring: true, at: .zero, forUser: user)
      #expect(JSON.object(members)["corrections"]?["source"]?.string == source, "\(user)")
    }
  }
}
