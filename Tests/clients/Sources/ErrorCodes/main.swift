// SPDX-License-Identifier: Apache-2.0

// Errors: as CLError, as NSError, in a catch, in a switch over all codes; and requests that are refused.
import CoreLocation

func explain(_ error: Error) -> String {
  guard let error = error as? CLError else { return "not of Core Location" }
  switch error.code {
  case .locationUnknown: return "unknown"
  case .denied: return "denied"
  case .network: return "network"
  case .headingFailure: return "heading"
  case .regionMonitoringDenied, .regionMonitoringFailure, .regionMonitoringSetupDelayed,
    .regionMonitoringResponseDelayed:
    return "region"
  case .geocodeFoundNoResult, .geocodeFoundPartialResult, .geocodeCanceled: return "geocode"
  case .deferredFailed, .deferredNotUpdatingLocation, .deferredAccuracyTooLow, .deferredDistanceFiltered,
    .deferredCanceled:
    return "deferred"
  case .rangingUnavailable, .rangingFailure: return "ranging"
  case .promptDeclined: return "prompt"
  case .historicalLocationError: return "history"
  @unknown default: return "new"
  }
}

func thrown(_ code: CLError.Code) -> String {
  do {
    throw CLError(code)
  } catch CLError.denied {
    return "caught denied"
  } catch let error as CLError where error.code == .network {
    return "caught network"
  } catch let error as NSError where error.domain == kCLErrorDomain {
    return "caught \(error.code)"
  } catch {
    return "caught something"
  }
}

print(
  [0, 1, 2, 3, 5, 8, 12, 16, 18].compactMap(CLError.Code.init(rawValue:)).map { explain(CLError($0)) }.joined(
    separator: " "))
print(thrown(.denied), thrown(.network), thrown(.headingFailure))

let wrapped = CLError(.regionMonitoringResponseDelayed, userInfo: [NSLocalizedDescriptionKey: "later"])
print(
  wrapped.localizedDescription, (wrapped as NSError).userInfo.count, CLError.errorDomain, wrapped == CLError(.denied))

final class Asker: NSObject, CLLocationManagerDelegate {
  let manager = CLLocationManager()
  func start() {
    manager.delegate = self
    print("accuracy \(manager.accuracyAuthorization == .fullAccuracy ? "full" : "reduced")")
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "Nowhere") { error in
      print("temporary: \(error.map { explain($0) } ?? "granted")")
      self.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: UUID()))
    }
  }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: Error
  ) {
    print("ranging: \(explain(error))")
    exit(0)
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {}
}
let asker = Asker()
asker.start()
RunLoop.main.run()
