// SPDX-License-Identifier: Apache-2.0
import Receiver
import ReceiverSimulator
import ReceiverStream

/// The input of a measurement.
struct BenchInput {
  var name: String
  var bytes: [UInt8]
  /// The content of the bytes.
  var counters: StreamCounters

  init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
    var stream = FrameStream()
    unsafe stream.receive(bytes.span.bytes) { _ in }
    stream.finish { _ in }
    counters = stream.counters
  }

  /// The bytes of a receiver's stream from a file, which is raw or a recording of `sextant record`.
  init(file: String) throws {
    let contents = try readAll(file)
    var recorded = RecordedBytes()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(contents.count)
    func append(_ piece: RawSpan) {
      for index in piece.byteOffsets { bytes.append(unsafe piece.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
    }
    do throws(RecordingError) {
      try unsafe recorded.receive(contents.span.bytes, append)
      let torn = try recorded.finish(append)
      if torn > 0 { printError("\(file): ends in a record of \(torn) bytes that was not finished; it is left out") }
      if recorded.damagedBytes > 0 {
        printError("\(file): \(recorded.damagedBytes) bytes are damaged; they are left out")
      }
    } catch {
      throw BenchFailure(exitCode: BenchFailure.noInput, description: "\(file): \(error)")
    }
    guard !bytes.isEmpty else {
      throw BenchFailure(exitCode: BenchFailure.noInput, description: "\(file): is empty; name a recording")
    }
    self.init(name: file, bytes: bytes)
  }

  /// Ten minutes of the simulator's output, by protocol and mixed.
  static func simulated() -> [BenchInput] {
    let mixed = VirtualLine.recording(startUTCSeconds: 1_767_225_600, seconds: 600).flatMap(\.self)
    var nmea: [UInt8] = []
    var ubx: [UInt8] = []
    var stream = FrameStream()
    unsafe stream.receive(mixed.span.bytes) { frame in
      for index in 0..<frame.bytes.byteCount {
        let byte = unsafe frame.bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        if frame.kind == .ubx { ubx.append(byte) } else { nmea.append(byte) }
      }
    }
    return [
      BenchInput(name: "simulated NMEA", bytes: nmea), BenchInput(name: "simulated UBX", bytes: ubx),
      BenchInput(name: "simulated NMEA and UBX", bytes: mixed),
    ]
  }
}
