import FileSystem
import Receiver
import ReceiverRuntime
import Testing

@testable import sextant

@Suite("What commands tell of a session")
struct SessionTextsTests {
  private func told(_ report: SessionReport, baud: UInt32?) -> String? {
    text(of: .session(report), path: "/dev/ttyS1", baud: baud)
  }

  @Test("A rate that --baud binds is not looked for, and the line says to leave it out")
  func boundRate() throws {
    for report in [SessionReport.notUnderstood, .adviseOnSilence] {
      let bound = try #require(told(report, baud: 9600))
      #expect(bound.contains("9600 baud"))
      #expect(bound.contains("leave --baud out"))
      #expect(!bound.contains("looking"))
    }
    #expect(told(.notUnderstood, baud: nil)?.contains("looking for the baud rate again") == true)
  }

  @Test("What is wrong with a file is told in a line with the cure")
  func fileProblem() {
    do throws(FileError) {
      _ = try UserFile.read("/nonexistent/settings")
      Issue.record("the file was read")
    } catch {
      #expect(
        error.description
          == "/nonexistent/settings: No such file or directory; check the name, and that its folder is there")
    }
  }
}
