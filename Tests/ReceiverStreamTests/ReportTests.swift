import ReceiverStream
import Testing

@Suite("A report that no assembler made")
struct ReportTests {
  @Test("It is an epoch's first, unless it is said otherwise")
  func made() {
    var fix = Fix()
    fix.latitudeDegrees = 48
    let first = EpochAssembler.Report(fix: fix)
    #expect(first.fix == fix && first.fixChanged)
    #expect(!first.isUpdate && !first.skyChanged && !first.hasDilutionsAlone)
    #expect(EpochAssembler.Report(fix: fix, isUpdate: true, fixChanged: false).isUpdate)
  }
}
