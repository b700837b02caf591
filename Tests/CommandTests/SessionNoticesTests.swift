// SPDX-License-Identifier: Apache-2.0
import Receiver
import ReceiverRuntime
import Testing

@testable import sextant

@Suite("Notices about a session")
struct SessionNoticesTests {
  private func notice(_ report: SessionReport, baud: UInt32?) -> String? {
    ReceiverConnection.Event.session(report).notice(path: "/dev/ttyS1", baud: baud)
  }

  @Test("If --baud fixes the rate, no rate is searched, and the notice suggests to omit it")
  func boundRate() throws {
    for report in [SessionReport.notUnderstood, .adviseOnSilence] {
      let fixed = try #require(notice(report, baud: 9600))
      #expect(fixed.contains("9600 baud"))
      #expect(fixed.contains("leave --baud out"))
      #expect(!fixed.contains("searching"))
    }
    #expect(notice(.notUnderstood, baud: nil)?.contains("searching for the baud rate again") == true)
  }

  @Test("A receiver that confirms no setting is not called one that refuses them")
  func failedConfiguration() throws {
    let refused = try #require(notice(.configurationFailed(isRefused: true), baud: nil))
    let silent = try #require(notice(.configurationFailed(isRefused: false), baud: nil))
    #expect(refused.contains("refuses to be configured") && refused.contains("locked"))
    #expect(silent.contains("does not confirm its settings") && !silent.contains("refuse"))
  }
}
