// SPDX-License-Identifier: Apache-2.0
import CSextant
import ReceiverStream
import TestSupport
import Testing
import UBX

@testable import CInterface

/// The results that a C program gets from a decoder.
final class CProgram {
  struct Report: Equatable {
    var time: Int64
    /// The bits of the latitude: NaN is not equal to itself.
    var latitude: UInt64
    var used: Int32
    var isUpdate: Bool
    var satellites: [[Int]]
  }
  var frames: [[UInt8]] = []
  var payloads: [[UInt8]] = []
  var messages: [UInt32] = []
  var reports: [Report] = []
  private var memory: UnsafeMutableRawBufferPointer
  private(set) var decoder: OpaquePointer?

  typealias Make = (UnsafeMutableRawPointer?, Int, UnsafePointer<sextant_options>?) -> OpaquePointer?

  init(payload: Int = 8192, make: Make = { sextant_decoder_init($0, $1, $2) }) {
    let room = max(payload + 8, Int(SEXTANT_SHORTEST_CARRY_BYTES))
    memory = .allocate(byteCount: Int(SEXTANT_DECODER_BASE_BYTES) + room, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0xA5)
    var options = sextant_options()
    options.context = Unmanaged.passUnretained(self).toOpaque()
    options.on_frame = { context, frame in
      let program = Unmanaged<CProgram>.fromOpaque(context!).takeUnretainedValue()
      let frame = frame!.pointee
      program.frames.append(Array(UnsafeBufferPointer(start: frame.bytes, count: frame.length)))
      program.payloads.append(Array(UnsafeBufferPointer(start: frame.payload, count: frame.payload_length)))
      program.messages.append(frame.message)
    }
    options.on_report = { context, report in
      let program = Unmanaged<CProgram>.fromOpaque(context!).takeUnretainedValue()
      let report = report!.pointee
      let satellites = UnsafeBufferPointer(start: report.satellites, count: report.satellite_count)
      let fix = report.fix!.pointee
      program.reports.append(
        Report(
          time: fix.time_nanoseconds_since_1970, latitude: fix.latitude_degrees.bitPattern, used: fix.satellites_used,
          isUpdate: report.is_update,
          satellites: satellites.map {
            [
              Int($0.system), Int($0.number), Int($0.elevation_degrees), Int($0.azimuth_degrees),
              Int($0.signal_decibel_hertz), Int($0.is_used),
            ]
          }))
    }
    decoder = make(memory.baseAddress, memory.count, &options)
  }

  deinit { memory.deallocate() }

  func feed(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { sextant_decoder_feed(decoder, $0.baseAddress, $0.count) }
  }

  func finish() { sextant_decoder_finish(decoder) }
  func idle() { sextant_decoder_idle(decoder) }

  var counters: sextant_counters {
    var counters = sextant_counters()
    sextant_decoder_counters(decoder, &counters)
    return counters
  }
}

@Suite("The decoder for C")
struct CDecoderTests {
  private static let epochs: [UInt8] =
    (0..<3).flatMap { second in
      Wire.nmea("GPRMC,10111\(second).00,A,4717.11437,N,00833.91522,E,0.5,77.52,091225,,,A")
        + Wire.nmea("GPGGA,10111\(second).00,4717.11437,N,00833.91522,E,1,08,1.01,499.6,M,48.0,M,,")
        + Wire.nmea("GPGSV,1,1,02,03,45,120,40,07,,,33")
    }

  @Test("Reports equal the assembler's, with time, position, counts and satellites")
  func reports() {
    let program = CProgram()
    program.feed(Self.epochs)
    program.finish()
    var expected: [CProgram.Report] = []
    var stream = FrameStream()
    var assembler = EpochAssembler()
    func add(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky) {
      var satellites: [[Int]] = []
      for index in 0..<sky.count {
        let one = sky.satellites[index]
        satellites.append([
          Int(one.system.rawValue), Int(one.number), Int(one.elevationDegrees), Int(one.azimuthDegrees),
          Int(one.signalDecibelHertz), one.isUsed ? 1 : 0,
        ])
      }
      expected.append(
        CProgram.Report(
          time: report.fix.time?.nanosecondsSince1970 ?? 0, latitude: (report.fix.latitudeDegrees ?? .nan).bitPattern,
          used: Int32(report.fix.satellitesUsed ?? -1), isUpdate: report.isUpdate, satellites: satellites))
    }
    stream.receive(Self.epochs.span.bytes) { assembler.receive($0) { add($0, $1) } }
    stream.finish { assembler.receive($0) { add($0, $1) } }
    assembler.finish { add($0, $1) }
    #expect(program.reports == expected)
    #expect(expected.count >= 3 && expected.last?.satellites.count == 2)
  }

  @Test("Frames and reports do not depend on the sizes of the pieces, also with the smallest memory")
  func pieces() {
    var random = SeededRandomNumberGenerator(seed: 26)
    let bytes = Self.epochs + MixedStream(frames: 60, &random).bytes
    let whole = CProgram(payload: 0)
    whole.feed(bytes)
    whole.finish()
    #expect(whole.frames.count > 9)
    for size in [1, 7, 100, 1031, 1033] {
      let program = CProgram(payload: 0)
      for start in stride(from: 0, to: bytes.count, by: size) {
        program.feed(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      program.finish()
      #expect(program.frames == whole.frames)
      #expect(program.reports == whole.reports)
      #expect(program.counters.skipped_bytes == whole.counters.skipped_bytes)
    }
  }

  @Test("A UBX frame that the memory has no room for is skipped, whether whole or in pieces; the next one is found")
  func tooLong() {
    let long = Wire.ubx(0x02, 0x15, [UInt8](repeating: 0, count: 1025))
    let next = Wire.ubx(0x0A, 0x04, [1, 2, 3])
    for size in [1, 5000] {
      let program = CProgram(payload: 0)
      let bytes = long + next
      for start in stride(from: 0, to: bytes.count, by: size) {
        program.feed(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(program.frames == [next])
      #expect(program.counters.too_long == 1)
      #expect(program.counters.skipped_bytes == UInt64(long.count))
    }
    let roomy = CProgram(payload: 1025)
    roomy.feed(long)
    #expect(roomy.frames == [long])
  }

  @Test("Each protocol has its message number and payload")
  func messages() {
    let program = CProgram()
    program.feed(
      Wire.nmea("GPGLL,1,2") + Wire.nmea("PUBX,00") + Wire.ubx(0x01, 0x07, [5]) + Wire.rtcm3([0x3E, 0xD0, 7]))
    program.finish()
    #expect(program.messages == [0x474C4C, 0x55425800 >> 8, 0x0107, 1005])
    #expect(program.payloads == [Array("1,2".utf8), Array("00".utf8), [5], [0x3E, 0xD0, 7]])
  }

  @Test("A decoder with the fixes of one protocol finds all frames, and reports as if it had got that protocol alone")
  func single() {
    // NAV-PVT of three seconds.
    let pvts = (1...3).map { Wire.ubx(0x01, 0x07, [0, UInt8($0 * 4)] + Array(repeating: 0, count: 90)) }
    let mixed = Self.epochs + pvts.joined() + Wire.rtcm3([0x3E, 0xD0, 7])
    func program(_ bytes: [UInt8], _ make: CProgram.Make) -> CProgram {
      let program = CProgram(make: make)
      program.feed(bytes)
      program.finish()
      return program
    }
    let nmea = program(mixed) { sextant_decoder_init_nmea($0, $1, $2) }
    let ubx = program(mixed) { sextant_decoder_init_ubx($0, $1, $2) }
    let sentences = program(Self.epochs) { sextant_decoder_init($0, $1, $2) }
    let frames = program(Array(pvts.joined())) { sextant_decoder_init($0, $1, $2) }
    #expect(sentences.reports.count >= 3 && frames.reports.count == 3)
    #expect(nmea.reports == sentences.reports)
    #expect(ubx.reports == frames.reports)
    #expect(nmea.messages == sentences.messages + frames.messages + [1005])
    #expect(ubx.messages == nmea.messages)
  }

  @Test("No decoder results from missing, misaligned or short memory")
  func refused() {
    let size = Int(SEXTANT_DECODER_BASE_BYTES + SEXTANT_SHORTEST_CARRY_BYTES)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size + 16, alignment: 16)
    defer { memory.deallocate() }
    var options = sextant_options()
    #expect(sextant_decoder_init(memory.baseAddress, size, &options) != nil)
    #expect(sextant_decoder_init(memory.baseAddress, size - 1, &options) == nil)
    #expect(sextant_decoder_init(memory.baseAddress! + 8, size, &options) == nil)
    #expect(sextant_decoder_init(nil, size, &options) == nil)
    #expect(sextant_decoder_init(memory.baseAddress, size, nil) == nil)
  }

  /// Memory that no decoder uses is wasted on a microcontroller. With pointers of four bytes a decoder is smaller.
  @Test("The memory of a decoder is as large as it needs, with less than 256 bytes to spare")
  func size() {
    let spare = Int(SEXTANT_DECODER_BASE_BYTES) - MemoryLayout<CInterface.Decoder>.size
    #expect((0..<256).contains(spare), "\(spare) bytes")
    #expect(SEXTANT_DECODER_BASE_BYTES % SEXTANT_DECODER_ALIGNMENT == 0)
  }

  @Test("A silence finds the frames behind bytes that look like a header, and reports the epoch")
  func falseHeader() {
    let header: [UInt8] = [0xB5, 0x62, 0x01, 0x07, 0xE8, 0x03]
    let program = CProgram()
    program.feed(header + Self.epochs)
    #expect(program.reports.isEmpty)
    program.idle()
    let expected = CProgram()
    expected.feed(Self.epochs)
    expected.idle()
    #expect(program.frames == expected.frames && program.reports == expected.reports && program.reports.count >= 3)
    // The beginning of a frame is kept if no whole frames follow it.
    let split = CProgram()
    split.feed(Array(Self.epochs[..<20]))
    split.idle()
    split.feed(Array(Self.epochs[20...]))
    split.idle()
    #expect(split.frames == expected.frames)
  }

  @Test("An incomplete frame is dropped by a reset")
  func reset() {
    let program = CProgram()
    let frame = Wire.ubx(0x01, 0x07, [5])
    program.feed(Array(frame.dropLast()))
    sextant_decoder_reset(program.decoder)
    program.feed(frame)
    #expect(program.frames == [frame])
    #expect(program.counters.skipped_bytes == UInt64(frame.count - 1))
  }
}
