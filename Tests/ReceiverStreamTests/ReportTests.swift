// SPDX-License-Identifier: Apache-2.0
import ReceiverStream
import Testing

@Suite("A report that was not made by an assembler")
struct ReportTests {
  @Test("A report is the first of its epoch by default")
  func made() {
    var fix = Fix()
    fix.latitudeDegrees = 48
    let first = EpochAssembler.Report(fix: fix)
    #expect(first.fix == fix && first.fixChanged)
    #expect(!first.isUpdate && !first.skyChanged && !first.hasDilutionsAlone)
    #expect(EpochAssembler.Report(fix: fix, isUpdate: true, fixChanged: false).isUpdate)
  }
}
