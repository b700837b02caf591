// SPDX-License-Identifier: Apache-2.0
import Positioning

/// A simulated day: the position, the sky and the programs over time.
public struct Day: Sendable {
  public var name: String
  public var seconds: Double
  public var path: Path
  /// Changes of the sky, in order; before the first the sky is open.
  public var sky: [(fromSeconds: Double, sky: SkyView)]
  /// The programs, each with one manager.
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

  /// The request of a program between two times.
  public struct Client: Sendable {
    public var fromSeconds: Double
    public var untilSeconds: Double
    public var request: Request

    public init(from fromSeconds: Double = 0, until untilSeconds: Double = .infinity, _ request: Request) {
      self.fromSeconds = fromSeconds
      self.untilSeconds = untilSeconds
      self.request = request
    }
  }

  /// The services that a program uses.
  public enum Request: Sendable {
    case updates(Updates)
    /// `requestLocation` by a timer.
    case requests(everySeconds: Double, accuracyMetres: Double)
    case region(centre: Path.Place, radiusMetres: Double)
    case significantChanges
    case visits
  }

  /// Standard updates, with the properties of the manager.
  public struct Updates: Hashable, Sendable {
    /// Negative: the best accuracy.
    public var accuracyMetres: Double
    /// 0 and below: every fix.
    public var distanceFilterMetres: Double
    public var activity: Activity
    public var mayPause: Bool
    /// Updates are deferred by this time, again as soon as a deferral has ended; nil: live updates.
    public var deferralSeconds: Double?

    public init(
      accuracyMetres: Double = -1, distanceFilterMetres: Double = 0, activity: Activity = .other, mayPause: Bool = true,
      deferralSeconds: Double? = nil
    ) {
      self.accuracyMetres = accuracyMetres
      self.distanceFilterMetres = distanceFilterMetres
      self.activity = activity
      self.mayPause = mayPause
      self.deferralSeconds = deferralSeconds
    }
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

  /// The last return of the sky before a time; nil before the first.
  func skyReturn(before seconds: Double) -> Double? {
    let last = sky.lastIndex { $0.fromSeconds <= seconds }
    guard let last, last > 0, sky[last].sky != .none, sky[last - 1].sky == .none else { return nil }
    return sky[last].fromSeconds
  }
}
