import NMEA
import UBX

/// A receiver that moves: what `sextant watch` shows when no real one is there.
///
/// It walks a figure of eight in a park, one epoch a second, and writes what a u-blox receiver writes that speaks NMEA
/// and UBX. Time goes in, bytes come out; it has no clock and no file.
public struct MovingReceiver: Sendable {
  /// Where the figure's middle is, degrees.
  public var middle = (latitude: 48.1642, longitude: 11.6056)
  /// Metres from the middle to the end of a loop.
  public var reach = 120.0
  /// Seconds for the whole figure.
  public var period = 420.0
  /// Seconds until the first fix.
  public var timeToFirstFix = 3.0

  private let start: Int64

  /// - Parameter start: when it is switched on, seconds since 1970.
  public init(start: Int64) { self.start = start }

  /// The bytes of the epoch of a second, seconds since 1970.
  public func epoch(at second: Int64) -> [UInt8] {
    let state = State(of: self, at: second, since: start)
    var output = EpochWriter()
    state.writeNMEA(&output)
    state.writeUBX(&output)
    return output.bytes
  }
}
