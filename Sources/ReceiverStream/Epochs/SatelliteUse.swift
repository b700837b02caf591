import CByteMask
import NMEA

/// What a fix takes of a GSA sentence, read at once on processors that have the vectors for it, as `SatelliteGroup` is.
///
/// The characters are lent to C, which keeps no pointer to them: that is what is unsafe here. C reads those that the sentence's
/// ends are among, and does not read others.
struct SatelliteUse {
  private let found: c_use

  /// The processor must have the vectors.
  ///
  /// - Parameters:
  ///   - sentence: a GSA with an address of five characters.
  ///   - system: what `Satellite.system(_:)` says of its talker.
  /// - Returns: nil for a sentence that has to be read field by field, or whose satellites are not all numbered in one way.
  @inline(__always)
  init?(_ sentence: NMEA.Sentence, of system: Satellite.System?) {
    let ends = sentence.ends
    let numbering = Int32((system ?? .gps).rawValue)
    let found = unsafe sentence.bytes.withUnsafeBytes { buffer -> c_use? in
      guard let start = buffer.baseAddress else { return nil }
      return unsafe c_read_use_at_once(
        start.assumingMemoryBound(to: UInt8.self), ends.low, ends.high, numbering)
    }
    guard let found, found.wrong == 0 else { return nil }
    self.found = found
  }

  /// 1 no fix, 2 2D, 3 3D; nil where it is absent.
  @inline(__always)
  var mode: Int? { found.mode < 0 ? nil : found.mode }

  /// The dilutions of precision; nil where they are not computed.
  @inline(__always)
  var pdop: Double? { found.known & 1 != 0 ? found.dilutions.0 : nil }
  @inline(__always)
  var hdop: Double? { found.known & 2 != 0 ? found.dilutions.1 : nil }
  @inline(__always)
  var vdop: Double? { found.known & 4 != 0 ? found.dilutions.2 : nil }

  /// The system that all of the satellites are of.
  @inline(__always)
  var system: Satellite.System { SatelliteGroup.system(found.numbering) }

  /// A bit for each satellite's number.
  @inline(__always)
  var numbers: UInt64 { found.numbers }

  /// How many satellites there are.
  @inline(__always)
  var count: Int { found.count }
}
