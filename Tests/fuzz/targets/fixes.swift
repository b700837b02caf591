// Bytes to fixes to gpsd's lines, the whole way of `sextant decode`.
import GPSDJSON
import ReceiverStream

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: InputStart, _ count: Int) -> CInt {
  let bytes = unsafe [UInt8](start, count)
  var line = JSONLine()
  var stream = FrameStream()
  var assembler = EpochAssembler(reference: UTCTime(nanosecondsSince1970: 1_765_238_400_000_000_000))
  stream.receive(bytes.raw) { frame in
    assembler.receive(frame) { report, sky in print(report, sky, in: &line) }
  }
  stream.finish { frame in
    assembler.receive(frame) { report, sky in print(report, sky, in: &line) }
  }
  assembler.finish { report, sky in print(report, sky, in: &line) }
  return 0
}

private func print(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, in line: inout JSONLine) {
  line.removeAll()
  line.tpv(report.fix)
  line.sky(sky, report.fix)
  requireLines(line.bytes)
}
