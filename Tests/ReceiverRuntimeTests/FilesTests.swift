// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverStream
import SerialPort
import TestSupport
import Testing

@testable import ReceiverRuntime

@Suite("Stored files, and replayed files")
struct FilesTests {
  private static func temporary(_ name: String) -> String {
    "/tmp/sextant-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))-\(name)"
  }
  private func at(_ milliseconds: UInt64) -> Instant { Instant.zero + Milliseconds(milliseconds) }

  /// All bytes that a line has available at a time.
  private func read(_ line: ReplayLine, at now: Instant) throws -> (bytes: [UInt8], isAtEnd: Bool) {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64)
    while true {
      var span = buffer.mutableSpan
      var room = unsafe span.mutableBytes
      switch try line.read(into: &room, at: now) {
      case .bytes(let count): all += buffer[..<count]
      case .wouldBlock: return (all, false)
      case .endOfInput: return (all, true)
      }
    }
  }

  private func write(_ bytes: [UInt8], to path: String) {
    let stream = unsafe fopen(path, "w")
    _ = unsafe bytes.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, stream) }
    _ = unsafe fclose(stream)
  }

  @Test("A crash-recovery record is read by the next program until it is cleared; a damaged file is treated as missing")
  func recovery() throws {
    let folder = Self.temporary("state")
    let (line, other) = ("/dev/ttyUSB0", "/dev/ttyUSB1")
    let first = CrashRecoveryFile(stateFolder: folder, line: line)
    #expect(first.recovery == nil)
    let recovery = CrashRecoveryRecord(rate: 115_200, foundRate: 9600)
    try first.save(recovery)
    #expect(CrashRecoveryFile(stateFolder: folder, line: line).recovery == recovery)
    #expect(CrashRecoveryFile(stateFolder: folder, line: other).recovery == nil)
    write(Array("rate 1152".utf8), to: "\(folder)/receivers/_dev_ttyUSB1.txt")
    #expect(CrashRecoveryFile(stateFolder: folder, line: other).recovery == nil)
    first.clear()
    #expect(CrashRecoveryFile(stateFolder: folder, line: line).recovery == nil)
    UserFile.remove("\(folder)/receivers/_dev_ttyUSB1.txt")
    _ = unsafe rmdir("\(folder)/receivers")
    _ = unsafe rmdir(folder)
  }

  @Test("A recording is played at its times, at a speed, and ends")
  func replay() throws {
    let path = Self.temporary("walk.sxr")
    defer { UserFile.remove(path) }
    let first = Wire.nmea("GPZDA,120000.00,01,06,2026,00,00")
    let second = [UInt8](repeating: 0x55, count: 200)
    var writer = RecordingWriter(capacity: 100_000)
    func arrival(_ milliseconds: UInt64) -> Arrival {
      Arrival(at(milliseconds), utcNanoseconds: 1_780_000_000_000_000_000)
    }
    _ = writer.add(.header, text: RecordingHeader(device: "/dev/ttyACM0", baud: 9600).text, arrival(0))
    _ = writer.add(.data, first.raw, arrival(1000))
    _ = writer.add(.data, second.raw, arrival(5000))
    write(array(writer.pending), to: path)

    let line = try ReplayLine(opening: path, .times(2), at: at(0))
    var received: [UInt8] = []
    var times: [UInt64] = []
    var now = at(0)
    for _ in 0..<20 {
      let (bytes, isAtEnd) = try read(line, at: now)
      if !bytes.isEmpty {
        received += bytes
        times.append(now.milliseconds(since: at(0)))
      }
      if isAtEnd { break }
      now = try #require(line.deadline)
    }
    #expect(received == first + second)
    // Four seconds apart, at twice the speed.
    #expect(times.count == 2 && times.last! - times.first! == 2000, "\(times)")
  }

  @Test("A path that is neither a recording nor a file is refused")
  func noFile() {
    #expect(throws: SerialPortError.self) { try ReplayLine(opening: "/dev/null", .times(1), at: .zero) }
    #expect(throws: SerialPortError.self) { try ReplayLine(opening: "/nonexistent", .times(1), at: .zero) }
  }

  @Test("A record about a receiver is read again; parts that a new record lacks are kept")
  func assistance() throws {
    let folder = Self.temporary("state")
    let store = try #require(AssistanceStore(folder))
    #expect(store.records().isEmpty)
    let version =
      [UInt8]("EXT CORE 3.01 (107900)".utf8) + [UInt8](repeating: 0, count: 8) + Array("00080000".utf8) + [0, 0]
    let receiver = try #require(ReceiverDescription(monVER: version))
    let now = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000)
    var record = AssistanceRecord(key: AssistanceRecord.Key(receiver))
    record.place = AssistanceRecord.Place(
      latitudeDegrees: 48.125, longitudeDegrees: 11.5, heightMetres: 520, accuracyMetres: 4, time: now)
    store.save(record, at: now)
    #expect(store.records().map(\.place) == [record.place])
    // The next run has no fix.
    store.save(AssistanceRecord(key: record.key), at: now)
    #expect(store.records().map(\.place) == [record.place])
    // Broadcast ephemerides and RINEX files are in the same folder, and are not records.
    store.save(EphemerisStock(), at: now)
    try UserFile.replace(folder + "/assistance/brdc1480.26n", with: "")
    #expect(store.records().count == 1 && store.ephemerides().isEmpty)
    #expect(store.navigationFiles() == [folder + "/assistance/brdc1480.26n"])
    UserFile.remove(folder + "/assistance/brdc1480.26n")
    UserFile.remove(folder + "/assistance/broadcast.ephemerides")
    // A damaged file counts as having no record.
    let file = folder + "/assistance/" + record.key.fileName + ".txt"
    try UserFile.replace(file, with: "what is this")
    #expect(store.records().isEmpty)
    UserFile.remove(file)
    _ = unsafe rmdir(folder + "/assistance")
    _ = unsafe rmdir(folder)
  }

  @Test("A folder that cannot be written is ignored")
  func readOnlyPlace() {
    let store = AssistanceStore("/proc/sextant")
    #expect(store?.records().isEmpty == true)
    #expect(AssistanceStore(nil) == nil)
  }
}
