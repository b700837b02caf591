import CByteMask
import NMEA

/// The satellites of a GSV sentence as a sky keeps them, read at once on processors that have the vectors for it: C's work
/// (`small_numbers_avx512.h`), as Swift has no way to them.
///
/// The characters are lent to C, which keeps no pointer to them: that is what is unsafe here. C reads those that the sentence's
/// ends are among, and does not read others.
struct SatelliteGroup {
  private let found: c_sky_group

  /// Whether the processor has the vectors.
  @inline(__always)
  static var isThere: Bool { c_has_avx512() != 0 }

  /// The processor must have the vectors.
  ///
  /// - Parameters:
  ///   - sentence: a GSV with an address of five characters.
  ///   - system: what `Satellite.system(_:)` says of it.
  ///   - used: the satellites that GSA names.
  /// - Returns: nil for a sentence that has to be read field by field, or whose satellites are not all numbered in one way.
  @inline(__always)
  init?(_ sentence: NMEA.Sentence, of system: Satellite.System?, _ used: inout SatelliteSet) {
    let system = system ?? .gps
    let (own, shared) = (used.numbers(of: system), used.numbers(of: .glonass))
    let ends = sentence.ends
    let found = unsafe sentence.bytes.withUnsafeBytes { buffer -> c_sky_group? in
      guard let start = buffer.baseAddress else { return nil }
      return unsafe c_read_sky_at_once(
        start.assumingMemoryBound(to: UInt8.self), ends.low, ends.high, Int32(system.rawValue), own, shared)
    }
    guard let found, found.wrong == 0 else { return nil }
    self.found = found
  }

  /// The system that all of them are of.
  @inline(__always)
  var system: Satellite.System { Self.system(found.numbering) }

  /// The system at a place of C's table.
  @inline(__always)
  static func system(_ numbering: Int32) -> Satellite.System {
    numbering == C_SHARED_NUMBERING ? .glonass : Satellite.System(numbering: UInt8(truncatingIfNeeded: numbering))
  }

  /// How many there are.
  @inline(__always)
  var count: Int { found.count }

  /// A bit for each of their numbers.
  @inline(__always)
  var numbers: UInt64 { found.numbers }

  @inline(__always)
  var satellites: (Satellite, Satellite, Satellite, Satellite) {
    (
      Satellite(word: found.satellites.0), Satellite(word: found.satellites.1), Satellite(word: found.satellites.2),
      Satellite(word: found.satellites.3)
    )
  }

  /// Whether it is the last sentence of its group.
  @inline(__always)
  var isLast: Bool { UInt16(truncatingIfNeeded: found.head &>> 16) == UInt16(truncatingIfNeeded: found.head &>> 32) }

  /// The signal; 0 where none is said.
  @inline(__always)
  var signal: UInt64 { UInt64(max(found.signal, 0)) }
}
