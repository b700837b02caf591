// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import ReceiverRuntime
import Testing

@testable import LocationService

@Suite("Settings of the environment")
struct SettingsTests {
  private func settings(_ variables: [String: String], isRoot: Bool = false) -> ServiceSettings {
    ServiceSettings(isRoot: isRoot) { variables[$0] }
  }

  @Test("The receiver: a device, the simulator, or the first one found")
  func source() {
    #expect(settings([:]).source == .firstFound)
    #expect(settings(["GNSS_DEVICE": ""]).source == .firstFound)
    #expect(settings(["GNSS_DEVICE": "/dev/ttyACM0"]).source == .device("/dev/ttyACM0"))
    #expect(settings(["GNSS_DEVICE": "sim:drive"]).source == .simulator("drive"))
    #expect(settings(["GNSS_DEVICE": "sim:"]).source == .simulator("walk"))
  }

  @Test("SU-19 several receivers with commas between them; a comma inside a name belongs to it")
  func several() {
    let two = settings(["GNSS_DEVICE": "/dev/ttyACM0,sim:drive"])
    #expect(two.source == .device("/dev/ttyACM0") && two.others == [.simulator("drive")])
    let named = settings(["GNSS_DEVICE": "sim:/tmp/here,there.scenario,/dev/gnss0"])
    #expect(named.source == .simulator("/tmp/here,there.scenario") && named.others == [.device("/dev/gnss0")])
    #expect(settings(["GNSS_DEVICE": "receiver"]).source == .device("receiver"))
  }

  @Test("The configuration file holds for a receiver that the environment does not name")
  func configuration() {
    var file = SextantConfiguration()
    file.devices = ["sim:drive", "/dev/b"]
    file.baud = 9600
    file.isReadOnly = true
    let configured = ServiceSettings(isRoot: false, configuration: file) { _ in nil }
    #expect(configured.source == .simulator("drive") && configured.baud == 9600 && configured.isReadOnly)
    #expect(configured.others == [.device("/dev/b")])
    let named = ServiceSettings(isRoot: false, configuration: file) { ["GNSS_DEVICE": "/dev/a"][$0] }
    #expect(named.source == .device("/dev/a") && named.baud == nil && !named.isReadOnly)
    let open = ServiceSettings(isRoot: false, configuration: file) { ["SEXTANT_READ_ONLY": "0"][$0] }
    #expect(!open.isReadOnly)
  }

  @Test("The state folder: named, the system's, the user's")
  func stateFolder() {
    #expect(settings(["SEXTANT_STATE_DIR": "/a", "HOME": "/h"]).stateFolder == "/a")
    #expect(settings(["HOME": "/root"], isRoot: true).stateFolder == "/var/lib/sextant")
    #expect(settings(["HOME": "/h", "XDG_STATE_HOME": "/x"]).stateFolder == "/x/sextant")
    #expect(settings(["HOME": "/h", "XDG_STATE_HOME": "x"]).stateFolder == "/h/.local/state/sextant")
    #expect(settings([:]).stateFolder == nil)
  }

  @Test("State, authorization and pauses")
  func choices() {
    let chosen = settings([
      "SEXTANT_APP_STATE": "background", "SEXTANT_AUTHORIZATION": "whenInUse", "SEXTANT_PAUSE_SECONDS": "2.5",
    ])
    #expect(chosen.application == .background)
    #expect(chosen.authorization == .authorizedWhenInUse)
    #expect(chosen.pauseSeconds == 2.5)
    #expect(chosen.problems.isEmpty)
  }

  @Test("A setting that cannot be read is reported, and counts as not set")
  func mistakes() {
    let chosen = settings([
      "SEXTANT_APP_STATE": "asleep", "SEXTANT_AUTHORIZATION": "yes", "SEXTANT_PAUSE_SECONDS": "-1",
      "SEXTANT_READ_ONLY": "perhaps",
    ])
    #expect(chosen.application == nil)
    #expect(chosen.authorization == nil)
    #expect(chosen.pauseSeconds == nil)
    #expect(!chosen.isReadOnly)
    #expect(chosen.problems.count == 4)
    #expect(chosen.problems.first?.contains("foreground, background") == true)
  }

  @Test(
    "A program's folder has a name that leads nowhere else", arguments: ["../x", "..", "", "a/b", "org.example.Hike"])
  func folderName(_ identifier: String) {
    let name = AppDescription(identifier: identifier, keys: UsageKeys()).folderName
    #expect(!name.isEmpty && !name.contains("/") && !name.hasPrefix("."))
    #expect(identifier != "org.example.Hike" || name == identifier)
  }
}
