import Foundation
import LocationService

// For `sextant track`, whose exit code tells why there was nothing; Apple's API has no such thing.
@_spi(Sextant)
extension CLLocationManager {
  /// Has a function called on the main queue when the receiver is found to be another program's (true), or one that this
  /// program may not open (false); nil when it is opened.
  public static func listenToReceiverTrouble(_ listener: @escaping @MainActor @Sendable (_ isHeld: Bool?) -> Void) {
    Service.shared.listenToTrouble { trouble in
      let isHeld = trouble.map { $0 == .held }
      DispatchQueue.main.async { listener(isHeld) }
    }
  }
}
