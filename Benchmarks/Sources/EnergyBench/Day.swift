// SPDX-License-Identifier: Apache-2.0
import PowerControl

/// A simulated day: the position, the sky and the requests over time.
public struct Day: Sendable {
  public var name: String
  public var seconds: Double
  public var path: Path
  /// Changes of the sky, in order; before the first the sky is open.
  public var sky: [(fromSeconds: Double, sky: SkyView)]
  public var clients: [Client]
  public var hasAccelerometer: Bool

  public init(
    name: String, seconds: Double, path: Path, sky: [(fromSeconds: Double, sky: SkyView)] = [], clients: [Client],
    hasAccelerometer: Bool = false
  ) {
    self.name = name
    self.seconds = seconds
    self.path = path
    self.sky = sky
    self.clients = clients
    self.hasAccelerometer = hasAccelerometer
  }

  public enum SkyView: UInt8, Sendable, CaseIterable {
    case open, urban, none
  }

  /// The request of a client between two times.
  public struct Client: Sendable {
    public var fromSeconds: Double
    public var untilSeconds: Double
    public var desired: Request

    public init(from fromSeconds: Double = 0, until untilSeconds: Double = .infinity, _ desired: Request) {
      self.fromSeconds = fromSeconds
      self.untilSeconds = untilSeconds
      self.desired = desired
    }
  }

  public enum Request: Sendable {
    case demand(Demand)
    /// A region. The client does the work of `Positioning`: it reports the distance to the border at each fix, and
    /// waits for the dwell time of a crossing.
    case region(centre: Path.Place, radiusMetres: Double)
    /// Repeated deferral: the next begins as soon as one has ended.
    case deferring(Demand.Updates)
  }

  public func sky(at seconds: Double) -> SkyView {
    var low = 0
    var high = sky.count
    while low < high {
      let middle = (low + high) / 2
      if sky[middle].fromSeconds <= seconds { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? .open : sky[low - 1].sky
  }

  /// The first change of the sky after a time.
  func skyChange(after seconds: Double) -> Double? { sky.first { $0.fromSeconds > seconds }?.fromSeconds }
}
