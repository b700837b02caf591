// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import ReceiverRuntime
import TestSupport
import Testing
import WireBytes

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

  @Test("A name of any bytes and length has a place that the system takes, and that is of this name alone")
  func longNames() throws {
    let folder = try TemporaryFolder()
    var names = ["прогулка@/home/иван/Программы/прогулка", "a+b", "+", "%", "caf\u{E9}", "cafe\u{301}"]
    for length in [1, 199, 200, 201, 246, 247, 248, 255, 256, 399, 400, 401, 602] {
      names += [String(repeating: "a", count: length), String(repeating: ".", count: length - 1) + "a"]
      // A part that would be `..`.
      names += [String(repeating: "b", count: length) + "..", String(repeating: "c", count: length) + "../x"]
      names.append(String(repeating: "+", count: length))
    }
    for name in names {
      let place = AppDescription(identifier: name, keys: UsageKeys()).folderName
      #expect(place.split(separator: "/").allSatisfy { $0.utf8.count <= 255 && $0 != "." && $0 != ".." && $0 != "" })
      #expect(ExactText(AppDescription.name(ofPlace: place)) == ExactText(name) && !place.hasPrefix("/"))
    }
    let store = AuthorizationStore(stateFolder: folder.path)
    let all = Set((names[..<6] + names.filter { $0.utf8.count == 403 }).map { ExactText($0) })
    for name in all { try store.set(name.text == names[0] ? .denied : .authorizedAlways, for: name) }
    let entries = store.entries()
    #expect(Set(entries.map(\.app)) == all && all.count > 7)
    #expect(entries.filter { $0.status == .denied }.map(\.app) == [ExactText(names[0])])
    let launches = LaunchFiles(stateFolder: folder.path)
    try launches.store("{}\n", of: names[0], 1000)
    #expect(launches.all().map(\.name) == [names[0]])
    for name in all { try store.reset(name) }
    #expect(store.entries().isEmpty && PrivateFile.names(in: "\(folder.path)/apps").isEmpty)
  }

  @Test("A monitor with a long name keeps its conditions")
  func longMonitor() throws {
    let folder = try TemporaryFolder()
    let app = AppDescription(identifier: "hike", keys: UsageKeys())
    let store = StateStore(folder: folder.path, runFolder: nil, app: app)
    for length in [10, 124, 300] {
      let name = String(repeating: "\u{436}", count: length)
      try store.store(.monitor(name), StateText.text(ofMonitor: []))
      #expect(store.text(of: .monitor(name)) != nil)
    }
    #expect(AppDescription.places(in: "\(folder.path)/apps/hike/monitors").count == 3)
  }
}
