// SPDX-License-Identifier: Apache-2.0
import CSextant
import ReceiverStream

// The functions of `sextant.h` for decoders; the header describes them.
//
// `unsafe` because the arguments are C pointers.

@c @implementation
public func sextant_abi_version() -> UInt32 { UInt32(SEXTANT_ABI_VERSION) }

@c @implementation
public func sextant_decoder_init(
  _ memory: UnsafeMutableRawPointer!, _ size: Int, _ options: UnsafePointer<sextant_options>!
) -> OpaquePointer! {
  unsafe Decoder.make(memory, size, options) { unsafe Decoder.receive($0, $1, $2, of: NMEAAndUBX.self) }
}

@c @implementation
public func sextant_decoder_init_nmea(
  _ memory: UnsafeMutableRawPointer!, _ size: Int, _ options: UnsafePointer<sextant_options>!
) -> OpaquePointer! {
  unsafe Decoder.make(memory, size, options) { unsafe Decoder.receive($0, $1, $2, of: NMEAAlone.self) }
}

@c @implementation
public func sextant_decoder_init_ubx(
  _ memory: UnsafeMutableRawPointer!, _ size: Int, _ options: UnsafePointer<sextant_options>!
) -> OpaquePointer! {
  unsafe Decoder.make(memory, size, options) { unsafe Decoder.receive($0, $1, $2, of: UBXAlone.self) }
}

@c @implementation
public func sextant_decoder_feed(_ decoder: OpaquePointer!, _ bytes: UnsafeRawPointer!, _ count: Int) {
  guard let at = unsafe Decoder.at(decoder), let bytes = unsafe bytes, count > 0 else { return }
  unsafe at.pointee.run(UnsafeMutableRawPointer(at), bytes, count)
}

@c @implementation
public func sextant_decoder_idle(_ decoder: OpaquePointer!) {
  guard let at = unsafe Decoder.at(decoder) else { return }
  unsafe at.pointee.run(UnsafeMutableRawPointer(at), nil, 1)
}

@c @implementation
public func sextant_decoder_finish(_ decoder: OpaquePointer!) {
  guard let at = unsafe Decoder.at(decoder) else { return }
  unsafe at.pointee.run(UnsafeMutableRawPointer(at), nil, 0)
}

@c @implementation
public func sextant_decoder_reset(_ decoder: OpaquePointer!) {
  guard let at = unsafe Decoder.at(decoder) else { return }
  unsafe at.pointee.stream.reset()
}

@c @implementation
public func sextant_decoder_counters(_ decoder: OpaquePointer!, _ counters: UnsafeMutablePointer<sextant_counters>!) {
  guard let at = unsafe Decoder.at(decoder), let counters = unsafe counters else { return }
  let counts = unsafe at.pointee.stream.counters
  unsafe counters.pointee = sextant_counters(
    nmea_frames: counts.nmeaFrames, ubx_frames: counts.ubxFrames, rtcm3_frames: counts.rtcm3Frames,
    skipped_bytes: counts.skippedBytes, bad_checksums: counts.badChecksums, too_long: counts.tooLong,
    broken_sentences: counts.brokenSentences, without_checksum: counts.withoutChecksum,
    cut_frames: counts.cutFrames, rejected_fields: UInt64(at.pointee.assembler.rejectedFields))
}
