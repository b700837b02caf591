// SPDX-License-Identifier: Apache-2.0

// Sextant's decoder for compare.py, with the arguments of adapter.h. Protocol `fix` decodes any bytes to fixes.
import Foundation
import ReceiverStream

let arguments = CommandLine.arguments
guard arguments.count == 4, let bytes = try? Data(contentsOf: URL(fileURLWithPath: arguments[2])).map(\.self) else {
  exit(64)
}
if arguments[3] == "count" {
  print(arguments[1] == "fix" ? countFixes(bytes) : countValues(bytes), terminator: "")
} else {
  var reading = FieldReading()
  var latitude = 0.0
  for _ in 0..<(Int(arguments[3]) ?? 0) {
    if arguments[1] == "fix" { latitude += fixes(bytes) } else { reading.read(bytes) }
  }
  keep(latitude)
}

/// A line for each frame: its name and its number of values.
func countValues(_ bytes: [UInt8]) -> String {
  var lines = ""
  var cursor = unsafe FrameCursor(bytes.span.bytes)
  while let frame = cursor.next() {
    let counted = FieldReading.values(of: frame)
    lines += "\(counted.name) \(counted.values ?? -1)\n"
  }
  return lines
}

/// The sum of the latitudes of all fixes.
func fixes(_ bytes: [UInt8]) -> Double {
  var stream = FrameStream()
  var assembler = EpochAssembler()
  var latitude = 0.0
  unsafe stream.receive(bytes.span.bytes) { frame in
    assembler.receive(frame) { report, _ in latitude += report.fix.latitudeDegrees ?? 0 }
  }
  return latitude
}

/// A line for each report with a position.
func countFixes(_ bytes: [UInt8]) -> String {
  var stream = FrameStream()
  var assembler = EpochAssembler()
  var lines = ""
  unsafe stream.receive(bytes.span.bytes) { frame in
    assembler.receive(frame) { report, _ in lines += "report \(report.fix.latitudeDegrees == nil ? -1 : 1)\n" }
  }
  return lines
}
