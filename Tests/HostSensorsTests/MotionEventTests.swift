// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocationService
import MonotonicTime
import Testing

@Suite("An accelerometer that reports movement by itself")
struct MotionEventTests {
  private let gravity = SIMD3(0.1, -0.2, 9.8)

  @Test(
    "The rate of change is used, or the magnitude without gravity, but not a plain threshold, which includes gravity")
  func kinds() throws {
    let scale = 0.0096
    let roc = try #require(
      MotionEvents(
        files: [
          "in_accel_x_roc_rising_en", "in_accel_y_roc_rising_en", "in_accel_z_roc_rising_en",
          "in_accel_roc_rising_value",
          "in_accel_roc_rising_period", "in_accel_mag_adaptive_rising_en", "in_accel_mag_adaptive_rising_value",
        ], scale: scale))
    #expect(
      roc.writes.map { "\($0.file)=\($0.text)" } == [
        "in_accel_roc_rising_value=36", "in_accel_x_roc_rising_en=1", "in_accel_y_roc_rising_en=1",
        "in_accel_z_roc_rising_en=1",
      ])
    #expect(roc.undoing.allSatisfy { $0.text == "0" } && roc.undoing.count == 3)
    let adaptive = MotionEvents(
      files: ["in_accel_x&y&z_mag_adaptive_rising_en", "in_accel_mag_adaptive_rising_value"], scale: -scale)
    #expect(adaptive?.writes.first?.text == "36")
    #expect(
      MotionEvents(files: ["in_accel_x_thresh_rising_en", "in_accel_x_thresh_rising_value"], scale: scale) == nil)
    #expect(MotionEvents(files: ["in_accel_x_roc_rising_en"], scale: scale) == nil, "without a threshold")
    #expect(MotionEvents(files: ["in_accel_x_roc_rising_en", "in_accel_roc_rising_value"], scale: 0) == nil)
    #expect(MotionEvents(files: [], scale: scale) == nil)
  }

  @Test("There are no measurements without an event, and none from ten seconds after one on")
  func idle() {
    var watch = AlertWatch(at: instant(0))
    #expect(watch.deadline == instant(0))
    var moved = watch.receive(gravity, at: instant(0))
    #expect(!moved && watch.deadline == nil)
    watch.changed(at: instant(3600))
    var measurements = 0
    while let due = watch.deadline {
      moved = watch.receive(gravity + SIMD3(measurements == 0 ? 2 : 0, 0, 0), at: due)
      #expect(!moved, "a slammed door")
      measurements += 1
    }
    #expect(measurements == 11)
  }

  @Test("A vehicle that drives off is noticed two seconds after the event, whatever the number of events")
  func drives() {
    var watch = AlertWatch(at: instant(0))
    _ = watch.receive(gravity, at: instant(0))
    watch.changed(at: instant(100))
    watch.changed(at: instant(100.1))
    var at = instant(100)
    var moved = false
    for _ in 0..<4 where !moved {
      guard let due = watch.deadline else { break }
      at = due
      watch.changed(at: at)
      moved = watch.receive(gravity + SIMD3(0.9, 0, 0.4), at: at)
    }
    #expect(moved && at.seconds(since: instant(100)) <= 2)
  }

  @Test("A driver's files are written, its events read, and all is switched off at the end")
  func driverFiles() throws {
    let folder = try Folder()
    for (name, text) in [
      ("name", "bmc150"), ("in_accel_x_raw", "10"), ("in_accel_y_raw", "-20"), ("in_accel_z_raw", "1000"),
      ("in_accel_scale", "0.0096"), ("events/in_accel_x_roc_rising_en", "0"), ("events/in_accel_roc_rising_value", "5"),
    ] { folder.write("bus/iio/devices/iio:device3/\(name)", text) }
    let found = try #require(SensorTree(root: folder.path).first(.acceleration))
    var ends: [Int32] = [0, 0]
    let made = unsafe pipe(&ends)
    #expect(made == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
    defer { close(ends[1]) }
    var opened = ""
    do {
      let readEnd = ends[0]
      let made = MotionEventSource(found) { name in
        opened = name
        return readEnd
      }
      let source = try #require(made)
      #expect(opened == "iio:device3")
      #expect(folder.text(of: "bus/iio/devices/iio:device3/events/in_accel_x_roc_rising_en") == "1")
      #expect(folder.text(of: "bus/iio/devices/iio:device3/events/in_accel_roc_rising_value") == "36")
      let event = [UInt8](repeating: 7, count: 16)
      let written = unsafe event.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, 16) }
      #expect(written == 16)
      #expect(source.drain())
      #expect(source.drain(), "nothing more, and still there")
    }
    #expect(folder.text(of: "bus/iio/devices/iio:device3/events/in_accel_x_roc_rising_en") == "0")
    let none = MotionEventSource(found) { _ in -ENODEV }
    #expect(none == nil)
  }
}
