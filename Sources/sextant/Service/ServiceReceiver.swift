// SPDX-License-Identifier: Apache-2.0

import LinuxIO
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import SystemPackage
import WireBytes

/// A receiver of the location service, for a command.
struct ServiceReceiver: Equatable {
  /// The line of the receiver: its bytes, or the line itself.
  let provider: any LineProvider
  /// Whether the service passes on the bytes, and nothing can be sent.
  let isServed: Bool
  /// The crash-recovery record of the line, which the service stores.
  var recovery: CrashRecoveryFile?

  static func == (one: ServiceReceiver, other: ServiceReceiver) -> Bool { one.provider === other.provider }

  /// Chooses the service's receiver for a command; nil if the command opens its device itself.
  ///
  /// - Parameters:
  ///   - named: the device of the command line.
  ///   - isDemo: whether the built-in simulator may be used.
  static func chosen(named: String?, isDemo: Bool, for use: Source.Use) throws -> Source.Choice? {
    if isDemo || named.map(isOutsideService) == true { return nil }
    let choice = ServiceChoice(
      // `--device` has precedence over GNSS_DEVICE.
      { $0 == "GNSS_DEVICE" && named != nil ? nil : environment($0) },
      isServed: accepts)
    guard case .daemon(let path) = choice else { return nil }
    if use == .sending { try Source.refuseReadOnly() }
    // The service may run in another folder.
    let device = named.map { FileLookup.resolved($0) ?? $0 }
    let found = try connect(to: path, device, isNamed: named != nil, for: use)
    guard let found else { return nil }
    let name = named ?? found.device
    if named == nil { printNotice("receiver of the location service: \(name.isEmpty ? "none yet" : name)") }
    var source = Source.Choice(source: .device(name), note: nil)
    source.service = found.receiver
    return source
  }

  /// Whether a device never is one of the service.
  private static func isOutsideService(_ name: String) -> Bool {
    if name == "-" { return true }
    return switch try? LineAddress(name) {
    case .replay?, .simulator?, nil: true
    case .port?, .i2c?, .network?: false
    }
  }

  private static func accepts(_ path: String) -> Bool { (try? UnixSocket(connectingTo: path)) != nil }

  /// Waits for a service that starts again. A connection to one that does not reports the reason.
  private static func wait(for path: String) throws {
    if accepts(path) { return }
    printNotice("\(path): waiting for the location service")
    var poller = try Poller()
    let limit = SystemClock.monotonic + ServiceClient.timeout
    while !accepts(path), SystemClock.monotonic < limit {
      _ = try poller.wait(deadline: (SystemClock.monotonic + Milliseconds(100)).nanoseconds)
    }
  }

  /// Returns nil if the service does not have the device that the user named, or does not run.
  private static func connect(
    to path: String, _ device: String?, isNamed: Bool, for use: Source.Use
  ) throws -> (receiver: ServiceReceiver, device: String)? {
    if isNamed {
      guard accepts(path) else { return nil }
    } else {
      try wait(for: path)
    }
    switch use {
    case .listening:
      let line = ServedLine(socket: path, device: device)
      guard try line.connect(isNamed: isNamed) else { return nil }
      return (ServiceReceiver(provider: line, isServed: true), line.device)
    case .sending:
      guard let lent = try LentReceiver.wait(socket: path, device: device) else { return nil }
      return (ServiceReceiver(provider: lent, isServed: false, recovery: lent.recovery), lent.device)
    }
  }
}
