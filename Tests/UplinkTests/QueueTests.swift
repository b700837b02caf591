// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import Positioning
import SystemPackage
import TestSupport
import Testing

@testable import sextant_uplink

/// A fix of a walk, a metre a second to the north.
func walkFix(_ second: Int, east: Double = 0, trigger: QueuedFix.Trigger = .schedule) -> QueuedFix {
  QueuedFix(
    sequence: 0, utcNanoseconds: 1_800_000_000_000_000_000 + Int64(second) * 1_000_000_000,
    latitudeDegrees: 48 + Double(second) / 111_195, longitudeDegrees: 11 + east / 74_400, horizontalAccuracyMetres: 2.5,
    altitudeMetres: 519.25, verticalAccuracyMetres: 4.125, speedMetresPerSecond: 1.004, courseDegrees: 0.37,
    trigger: trigger)
}

/// A disk in memory whose power may be cut: a part of the bytes of one write is on the disk.
final class SimulatedDisk {
  var files: [String: [UInt8]] = [:]
  /// Operations until the cut; nil if there is none.
  var operationsLeft: Int?
  /// The part of the last operation's bytes that the disk still gets, 0…1.
  var partOfLast = 0.0
  var isFull = false
  var bytesWritten = 0

  struct Cut: Error {}

  /// Returns how many of the bytes of a write reach the disk.
  func reached(_ count: Int) -> Int {
    guard let left = operationsLeft else { return count }
    operationsLeft = left - 1
    return left > 1 ? count : left == 1 ? Int(Double(count) * partOfLast) : 0
  }

  var isCut: Bool { operationsLeft.map { $0 <= 0 } ?? false }
}

struct SimulatedStorage: QueueStorage {
  let disk: SimulatedDisk
  private static var full: FileError { FileError("disk", Errno.noSpace) }

  func names() -> [String] { disk.files.keys.sorted() }
  func read(_ name: String) throws(FileError) -> [UInt8] { disk.files[name] ?? [] }
  func read(_ name: String, from offset: Int, count: Int) throws(FileError) -> [UInt8] {
    Array((disk.files[name] ?? []).dropFirst(offset).prefix(count))
  }
  func append(_ bytes: [UInt8], to name: String) throws(FileError) {
    if disk.isFull {
      disk.files[name, default: []] += bytes.prefix(bytes.count / 3)
      throw Self.full
    }
    let count = disk.reached(bytes.count)
    if count > 0 { disk.files[name, default: []] += bytes.prefix(count) }
    disk.bytesWritten += bytes.count
  }
  func truncate(_ name: String, to count: Int) throws(FileError) {
    if let file = disk.files[name], disk.reached(1) == 1 { disk.files[name] = Array(file.prefix(count)) }
  }
  func replace(_ name: String, with bytes: [UInt8]) throws(FileError) {
    if disk.isFull { throw Self.full }
    // A replacement is either complete or absent.
    if disk.reached(bytes.count) == bytes.count { disk.files[name] = bytes }
    disk.bytesWritten += bytes.count
  }
  func remove(_ name: String) throws(FileError) { if disk.reached(1) == 1 { disk.files[name] = nil } }
  func sync(_ name: String) {}
}

typealias TestQueue = FixQueue<SimulatedStorage>

extension FixQueue {
  /// Adds a fix of a walk, which arrives at its time.
  @discardableResult
  mutating func append(_ fix: QueuedFix) -> UInt64 {
    append(fix, at: Instant(nanoseconds: UInt64(clamping: fix.utcNanoseconds - walkFix(0).utcNanoseconds)))
  }
}

func makeQueue(_ disk: SimulatedDisk, bytes: Int = 64 << 10, age: Int64? = nil, tolerance: Double = 10) throws
  -> TestQueue
{
  try TestQueue(
    SimulatedStorage(disk: disk), TestQueue.Limits(bytes: bytes, ageSeconds: age, toleranceMetres: tolerance),
    identity: "q")
}

extension SimulatedDisk {
  /// Damages a record in the first file of fixes.
  func damage(_ record: Int) {
    guard let name = files.keys.sorted().first(where: { $0.hasPrefix("fixes-") }) else { return }
    files[name]?[record * FixRecord.size + 30] ^= 0x10
  }
}

@Suite struct RecordTests {
  @Test("A record gives its fix back") func roundTrip() {
    var fix = walkFix(7, trigger: .request)
    fix.sequence = 0x0123_4567_89AB_CDEF
    fix.isSimulated = true
    fix.region = 300
    var bytes: [UInt8] = []
    FixRecord.append(fix, to: &bytes)
    #expect(bytes.count == FixRecord.size)
    #expect(FixRecord.read(bytes[...]) == fix)
  }

  @Test("Unknown, infinite and huge values are unknown") func unknownValues() {
    var fix = walkFix(0)
    fix.altitudeMetres = .infinity
    fix.speedMetresPerSecond = 1e12
    fix.courseDegrees = nil
    fix.verticalAccuracyMetres = .nan
    var bytes: [UInt8] = []
    FixRecord.append(fix, to: &bytes)
    let read = FixRecord.read(bytes[...])
    #expect(read?.altitudeMetres == nil && read?.speedMetresPerSecond == nil && read?.courseDegrees == nil)
    #expect(read?.verticalAccuracyMetres == nil && read?.horizontalAccuracyMetres == 2.5)
  }

  @Test("Each flipped bit of a record is found") func flippedBits() {
    var bytes: [UInt8] = []
    FixRecord.append(walkFix(3), to: &bytes)
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(FixRecord.read(damaged[...]) == nil, "bit \(bit)")
    }
  }

  @Test("The checksum is the CRC-32 of IEEE 802.3") func checksum() {
    #expect(CRC32.of(Array("123456789".utf8)) == 0xCBF4_3926)
  }
}

@Suite struct QueueTests {
  @Test("A record that is damaged after the start is dropped when it is to be sent, or with those that are too old")
  func damagedRecord() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk, age: 600)
    for second in 0..<4 { queue.append(walkFix(second)) }
    try queue.flush()
    disk.damage(0)
    #expect(queue.oldest?.sequence == 2 && queue.count == 4)
    #expect(queue.fixToSend(1) == nil && queue.count == 3 && queue.losses.dropped == 1)
    #expect(queue.fixToSend(2)?.sequence == 2 && queue.fixToSend(1) == nil && queue.losses.dropped == 1)
    disk.damage(1)
    for second in stride(from: 600, through: 3000, by: 60) { queue.append(walkFix(second)) }
    try queue.flush()
    let waiting = queue.waiting(from: 0, count: 100)
    #expect(waiting.first.map { $0 > 4 } ?? false, "\(waiting)")
    #expect(queue.losses.dropped >= 4)
  }

  @Test("Fixes wait in their order until they are acknowledged, over restarts") func order() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk)
    for second in 0..<100 { queue.append(walkFix(second)) }
    #expect(queue.waiting(from: 0, count: 1) == [], "a pending fix is not sent")
    try queue.flush()
    #expect(queue.waiting(from: 0, count: 200) == Array(1...100))
    for sequence in UInt64(1)...40 { queue.acknowledge(sequence) }
    try queue.flush()
    queue = try makeQueue(disk)
    #expect(queue.waiting(from: 0, count: 200) == Array(41...100))
    #expect(queue.fix(41)?.utcNanoseconds == walkFix(40).utcNanoseconds)
    #expect(queue.fix(40) == nil)
    #expect(queue.append(walkFix(100)) == 101)
    #expect(queue.waitingNewest(below: 99, count: 3) == [98, 97, 96])
  }

  @Test("A number is not used again after all fixes were acknowledged") func numbers() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk)
    for round in 0..<30 {
      for second in 0..<50 { queue.append(walkFix(round * 50 + second)) }
      try queue.flush()
      for sequence in queue.waiting(from: 0, count: 1000) { queue.acknowledge(sequence) }
      try queue.flush()
      queue = try makeQueue(disk)
      #expect(queue.upcomingSequence == UInt64(round + 1) * 50 + 1)
      #expect(queue.count == 0)
    }
    // Acknowledged segments are deleted.
    #expect(disk.files.count <= 5)
  }

  /// A loss of power at each operation of a run, with a part of its bytes on the disk.
  @Test("Everything that was written before a power cut is there, whatever the byte", arguments: [0.0, 0.3, 0.5, 0.99])
  func powerCut(part: Double) throws {
    for cut in 1...60 {
      let disk = SimulatedDisk()
      var written: [UInt64] = []
      var acknowledged: Set<UInt64> = []
      var queue = try makeQueue(disk)
      disk.operationsLeft = cut
      disk.partOfLast = part
      for round in 0..<40 where !disk.isCut {
        let numbers = (0..<3).map { queue.append(walkFix(round * 3 + $0)) }
        try queue.flush()
        if disk.isCut { break }
        written += numbers
        if let first = queue.waiting(from: 0, count: 1).first, round % 2 == 1 {
          queue.acknowledge(first)
          acknowledged.insert(first)
        }
      }
      disk.operationsLeft = nil
      let after = try makeQueue(disk)
      let waiting = Set(after.waiting(from: 0, count: 10_000))
      for number in written where !acknowledged.contains(number) {
        #expect(waiting.contains(number), "cut \(cut): fix \(number) is lost")
        #expect(after.fix(number)?.utcNanoseconds == walkFix(Int(number) - 1).utcNanoseconds)
      }
      #expect(after.upcomingSequence > written.last ?? 0)
    }
  }

  @Test("2,000 damaged disks: a fix that is read is one that was written") func damage() throws {
    var random = SystemRandomNumberGenerator()
    let whole = SimulatedDisk()
    var queue = try makeQueue(whole)
    for second in 0..<60 { queue.append(walkFix(second)) }
    try queue.flush()
    for sequence in UInt64(5)...9 { queue.acknowledge(sequence) }
    try queue.flush()
    let times = Set((0..<60).map { walkFix($0).utcNanoseconds })
    for _ in 0..<2000 {
      let disk = SimulatedDisk()
      disk.files = whole.files
      guard let name = disk.files.keys.sorted().randomElement(using: &random), var file = disk.files[name],
        !file.isEmpty
      else {
        continue
      }
      switch Int.random(in: 0..<3, using: &random) {
      case 0: file[Int.random(in: 0..<file.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      case 1: file.removeLast(Int.random(in: 1...file.count, using: &random))
      default:
        file.insert(UInt8.random(in: 0...255, using: &random), at: Int.random(in: 0...file.count, using: &random))
      }
      disk.files[name] = file
      var read = try makeQueue(disk)
      for sequence in read.waiting(from: 0, count: 100) {
        if let fix = read.fix(sequence) { #expect(times.contains(fix.utcNanoseconds)) }
      }
      read.append(walkFix(100))
      try read.flush()
      #expect(read.fix(read.upcomingSequence - 1)?.utcNanoseconds == walkFix(100).utcNanoseconds)
    }
  }

  @Test("A full disk loses nothing: the fixes are written when there is space") func fullDisk() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk)
    queue.append(walkFix(0))
    try queue.flush()
    disk.isFull = true
    for second in 1..<50 {
      queue.append(walkFix(second))
      #expect(throws: FileError.self) { try queue.flush() }
    }
    #expect(queue.count == 50)
    disk.isFull = false
    try queue.flush()
    let after = try makeQueue(disk)
    #expect(after.waiting(from: 0, count: 100) == Array(1...50))
    #expect(after.waiting(from: 0, count: 100).allSatisfy { after.fix($0) != nil })
  }

  @Test("Fixes of a full disk are sent from memory, and what the server has makes room") func sentFromMemory() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk)
    for second in 0..<300 { queue.append(walkFix(second)) }
    try queue.flush()
    for sequence in queue.waiting(from: 0, count: 300) { queue.acknowledge(sequence) }
    let before = disk.files.count
    disk.isFull = true
    queue.append(walkFix(300))
    queue.append(walkFix(301))
    #expect(queue.waiting(from: 0, count: 10).isEmpty, "a fix is not sent before an attempt to write it")
    #expect(throws: FileError.self) { try queue.flush() }
    #expect(disk.files.count < before)
    #expect(queue.waiting(from: 0, count: 10) == [301, 302] && queue.waitingNewest(below: 302, count: 5) == [301])
    #expect(queue.fix(301)?.utcNanoseconds == walkFix(300).utcNanoseconds)
    #expect(queue.acknowledge(301) && !queue.acknowledge(301) && queue.count == 1)
    disk.isFull = false
    queue.append(walkFix(302))
    try queue.flush()
    #expect(try makeQueue(disk).waiting(from: 0, count: 10) == [302, 303])
  }

  @Test("The files, also of acknowledged fixes, stay within the size limit") func bounded() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk, tolerance: 1)
    var largest = 0
    for second in 0..<3000 {
      queue.append(walkFix(second, east: second % 2 == 0 ? 0 : 40))
      try queue.flush()
      if second % 3 == 0 { queue.acknowledge(queue.upcomingSequence - 1) }
      largest = max(largest, disk.files.values.reduce(0) { $0 + $1.count })
    }
    // The identity and the counts of losses, and the record that is written before there is room for it.
    #expect(largest <= (64 << 10) + 128)
  }

  @Test("A full queue is thinned within the tolerance before a fix is dropped") func thinnedBeforeDropped() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk)
    // A straight walk: everything between the ends of a segment is within the tolerance.
    for second in 0..<5000 {
      queue.append(walkFix(second))
      if second % 10 == 9 { try queue.flush() }
    }
    #expect(disk.files.values.reduce(0) { $0 + $1.count } <= (64 << 10) + 512)
    #expect(queue.losses.dropped == 0 && queue.losses.thinned > 3000)
    let waiting = queue.waiting(from: 0, count: 10_000)
    #expect(waiting.first == 1 && waiting.last == 5000)
    #expect(waiting.count + queue.losses.thinned == 5000)
    // The counts outlive a restart.
    #expect(try makeQueue(disk).losses == queue.losses)
  }

  @Test("A full queue of a winding way drops the oldest and counts them") func drops() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk, tolerance: 1)
    for second in 0..<3000 {
      queue.append(walkFix(second, east: second % 2 == 0 ? 0 : 40))
      try queue.flush()
    }
    #expect(queue.losses.dropped > 1500)
    #expect(queue.count + queue.losses.dropped + queue.losses.thinned == 3000)
    #expect(queue.waiting(from: 0, count: 10_000).last == 3000)
  }

  @Test("Fixes that are older than the limit are dropped by their own time") func age() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk, age: 600)
    for second in 0..<400 { queue.append(walkFix(second)) }
    try queue.flush()
    queue.append(walkFix(10_000))
    try queue.flush()
    #expect(queue.losses.dropped == 400 && queue.count == 1)
    #expect(try makeQueue(disk, age: 600).losses == queue.losses)
  }

  @Test("A fix is dropped when the newest one is later by more than the limit, not with its file") func exactAge()
    throws
  {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk, age: 60)
    for second in 0..<500 {
      queue.append(walkFix(second))
      try queue.flush()
      #expect(queue.count == min(second + 1, 61) && queue.losses.dropped == max(0, second - 60))
    }
    #expect(queue.waiting(from: 0, count: 1000) == Array(440...500))
    #expect(disk.files.values.reduce(0) { $0 + $1.count } <= 64 << 10)
  }

  @Test(
    "One date eight days ahead, the first or a later one, deletes nothing, also after a restart", arguments: [0, 200])
  func wrongDate(before: Int) throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk, age: 7 * 86_400)
    var second = 0
    func add(_ count: Int, ahead: Int = 0) throws {
      for _ in 0..<count {
        second += 10
        queue.append(walkFix(second + ahead), at: .zero.moved(by: Double(second)))
        try queue.flush()
      }
    }
    try add(before)
    try add(1, ahead: 8 * 86_400)
    // The server has it: it is not before the others any more.
    queue.acknowledge(UInt64(before) + 1)
    try add(200)
    queue = try makeQueue(disk, age: 7 * 86_400)
    try add(200)
    #expect(queue.losses.dropped == 0 && queue.count == before + 400)
  }

  /// A board that is switched off and on, whose receiver has a wrong date for less than a quarter of an hour at a time.
  @Test(
    "Wrong dates and restarts drop no fix before its age, and keep none after it", arguments: 0..<60 as Range<UInt64>)
  func wrongDates(seed: UInt64) throws {
    var random = SeededRandomNumberGenerator(seed: seed)
    let disk = SimulatedDisk()
    let age = 86_400
    var queue = try makeQueue(disk, age: Int64(age))
    var (second, start) = (0, 0)
    var right: [UInt64: Int] = [:]
    var wrong: Set<UInt64> = []
    func add(error: Int?) throws {
      // A location of a batch arrives late.
      let date = second - Int.random(in: 0...60, using: &random) + (error ?? 0)
      let number = queue.append(walkFix(date), at: .zero.moved(by: Double(second - start)))
      if error == nil { right[number] = date } else { wrong.insert(number) }
      try queue.flush()
      let waiting = Set(queue.waiting(from: 0, count: .max))
      let lost = right.filter { second - $1 <= age && !waiting.contains($0) }
      #expect(lost.isEmpty, "\(second): \(lost)")
    }
    for _ in 0..<60 {
      second += [1, 60, 900, 7200].randomElement(using: &random)!
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        second += Int.random(in: 0...100_000, using: &random)
        // The clock begins anew with the system.
        start = second - Int.random(in: 0...100, using: &random)
        queue = try makeQueue(disk, age: Int64(age))
      case 1...4:
        let error = Int.random(in: 1000...700_000_000, using: &random) * (Bool.random(using: &random) ? 1 : -1)
        let end = second + 899
        repeat {
          try add(error: error)
          second += Int.random(in: 1...300, using: &random)
        } while second <= end && Bool.random(using: &random)
        try add(error: nil)
      default: try add(error: nil)
      }
    }
    for number in wrong { queue.acknowledge(number) }
    for _ in 0..<60 {
      second += 60
      try add(error: nil)
    }
    let oldest = queue.waiting(from: 0, count: .max).compactMap { right[$0] }.map { second - $0 }.max() ?? 0
    #expect(oldest <= age + 180, "\(oldest) s")
  }

  @Test("A date that is later by days counts after it alone has arrived for the period; an earlier one at once")
  func clock() {
    func seconds(_ clock: FixClock) -> Int64? { clock.utcNanoseconds.map { $0 / 1_000_000_000 } }
    for (age, period) in [(nil, 900), (86_400, 900), (60, 60)] as [(Int64?, Int64)] {
      var clock = FixClock(ageSeconds: age)
      func add(_ second: Int64, ahead: Int64 = 0) {
        clock.receive((second + ahead) * 1_000_000_000, at: .zero.moved(by: Double(second)))
      }
      for second in 0..<period {
        add(second)
        #expect(clock.utcNanoseconds == nil)
      }
      add(period)
      #expect(seconds(clock) == period)
      for second in period + 1..<3 * period {
        add(second, ahead: 700_000)
        #expect(seconds(clock) == second)
      }
      add(3 * period, ahead: 700_000)
      #expect(seconds(clock) == 3 * period + 700_000)
      add(3 * period + 1)
      #expect(seconds(clock) == 3 * period + 1)
      add(3 * period + 2, ahead: -700_000)
      #expect(seconds(clock) == 3 * period + 2 - 700_000)
    }
    var clock = FixClock(ageSeconds: 1)
    for date in [Int64.max, .min, .max, .max, .max] {
      clock.receive(date, at: .zero)
      clock.receive(date, at: Instant(nanoseconds: .max))
    }
  }

  @Test("Seven days without a network in 4 MB: few bytes are written") func sevenDays() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk, bytes: 4 << 20)
    // A fix every 10 s, each written separately.
    for tick in 0..<60_480 {
      queue.append(walkFix(tick * 10, east: 200 * Double(tick % 400)))
      try queue.flush()
    }
    #expect(queue.count == 60_480 && queue.losses == TestQueue.Losses())
    #expect(disk.bytesWritten / 7 < 560_000)
  }
}

/// Seven days without a network; the figures are in docs/guides/uplink.md.
@Suite struct OutageTests {
  /// A fix every `interval` of a board that is driven for an hour in the morning and in the evening and is stationary
  /// otherwise.
  private static func fix(_ second: Int) -> QueuedFix {
    let hour = Double(second % 86_400) / 3600
    let driven = [7.0, 17.0].map { min(1, max(0, hour - $0)) }.reduce(0, +) * 3600
    // 14 m/s on a winding road.
    let north = 14 * driven, east = 400 * sin(driven / 60) + 60 * sin(driven / 7)
    let isMoving = driven > 0 && driven < 7200 && (7..<8).contains(hour) || (17..<18).contains(hour)
    // The noise of a receiver at rest and in motion.
    let noise = Double((second * 7919) % 997) / 997 - 0.5
    return QueuedFix(
      sequence: 0, utcNanoseconds: 1_800_000_000_000_000_000 + Int64(second) * 1_000_000_000,
      latitudeDegrees: 48 + (north + 4 * noise) / 111_195, longitudeDegrees: 11 + (east + 3 * noise) / 74_400,
      horizontalAccuracyMetres: 2.5, altitudeMetres: 519, verticalAccuracyMetres: 4,
      speedMetresPerSecond: isMoving ? 14 : 0, courseDegrees: 0)
  }

  @Test("A fix in five seconds is thinned within the tolerance, and none is dropped") func sevenDays() throws {
    let disk = SimulatedDisk()
    var queue = try makeQueue(disk, bytes: 4 << 20, age: 7 * 86_400)
    let seconds = Array(stride(from: 0, to: 7 * 86_400, by: 5))
    // The program writes the fixes of a second at once; fewer writes of the same bytes keep the test short.
    for (index, second) in seconds.enumerated() {
      queue.append(Self.fix(second))
      if index % 24 == 23 { try queue.flush() }
    }
    try queue.flush()
    let arriving = queue.waiting(from: 0, count: .max).compactMap(queue.fix)
    #expect(queue.losses.dropped == 0 && arriving.count + queue.losses.thinned == seconds.count)
    #expect(arriving.count < seconds.count && disk.files.values.reduce(0) { $0 + $1.count } <= 4 << 20)
    // Each fix of the week is within the tolerance of the track that arrives.
    var next = 1
    var farthest = 0.0
    for second in stride(
      from: 0,
      through: arriving.last.map { Int(($0.utcNanoseconds - Self.fix(0).utcNanoseconds) / 1_000_000_000) } ?? 0, by: 35)
    {
      let fix = Self.fix(second)
      while next < arriving.count - 1, arriving[next].utcNanoseconds < fix.utcNanoseconds { next += 1 }
      farthest = max(farthest, TrackSimplificationTests.distanceMetres(fix, arriving[next - 1], arriving[next]))
    }
    #expect(farthest <= 10.05)
    print(
      "seven days, a fix in 5 s:", seconds.count, "fixes,", arriving.count, "arrive,", queue.losses.thinned,
      "thinned within", farthest, "m;", disk.bytesWritten / 7, "bytes a day")
  }
}

@Suite struct TrackSimplificationTests {
  /// The distance of a fix from the line between two others on a plane.
  static func distanceMetres(_ fix: QueuedFix, _ a: QueuedFix, _ b: QueuedFix) -> Double {
    func place(_ point: QueuedFix) -> (Double, Double) {
      (
        (point.longitudeDegrees - a.longitudeDegrees) * 74_400,
        (point.latitudeDegrees - a.latitudeDegrees) * 111_195
      )
    }
    let (end, point) = (place(b), place(fix))
    let square = end.0 * end.0 + end.1 * end.1
    let part = square == 0 ? 0 : min(1, max(0, (point.0 * end.0 + point.1 * end.1) / square))
    let (east, north) = (point.0 - part * end.0, point.1 - part * end.1)
    return (east * east + north * north).squareRoot()
  }

  /// The distance of a point from a line between two others using small steps along it.
  private func distance(_ fix: QueuedFix, _ a: QueuedFix, _ b: QueuedFix) -> Double {
    (0...400).map { step in
      let part = Double(step) / 400
      let point = Coordinate(
        latitudeDegrees: a.latitudeDegrees + part * (b.latitudeDegrees - a.latitudeDegrees),
        longitudeDegrees: a.longitudeDegrees + part * (b.longitudeDegrees - a.longitudeDegrees))
      return Geodesic.distanceMetres(
        point, Coordinate(latitudeDegrees: fix.latitudeDegrees, longitudeDegrees: fix.longitudeDegrees))
    }.min() ?? .infinity
  }

  @Test("Each fix that is left out is within the tolerance of the track that stays") func tolerance() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<30 {
      var east = 0.0
      let fixes = (0..<200).map { second -> QueuedFix in
        east += Double.random(in: -8...8, using: &random)
        return walkFix(second * 5, east: east)
      }
      let kept = TrackSimplification.kept(fixes, toleranceMetres: 12)
      #expect(kept.first == 0 && kept.last == 199 && kept.count < 200)
      for (first, last) in zip(kept, kept.dropFirst()) {
        for index in first..<last { #expect(distance(fixes[index], fixes[first], fixes[last]) <= 12.5) }
      }
    }
  }

  @Test("Requested fixes and crossings stay") func important() {
    var fixes = (0..<50).map { walkFix($0) }
    fixes[20].trigger = .request
    fixes[30].trigger = .entry
    #expect(TrackSimplification.kept(fixes, toleranceMetres: 100) == [0, 20, 30, 49])
    #expect(
      TrackSimplification.kept([], toleranceMetres: 1) == []
        && TrackSimplification.kept([walkFix(0)], toleranceMetres: 1) == [0])
  }
}

@Suite("The files of a queue")
struct QueueStorageTests {
  @Test("Files in memory have the content of the same files in a folder, after any calls")
  func memory() throws {
    let folder = try TemporaryFolder()
    var disk: any QueueStorage = QueueFolder(path: "\(folder.path)/queue")
    var memory: any QueueStorage = MemoryStorage()
    var random = SeededRandomNumberGenerator(seed: 7)
    for _ in 0..<500 {
      let name = ["a", "b", "c"].randomElement(using: &random)!
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let exists = memory.names().contains(name)
      switch Int.random(in: 0...4, using: &random) {
      case 0, 1:
        try disk.append(bytes, to: name)
        try memory.append(bytes, to: name)
      case 2:
        try disk.replace(name, with: bytes)
        try memory.replace(name, with: bytes)
      case 3 where exists:
        let count = Int.random(in: 0...(try memory.read(name).count), using: &random)
        try disk.truncate(name, to: count)
        try memory.truncate(name, to: count)
      case 4 where exists:
        try disk.remove(name)
        try memory.remove(name)
      default: continue
      }
      if memory.names().contains(name) {
        disk.sync(name)
        memory.sync(name)
      }
      #expect(disk.names().sorted() == memory.names())
      for name in memory.names() {
        #expect(try disk.read(name) == memory.read(name))
        let (offset, count) = (Int.random(in: 0...50, using: &random), Int.random(in: 0...50, using: &random))
        #expect(try disk.read(name, from: offset, count: count) == memory.read(name, from: offset, count: count))
      }
    }
  }
}
