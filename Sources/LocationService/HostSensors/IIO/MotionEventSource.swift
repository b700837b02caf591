// SPDX-License-Identifier: Apache-2.0

// The descriptor of an accelerometer's events. `unsafe` because the calls of the C library take pointers; each refers
// to memory that a value in this file owns, and does not escape the call.
import CLinux
import Glibc
import LinuxIO

/// An accelerometer that reports movements on its own, as long as the object exists.
package final class MotionEventSource: Sendable {
  /// Readable after an event.
  package let fileDescriptor: Int32
  private let folder: String
  private let events: MotionEvents

  /// - Parameters:
  ///   - found: the accelerometer.
  ///   - open: opens the events of a device with a given name (`iio:device0`). Returns a descriptor, or the negative
  ///     errno.
  /// - Returns: nil if the driver has no such events, or this user may not use them.
  package init?(_ found: SensorTree.Found, opening open: (String) -> Int32 = MotionEventSource.openEvents) {
    folder = "\(found.path)/events"
    guard let events = MotionEvents(files: FileLookup.names(in: folder), scale: found.sensor.step)
    else { return nil }
    self.events = events
    let name = found.path.split(separator: "/").last.map(String.init) ?? ""
    fileDescriptor = open(name)
    guard fileDescriptor >= 0 else { return nil }
    do {
      for write in events.writes { try AttributeFile.write(write.text, to: "\(folder)/\(write.file)") }
    } catch {
      return nil
    }
  }

  deinit {
    for write in events.undoing { try? AttributeFile.write(write.text, to: "\(folder)/\(write.file)") }
    if fileDescriptor >= 0 { close(fileDescriptor) }
  }

  /// Discards the events. Returns false if the device was removed.
  package func drain() -> Bool {
    // struct iio_event_data: the event and its time.
    var buffer = [UInt8](repeating: 0, count: 16 * 16)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(fileDescriptor, $0.baseAddress, $0.count) }
      if count > 0 { continue }
      return count < 0 && (errno == EAGAIN || errno == EINTR)
    }
  }

  /// Opens the events of a device under /dev. Returns a descriptor, or the negative errno.
  package static func openEvents(_ name: String) -> Int32 {
    let device = unsafe Glibc.open("/dev/\(name)", O_RDONLY | O_CLOEXEC)
    guard device >= 0 else { return -errno }
    defer { close(device) }
    return ciio_open_events(device)
  }
}
