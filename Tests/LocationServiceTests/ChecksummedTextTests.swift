// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import ReceiverStream
import TestSupport
import Testing
import WireBytes

@testable import LocationService

@Suite("The checksums of the stored state")
struct ChecksummedTextTests {
  private static let place = "apps/hike/regions"
  private static let content = "heading 1\na\t1\nb\t2\nc\t3\n"

  @Test("A text is read as it was written, in its place")
  func whole() {
    for content in [Self.content, "heading 1\n", ""] {
      let checked = ChecksummedText(ChecksummedText.text(content, place: Self.place), place: Self.place)
      #expect(checked.content == content && checked.damage == 0 && !checked.lacksChecksum)
    }
    let elsewhere = ChecksummedText(ChecksummedText.text(Self.content, place: Self.place), place: "apps/other/regions")
    #expect(elsewhere.content.isEmpty && elsewhere.damage > 0)
  }

  @Test("A text of an older version has no checksums, and is read as it is")
  func withoutChecksum() {
    let checked = ChecksummedText(Self.content, place: Self.place)
    #expect(checked.content == Self.content && checked.damage == 0 && checked.lacksChecksum)
  }

  @Test("Each flipped bit and each cut is noticed, and a whole line stays")
  func flips() {
    let text = Array(ChecksummedText.text(Self.content, place: Self.place).utf8)
    for index in text.indices {
      for bit in 0..<8 {
        var changed = text
        changed[index] ^= 1 << UInt8(bit)
        let checked = ChecksummedText(String(decoding: changed, as: UTF8.self), place: Self.place)
        #expect(checked.damage > 0, "byte \(index), bit \(bit)")
        #expect(checked.content.split(separator: "\n").allSatisfy { Self.content.contains($0) })
      }
      if index > 0 {
        let cut = ChecksummedText(String(decoding: text[..<index], as: UTF8.self), place: Self.place)
        #expect(cut.damage > 0 || cut.lacksChecksum && StateText.lines(of: cut.content, heading: "heading 1") == nil)
      }
    }
    let second = ChecksummedText(
      ChecksummedText.text(Self.content, place: Self.place).replacing("b\t2", with: "b\t3"), place: Self.place)
    #expect(second.content == "heading 1\na\t1\nc\t3\n" && second.damage == 2)
  }

  @Test("Lines that are removed, repeated or moved are noticed")
  func lines() {
    let lines = ChecksummedText.text(Self.content, place: Self.place).split(separator: "\n").map(String.init)
    func damage(_ lines: [String]) -> Int {
      ChecksummedText(lines.map { $0 + "\n" }.joined(), place: Self.place).damage
    }
    #expect(damage(lines) == 0)
    for index in lines.indices {
      var changed = lines
      changed.remove(at: index)
      #expect(damage(changed) > 0)
      changed = lines
      changed.insert(lines[index], at: index)
      #expect(damage(changed) > 0)
    }
    #expect(damage([lines[0], lines[2], lines[1], lines[3], lines[4]]) > 0)
  }

  // MARK: A state folder

  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  @Test("10,000 random damages of a state folder: each is reported, and none gives a permission")
  func damages() throws {
    // In memory, because each case would need several writes that wait for the disk.
    let folder = "/dev/shm/sextant-tests-\(System.processID)-damages"
    let statuses: [AuthorizationStatus] = [.denied, .authorizedWhenInUse, .authorizedAlways, .notDetermined]
    let stores = statuses.map { status in
      StateStore(folder: folder, runFolder: nil, app: AppDescription(identifier: "app-\(status)", keys: UsageKeys()))
    }
    let circle = Region.Shape.circle(
      Circle(centre: Coordinate(latitudeDegrees: 48.5, longitudeDegrees: 11.25), radiusMetres: 100))
    var files: [(store: StateStore, file: StateFile, text: String)] = []
    for (store, status) in zip(stores, statuses) {
      try store.store(.authorization, StateText.text(of: Authorization.Record(status: status)))
      try store.store(
        .regions, StateText.text(of: ["a", "b"].map { Regions.Record(Region($0, circle), state: .inside) }))
      try store.store(.visits, StateText.text(of: Visits.Record(isRunning: true, current: nil)))
      for file in [StateFile.authorization, .regions, .visits] {
        files.append((store, file, try #require(try PrivateFile.read("\(folder)/\(file.path(of: store.app))"))))
      }
    }
    defer {
      for store in stores {
        let own = "\(folder)/\(StateFile.appFolder(store.app))"
        for name in FileLookup.names(in: own) { try? PrivateFile.remove("\(own)/\(name)") }
        PrivateFile.removeFolderIfEmpty(own)
      }
      PrivateFile.removeFolderIfEmpty("\(folder)/apps")
      PrivateFile.removeFolderIfEmpty(folder)
    }
    func rank(_ status: AuthorizationStatus?) -> Int {
      switch status {
      case .authorizedAlways?: 2
      case .authorizedWhenInUse?: 1
      default: 0
      }
    }
    var random = Generator(state: 42)
    for round in 0..<10_000 {
      let (store, file, text) = files.randomElement(using: &random)!
      let path = "\(folder)/\(file.path(of: store.app))"
      let damaged = Self.damaged(text, files.map(\.text), &random)
      if damaged == text { continue }
      try PrivateFile.replace(path, with: damaged)
      var lines: [String] = []
      let restored = store.restored { lines.append($0) }
      let before = statuses[stores.firstIndex { $0.app == store.app }!]
      #expect(rank(restored.authorization?.status) <= rank(before), "round \(round): \(damaged)")
      if file == .authorization { #expect(restored.authorization == nil, "round \(round): \(damaged)") }
      #expect(lines.contains { $0.contains(path) }, "round \(round): \(damaged)")
      try PrivateFile.replace(path, with: text)
    }
  }

  private static func damaged(_ text: String, _ others: [String], _ random: inout Generator) -> String {
    var bytes = Array(text.utf8)
    let place = Int.random(in: 0..<bytes.count, using: &random)
    let end = min(bytes.count, place + Int.random(in: 1...40, using: &random))
    switch Int.random(in: 0..<8, using: &random) {
    case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
    case 2: bytes.removeSubrange(place..<end)
    case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 4: bytes.removeSubrange(place...)
    case 5: bytes.replaceSubrange(place..<end, with: repeatElement(0, count: end - place))
    case 6:
      bytes.replaceSubrange(place..<end, with: (0..<end - place).map { _ in UInt8.random(in: 0...255, using: &random) })
    // The blocks of another file.
    default:
      let other = Array(others.randomElement(using: &random)!.utf8)
      bytes = Bool.random(using: &random) ? other : Array(bytes[..<place]) + other.dropFirst(place)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Older versions

  @Test("A folder that was named by a stated name gets the name of its executable, and any other one is set aside")
  func names() {
    #expect(StoredPrograms.executable(inOldName: "org.example.hike@/usr/bin/hike") == "/usr/bin/hike")
    #expect(StoredPrograms.executable(inOldName: "a@b@/usr/bin/hike") == "/usr/bin/hike")
    for name in ["hike@", "hike", "@/usr/bin/hike", "a@/usr/bin/hike@/home/x/evil", "x/y@/usr/bin/hike", "a@/"] {
      #expect(StoredPrograms.executable(inOldName: name) == nil, "\(name)")
    }
  }

  @Test("Old folders are renamed; of two permissions for one executable a denial counts, and each loss is reported")
  func renaming() throws {
    let folder = try TemporaryFolder()
    let store = AuthorizationStore(stateFolder: "\(folder.path)/users/1000")
    func record(_ status: AuthorizationStatus) -> Authorization.Record {
      var record = Authorization.Record()
      record.status = status
      return record
    }
    let old = [
      ("org.example.hike@/usr/bin/hike", AuthorizationStatus.authorizedAlways), ("a@/opt/map", .authorizedWhenInUse),
      ("b@/opt/map", .denied), ("a@/bin/sh@/home/x/evil", .authorizedAlways), ("plain", .authorizedAlways),
      ("exe:/usr/bin/new", .authorizedWhenInUse),
    ]
    for (name, status) in old { try store.set(record(status), for: ExactText(name)) }
    // An unrelated folder is kept.
    try PrivateFolder("\(folder.path)/users/other/apps/a%40%2Fbin%2Fls", makingWith: 0o700)
      .replace("authorization", with: [])
    var lines: [String] = []
    StoredPrograms(stateFolder: folder.path).rename(
      identity: { "exe:\($0)" }, isName: { $0.hasPrefix("exe:") }, log: { lines.append($0) })

    let found = Dictionary(uniqueKeysWithValues: store.entries().map { ($0.app, $0.status) })
    // The checksum of a file in a folder includes its old path, which is accepted once.
    #expect(Set(found.keys) == ["exe:/usr/bin/hike", "exe:/opt/map", "exe:/usr/bin/new"])
    #expect(found["exe:/usr/bin/new"] == .authorizedWhenInUse)
    #expect(found["exe:/opt/map"] != .authorizedWhenInUse && found["exe:/opt/map"] != .authorizedAlways)
    #expect(PrivateFile.names(in: "\(folder.path)/users/other/apps") == ["a%40%2Fbin%2Fls"])
    let setAside = PrivateFile.names(in: "\(folder.path)/users/1000/apps").filter { $0.hasSuffix(StateDamage.suffix) }
    #expect(setAside.count == 3)
    #expect(lines.count == 3 && lines.allSatisfy { $0.contains("sextant authorize allow NAME") })

    lines = []
    StoredPrograms(stateFolder: folder.path).rename(
      identity: { "exe:\($0)" }, isName: { $0.hasPrefix("exe:") }, log: { lines.append($0) })
    #expect(lines.isEmpty && Set(store.entries().map(\.app)) == Set(found.keys))
  }

  @Test("Impossible values are not written: they would be damage at the next start")
  func impossible() {
    func circle(_ latitude: Double, _ longitude: Double, _ radius: Double = 100) -> Region.Shape {
      .circle(Circle(centre: Coordinate(latitudeDegrees: latitude, longitudeDegrees: longitude), radiusMetres: radius))
    }
    let good = Regions.Record(Region("good", circle(48, 11)), state: .inside)
    for shape in [circle(48, 1e12), circle(.nan, 11), circle(-1e300, 11), circle(48, .infinity), circle(48, 11, .nan)] {
      let text = StateText.text(of: [Regions.Record(Region("bad", shape), state: .inside), good])
      #expect(StateText.damage(in: text, of: .regions) == nil && StateText.regions(in: text) == [good], "\(shape)")
      let event = Monitor.Event(identifier: "m", state: .satisfied, date: UTCTime(nanosecondsSince1970: 1))
      let monitor = StateText.text(ofMonitor: [Monitor.Record(condition: shape, lastEvent: event)])
      #expect(StateText.damage(in: monitor, of: .monitor("m")) == nil)
      guard case .circle(let place) = shape, !place.centre.isValid else { continue }
      let visit = Visit(arrival: nil, departure: nil, coordinate: place.centre, horizontalAccuracyMetres: 5)
      #expect(
        StateText.damage(in: StateText.text(of: Visits.Record(isRunning: true, current: visit)), of: .visits) == nil)
    }
  }

  @Test("A restriction is for the executable, under every name; a stated name alone is for programs that state it")
  func restrictions() {
    func app(_ path: String?, label: String?) -> AppDescription {
      AppDescription(identifier: "\(path ?? "")", keys: UsageKeys(), executable: path, label: label)
    }
    for line in ["restrict /usr/bin/hike", "restrict hike", "restrict org.example.hike@/usr/bin/hike"] {
      let policy = LocationPolicy(parsing: line + "\n")
      for label in ["hike", "another", "", "a@b"] {
        #expect(policy.restricts(app("/usr/bin/hike", label: label)), "\(line)")
      }
      #expect(!policy.restricts(app("/usr/bin/other", label: "other")) && !policy.restricts(app(nil, label: "x")))
    }
    let stated = LocationPolicy(parsing: "restrict org.example.hike\n")
    #expect(stated.restricts(app("/usr/bin/any", label: "org.example.hike")))
    #expect(!stated.restricts(app("/usr/bin/any", label: "other")))
  }
}
