// SPDX-License-Identifier: Apache-2.0
import CSextant
import NMEA
import RTCM3
import ReceiverStream
import UBX
import WireBytes

/// A decoder in memory of a C program: this value at its start, followed by the memory for an incomplete frame.
///
/// `unsafe` because C passes pointers. `sextant.h` states what the caller guarantees: the memory of a decoder is not
/// used for anything else, and only by one call at a time.
@safe struct Decoder: ~Copyable {
  /// Performs a call for the protocols of the decoder's fixes. The input is bytes of the stream; nil bytes mean the end
  /// of the stream if the count is 0, otherwise a silence. The decoder stores a pointer to this function, so that a
  /// program contains only the messages of the protocols that it names.
  typealias Run = @convention(c) (_ decoder: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer?, _ count: Int) -> Void

  var stream: FrameStream
  var assembler: EpochAssembler
  let options: sextant_options
  let run: Run

  /// Makes a decoder in memory of a C program; nil if `sextant.h` does not allow the arguments.
  static func make(
    _ memory: UnsafeMutableRawPointer?, _ size: Int, _ options: UnsafePointer<sextant_options>?, _ run: Run
  ) -> OpaquePointer? {
    let base = Int(SEXTANT_DECODER_BASE_BYTES)
    let shortest = Int(SEXTANT_SHORTEST_CARRY_BYTES)
    precondition(MemoryLayout<Decoder>.size <= base && FrameStream.longestFrameButUBX <= shortest)
    guard let memory = unsafe memory, let options = unsafe options?.pointee,
      UInt(bitPattern: memory) % UInt(SEXTANT_DECODER_ALIGNMENT) == 0, size >= base + shortest
    else { return nil }
    let room = min(size - base, UBXFrame.longestPayload + UBXFrame.overhead)
    let reference = unsafe options.reference_nanoseconds_since_1970
    let stream = unsafe FrameStream(
      longestUBXPayload: room - UBXFrame.overhead,
      lent: UnsafeMutableRawBufferPointer(start: memory + base, count: room))
    let assembler = unsafe EpochAssembler(
      reference: reference == 0 ? nil : UTCTime(nanosecondsSince1970: reference), isLive: options.is_live)
    let decoder = unsafe memory.bindMemory(to: Decoder.self, capacity: 1)
    unsafe decoder.initialize(to: Decoder(stream: stream, assembler: assembler, options: options, run: run))
    return OpaquePointer(decoder)
  }

  private init(
    stream: consuming FrameStream, assembler: consuming EpochAssembler, options: sextant_options, run: Run
  ) {
    self.stream = stream
    self.assembler = assembler
    unsafe self.options = options
    unsafe self.run = run
  }

  /// The decoder at a C pointer.
  @inline(__always)
  static func at(_ pointer: OpaquePointer?) -> UnsafeMutablePointer<Decoder>? {
    unsafe pointer.map { unsafe UnsafeMutablePointer<Decoder>($0) }
  }

  /// Passes bytes of a C program to the decoder in `memory`, or signals the end of the stream or a silence if `bytes`
  /// is nil.
  @inline(__always)
  static func receive<Protocols: FixProtocols>(
    _ memory: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer?, _ count: Int, of: Protocols.Type
  ) {
    let decoder = unsafe memory.assumingMemoryBound(to: Decoder.self)
    if let bytes = unsafe bytes {
      let piece = unsafe RawSpan(_unsafeStart: bytes, byteCount: count)
      unsafe decoder.pointee.stream.receive(piece) { frame in
        unsafe receive(frame, decoder, of: Protocols.self)
      }
    } else {
      // Receivers write a frame without pauses: an incomplete frame that contains whole frames is a false start.
      if count > 0 {
        unsafe decoder.pointee.stream.skipFalseStarts { frame in
          unsafe receive(frame, decoder, of: Protocols.self)
        }
      } else {
        unsafe decoder.pointee.stream.finish { frame in
          unsafe receive(frame, decoder, of: Protocols.self)
        }
      }
      unsafe idle(decoder)
    }
  }

  /// Reports a pending epoch.
  // Not inlined, to save stack on a microcontroller.
  @inline(never)
  private static func idle(_ decoder: UnsafeMutablePointer<Decoder>) {
    let options = unsafe decoder.pointee.options
    unsafe decoder.pointee.assembler.idle { unsafe report($0, $1, options) }
  }

  // Not inlined: `receive` calls it in several places.
  @inline(never)
  private static func receive<Protocols: FixProtocols>(
    _ frame: borrowing Frame, _ decoder: UnsafeMutablePointer<Decoder>, of: Protocols.Type
  ) {
    let options = unsafe decoder.pointee.options
    if let onFrame = unsafe options.on_frame {
      unsafe lend(frame) { unsafe onFrame(options.context, $0) }
    }
    guard unsafe options.on_report != nil else { return }
    if Protocols.hasNMEA, let sentence = frame.nmea {
      unsafe decoder.pointee.assembler.receive(sentence) { unsafe report($0, $1, options) }
    }
    if Protocols.hasUBX, let frame = frame.ubx {
      unsafe decoder.pointee.assembler.receive(frame) { unsafe report($0, $1, options) }
    }
  }

  /// Passes a frame to the C callback for the duration of the call.
  @inline(__always)
  private static func lend(_ frame: borrowing Frame, _ body: (UnsafePointer<sextant_frame>) -> Void) {
    var lent = unsafe sextant_frame()
    var payload = 0..<0
    if let sentence = frame.nmea {
      unsafe lent.protocol = SEXTANT_NMEA.rawValue
      unsafe lent.message = sentence.formatter.code
      payload = fields(of: sentence)
    }
    if let frame = frame.ubx {
      unsafe lent.protocol = SEXTANT_UBX.rawValue
      unsafe lent.message = UInt32(frame.identity.key)
      payload = 6..<frame.bytes.byteCount - 2
    }
    if let frame = frame.rtcm3 {
      unsafe lent.protocol = SEXTANT_RTCM3.rawValue
      unsafe lent.message = UInt32(frame.messageNumber ?? 4096)
      payload = 3..<frame.bytes.byteCount - 3
    }
    unsafe lent.offset = frame.offset
    unsafe lent.payload_length = payload.count
    unsafe frame.bytes.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      unsafe lent.bytes = start
      unsafe lent.length = bytes.count
      unsafe lent.payload = start.map { unsafe $0 + payload.lowerBound }
      unsafe body(&lent)
    }
  }

  /// The positions between the first comma and the `*`.
  private static func fields(of sentence: NMEA.Sentence) -> Range<Int> {
    let bytes = sentence.bytes
    var star = bytes.byteCount - 3
    while star > 0, bytes.u1(star) != UInt8(ascii: "*") { star -= 1 }
    let start = sentence.addressLength + 2
    return start <= star ? start..<star : star..<star
  }

  /// Passes a report to the C callback for the duration of the call.
  // Not inlined: the code of each message calls it.
  @inline(never)
  private static func report(
    _ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, _ options: sextant_options
  ) {
    guard let onReport = unsafe options.on_report else { return }
    var lent = unsafe sextant_report()
    unsafe lent.is_update = report.isUpdate
    unsafe lent.fix_changed = report.fixChanged
    unsafe lent.sky_changed = report.skyChanged
    unsafe lent.has_dilutions_alone = report.hasDilutionsAlone
    unsafe lent.satellite_count = sky.count
    var fix = sextant_fix(report.fix)
    unsafe sky.satellites.withUnsafeBufferPointer { satellites in
      // The word of a `Satellite` has the layout of a `sextant_satellite` on little-endian processors; a test compares them.
      let start = unsafe UnsafeRawPointer(satellites.baseAddress)
      unsafe lent.satellites = start?.assumingMemoryBound(to: sextant_satellite.self)
      unsafe withUnsafePointer(to: &fix) {
        unsafe lent.fix = $0
        unsafe onReport(options.context, &lent)
      }
    }
  }
}
