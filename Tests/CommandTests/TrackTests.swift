// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Testing

@testable import sextant_track

@Suite("sextant track") struct TrackTests {
  @Test(
    "--once ends with an error of the location, whatever other services have delivered, and not with one of the compass"
  )
  func once() {
    for code in [CLError.Code.locationUnknown, .denied, .network] {
      #expect(Tracker.codeOfOnce(after: CLError(code), isForbidden: false)?.rawValue == 69)
      #expect(Tracker.codeOfOnce(after: CLError(code), isForbidden: true)?.rawValue == 77)
    }
    #expect(Tracker.codeOfOnce(after: CLError(.headingFailure), isForbidden: false) == nil)
  }
}
