// SPDX-License-Identifier: Apache-2.0

// Bytes to fixes to gpsd's lines, the complete path of `sextant decode`. Every fix is within its bounds for any input.
import GPSD
import ReceiverStream

func fuzzFixes(_ bytes: [UInt8]) {
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
}

private func print(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, in line: inout JSONLine) {
  requireBounds(report.fix)
  line.removeAll()
  line.tpv(report.fix)
  line.sky(sky, report.fix)
  requireLines(line.bytes)
}

/// Traps if a value is outside the bounds that the assembler guarantees.
private func requireBounds(_ fix: Fix) {
  let isPlausible =
    abs(fix.latitudeDegrees ?? 0) <= 90 && abs(fix.longitudeDegrees ?? 0) <= 180
    && [fix.courseDegrees, fix.headingDegrees, fix.magneticHeadingDegrees].allSatisfy { 0...360 ~= $0 ?? 0 }
    && 0..<10_000 ~= fix.speedMetresPerSecond ?? 0
    && [fix.horizontalAccuracyMetres, fix.verticalAccuracyMetres, fix.speedAccuracyMetresPerSecond]
      .allSatisfy { $0 ?? 0 >= 0 }
  guard isPlausible else { fatalError("implausible: \(fix)") }
}
