import Foundation
import LocationService

// For `sextant track`, whose exit code tells why there was nothing; Apple's API has no such thing.
@_spi(Sextant)
extension CLLocationManager {
  /// Has a function called on the main queue when the receiver cannot be opened, with the reason, and with nil when it is.
  public static func listenToReceiverTrouble(_ listener: @escaping @MainActor @Sendable (ReceiverTrouble?) -> Void) {
    Service.shared.listenToTrouble { trouble in DispatchQueue.main.async { listener(trouble) } }
  }
}
