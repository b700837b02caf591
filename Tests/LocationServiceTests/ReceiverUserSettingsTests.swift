// SPDX-License-Identifier: Apache-2.0
import LocationService
import Receiver
import Testing

@Suite("Settings that users change through the service")
struct ReceiverUserSettingsTests {
  @Test("The rate is set and stays, and is not raised for power control")
  func rate() {
    var (settings, desired) = (ReceiverUserSettings(), DesiredConfiguration())
    desired.leastPortRate = 115_200
    #expect(settings.applied(to: desired) == desired)
    settings.bitsPerSecond = 19_200
    let applied = settings.applied(to: desired)
    #expect(applied.portRate == 19_200)
    #expect(applied.keepsPortRate)
    #expect(applied.leastPortRate == nil)
  }

  @Test("The cycle applies at full rate: a longer one of power control is kept")
  func cycle() {
    var settings = ReceiverUserSettings()
    settings.cycleMilliseconds = 200
    var desired = DesiredConfiguration()
    #expect(settings.applied(to: desired).measurementPeriodMilliseconds == 200)
    desired.measurementPeriodMilliseconds = 1000
    #expect(settings.applied(to: desired).measurementPeriodMilliseconds == 200)
    desired.measurementPeriodMilliseconds = 10_000
    #expect(settings.applied(to: desired).measurementPeriodMilliseconds == 10_000)
  }
}
