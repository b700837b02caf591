// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import ReceiverRuntime
import ReceiverStream
import Testing

@testable import LocationService

@Suite("The stored state, on a disk")
struct StateStoreTests {
  /// A separate state folder, and the log lines.
  private final class Scene {
    let folder: String
    let store: StateStore
    var logged: [String] = []

    init(_ name: String, isRunKept: Bool = false) {
      folder = "/tmp/sextant-tests-\(System.processID)-\(name)"
      store = StateStore(
        folder: folder, runFolder: isRunKept ? folder + "/run" : nil,
        app: AppDescription(identifier: "hike", keys: UsageKeys()))
    }

    deinit {
      for part in ["", "/apps/hike", "/apps", "/run"] {
        for name in FileLookup.names(in: folder + part) { UserFile.remove("\(folder)\(part)/\(name)") }
      }
      for part in ["/apps/hike", "/apps", "/run", ""] { PrivateFile.removeFolderIfEmpty(folder + part) }
    }

    func restored() -> PositioningEngine.Restored {
      var restored = store.restored { logged.append($0) }
      restored.newest = store.restoredNewest { logged.append($0) }
      return restored
    }
    var names: [String] { FileLookup.names(in: folder + "/apps/hike") }
    func path(_ file: StateFile) -> String { "\(folder)/\(file.path(of: store.app))" }
  }

  private static let circle = Region.Shape.circle(
    Circle(centre: Coordinate(latitudeDegrees: 48.5, longitudeDegrees: 11.25), radiusMetres: 100))
  private static let records = ["a", "b"].map { Regions.Record(Region($0, circle), state: .inside) }

  private static let conditions = ["a b", "c"].map {
    Monitor.Record(
      condition: circle,
      lastEvent: Monitor.Event(identifier: $0, state: .satisfied, date: UTCTime(nanosecondsSince1970: 1_780_000_000)))
  }
  private static let field = FieldCalibration(
    offsetMicrotesla: SIMD3(1.5, -2, 300), strengthMicrotesla: 48, residualMicrotesla: 0.5, isSpatial: true)

  private static func location(_ seconds: Int64) -> Location {
    Location(
      Coordinate(latitudeDegrees: 1, longitudeDegrees: 2), horizontalAccuracyMetres: 3,
      timestamp: UTCTime(nanosecondsSince1970: seconds * 1_000_000_000),
      source: Location.Source(isSimulatedBySoftware: false, isProducedByAccessory: true))
  }

  @Test("A file with an unreadable line is logged once, its copy is kept, and its other lines are used")
  func damaged() throws {
    let scene = Scene("damaged")
    let text = StateText.text(of: Self.records) + "circle\t1\n"
    try scene.store.store(.regions, text)
    #expect(scene.restored().regions == Self.records)
    #expect(scene.logged.count == 1)
    #expect(scene.logged.first?.contains(scene.path(.regions)) == true)
    #expect(try PrivateFile.read(scene.path(.regions) + ".unreadable") == text)
    #expect(scene.restored().regions == Self.records)
    #expect(scene.logged.count == 1)
  }

  @Test("A file of another kind is set aside, logged once, and not used")
  func foreign() throws {
    let scene = Scene("foreign")
    let foreign = "sextant anything 7\n\u{0}\u{1}\n"
    for file in [StateFile.regions, .visits, .authorization] { try scene.store.store(file, foreign) }
    // The store does not write a location that it cannot read.
    try PrivateFile.replace(scene.path(.newestLocation), with: foreign)
    let restored = scene.restored()
    #expect(restored.regions.isEmpty && restored.visits == nil && restored.authorization == nil)
    #expect(restored.newest == nil)
    #expect(scene.logged.count == 4)
    #expect(scene.names == ["authorization.unreadable", "regions.unreadable", "visits.unreadable"])
    _ = scene.restored()
    #expect(scene.logged.count == 4)
  }

  @Test("A folder in the place of a file is logged, and nothing breaks")
  func folderAsFile() throws {
    let scene = Scene("folder")
    _ = try PrivateFolder(scene.path(.regions), makingWith: 0o700)
    #expect(scene.restored().regions.isEmpty)
    #expect(scene.logged.count == 1)
    PrivateFile.removeFolderIfEmpty(scene.path(.regions))
  }

  @Test("A cut at any place is noticed, and no value is read that was not written")
  func cuts() {
    let texts: [(StateFile, String)] = [
      (.regions, StateText.text(of: Self.records)),
      (.authorization, StateText.text(of: Authorization.Record(status: .authorizedAlways))),
      (.newestLocation, StateText.text(of: Self.location(1_780_000_000))),
      (.compass, StateText.text(of: Self.field, sensor: "hmc5883")),
      (.monitor("m"), StateText.text(ofMonitor: Self.conditions)),
      (.deferred, [100, 101].map { StateText.text(of: Self.location($0)) }.joined()),
      (
        .visits,
        StateText.text(
          of: Visits.Record(
            isRunning: true,
            current: Visit(
              arrival: nil, departure: nil, coordinate: Coordinate(latitudeDegrees: 1, longitudeDegrees: 2),
              horizontalAccuracyMetres: 20)))
      ),
    ]
    for (file, text) in texts {
      #expect(StateText.damage(in: text, of: file) == nil)
      for length in 0..<text.utf8.count {
        let cut = String(decoding: text.utf8.prefix(length), as: UTF8.self)
        switch file {
        case .regions: #expect(Self.records.starts(with: StateText.regions(in: cut)))
        case .authorization: #expect(StateText.authorization(in: cut) == nil)
        case .newestLocation: #expect(StateText.location(in: cut) == nil)
        case .visits: #expect(StateText.visits(in: cut)?.current == nil)
        case .compass: #expect(StateText.calibration(in: cut, sensor: "hmc5883") == nil)
        case .monitor: #expect(Self.conditions.starts(with: StateText.monitor(in: cut)))
        case .deferred: #expect([100, 101].map { Self.location($0) }.starts(with: StateText.locations(in: cut)))
        }
        // The file grows with each location, so a kill leaves an incomplete end.
        if file == .deferred { continue }
        // A list that ends after a line is a shorter list; a text with one line is damaged by any truncation.
        if !cut.hasSuffix("\n") || [.authorization, .newestLocation, .compass].contains(file) {
          #expect(StateText.damage(in: cut, of: file) != nil, "\(file) cut at \(length)")
        }
      }
    }
  }

  @Test("LC-3 a simulated location that a file has is not used")
  func simulated() throws {
    let scene = Scene("simulated", isRunKept: true)
    var location = Self.location(100)
    try scene.store.store(.newestLocation, StateText.text(of: location))
    location = Self.location(130)
    location.source = ServiceSettings.Source("sim:walk").origin
    scene.store.remember(StateText.text(of: location))
    #expect(scene.restored().newest == Self.location(100) && scene.store.newest == Self.location(100))
    try scene.store.store(.newestLocation, StateText.text(of: location))
    #expect(scene.restored().newest == nil && scene.store.newest == nil)
  }

  @Test("LC-3 the newest location of a killed run is known, also if it was not written to the disk")
  func newest() throws {
    let scene = Scene("newest", isRunKept: true)
    try scene.store.store(.newestLocation, StateText.text(of: Self.location(100)))
    scene.store.remember(StateText.text(of: Self.location(130)))
    #expect(scene.restored().newest?.timestamp == Self.location(130).timestamp)
    try scene.store.store(.newestLocation, StateText.text(of: Self.location(160)))
    #expect(scene.restored().newest?.timestamp == Self.location(160).timestamp)
    // An empty state folder discards it as well.
    UserFile.remove(scene.path(.newestLocation))
    #expect(scene.restored().newest == nil)
  }

  @Test("LC-2 the store of another program's location is noticed without a read", arguments: [true, false])
  func marks(isRunKept: Bool) throws {
    let scene = Scene("marks-\(isRunKept)", isRunKept: isRunKept)
    let none = scene.store.newestMarks
    try scene.store.store(.newestLocation, StateText.text(of: Self.location(100)))
    let first = scene.store.newestMarks
    #expect(first != none && first == scene.store.newestMarks)
    #expect(scene.store.newest?.timestamp == Self.location(100).timestamp)
    try scene.store.store(.newestLocation, StateText.text(of: Self.location(160)))
    #expect(scene.store.newestMarks != first)
    #expect(scene.store.newest?.timestamp == Self.location(160).timestamp)
  }

  @Test("The temporary file of a killed writer is removed, but a living writer keeps its file")
  func temporaryFiles() throws {
    let scene = Scene("left")
    try scene.store.store(.regions, StateText.text(of: Self.records))
    // No process has such an id: the kernel's limit is 2²².
    for name in ["regions.2000000000", "regions.\(System.processID)", "regions.old", "notes.2000000000"] {
      try PrivateFile.replace("\(scene.folder)/apps/hike/\(name)", with: "x")
    }
    _ = scene.restored()
    #expect(scene.names == ["notes.2000000000", "regions", "regions.\(System.processID)", "regions.old"].sorted())
  }

  @Test("The folder of this run's memory: the system's, the user's, or none")
  func runFolder() {
    let variables = ["XDG_RUNTIME_DIR": "/run/user/7"]
    func path(_ isRoot: Bool, _ state: String?, _ variables: [String: String] = [:]) -> String? {
      RuntimeFolder.path(isRoot: isRoot, stateFolder: state) { variables[$0] }
    }
    #expect(path(true, "/var/lib/sextant") == "/run/sextant/%2Fvar%2Flib%2Fsextant")
    #expect(path(false, "/s", variables) == "/run/user/7/sextant/%2Fs")
    #expect(path(false, "/s") == nil)
    #expect(path(false, "s", variables) == nil)
    #expect(path(true, "/s", ["SEXTANT_RUN_DIR": "/r"]) == "/r/%2Fs")
    #expect(path(true, nil) == nil)
  }

  @Test("AU-19 the borders of the cells are the same after a restart; a file that was changed is replaced")
  func cells() throws {
    let scene = Scene("cells")
    var random = SystemRandomNumberGenerator()
    let cells = scene.store.cells(using: &random)
    #expect(scene.store.cells(using: &random) == cells)
    for damage in ["", "sextant cells 1\n", "sextant cells 1\n0.2\t0\n", "sextant cells 1\nnan\t0\n"] {
      try PrivateFile.replace("\(scene.folder)/settings/cells", with: damage)
      let new = scene.store.cells(using: &random)
      #expect(new != cells && scene.store.cells(using: &random) == new, "\(damage)")
    }
  }

  @Test("Permissions are read and written by name, and the entries show the stored state")
  func store() throws {
    let scene = Scene("book")
    let store = AuthorizationStore(stateFolder: scene.folder)
    #expect(store.entries() == [])
    #expect(store.servicesAreOnForUser)
    try scene.store.store(.regions, StateText.text(of: Self.records))
    try store.set(.authorizedWhenInUse, accuracy: .reduced, for: "hike")
    try store.set(.denied, for: "hike")
    let entry = try #require(store.entries().first)
    #expect(entry.app == "hike" && entry.status == .denied && entry.accuracy == .reduced && entry.regions == 2)
    #expect(scene.restored().authorization?.status == .denied)
    try store.reset("hike")
    #expect(store.entries().map(\.status) == [.notDetermined])
  }
}
