// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import LocationService
import MonotonicTime

/// Announces the TCP sockets of NMEA through mDNS: ``ServiceAnnouncement`` decides, and this type connects, sends and
/// receives, on the service's thread. A machine without a bus has no announcement, and there is no retry.
final class NMEAAnnouncer {
  /// The type of NMEA 0183 over TCP (IANA, service names, "nmea-0183").
  static let type = "_nmea-0183._tcp"
  private static let token = Poller.Token(rawValue: (1 << 20) - 2)

  private var announcement: ServiceAnnouncement
  private var connection: BusConnection?
  /// nil on a machine without a bus.
  private var attempts: BusAttempts? = BusAttempts()
  private var isDue = true
  private let log: (String) -> Void

  /// Returns nil without a TCP socket of NMEA, and on a machine that probably has no bus.
  init?(_ listeners: [GPSDListener], log: @escaping (String) -> Void) {
    let names = listeners.filter { $0.kind == .nmea && $0.file == nil }.compactMap { SocketName(of: $0.descriptor) }
    // The sockets of both address families have the same port.
    let services = Set(names.map(\.service))
    guard !services.isEmpty, BusConnection.mayHaveSystemBus else { return nil }
    announcement = ServiceAnnouncement(Array(services), name: "Sextant on \(Self.hostName)")
    self.log = log
  }

  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "this computer" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  var deadline: Instant? { .earlier(attempts?.deadline, connection?.deadline) }

  /// Handles an event of the poller.
  func handle(_ event: Poller.Event) {
    switch event {
    case .readable(Self.token), .writable(Self.token), .hangUp(Self.token): isDue = true
    default: break
    }
  }

  /// Sends the pending messages, and handles the received ones.
  func settle(_ poller: inout Poller, at now: Instant) {
    guard isDue || deadline.map({ now >= $0 }) ?? false else { return }
    isDue = false
    if connection == nil, attempts?.begin(isNeeded: true, at: now) == true {
      connection = try? BusConnection(token: Self.token, &poller)
      if connection != nil { announcement.connected() } else { attempts?.failed(at: now) }
    }
    guard let connection else { return }
    do {
      try connection.process(
        &poller, sendAll: { try sendAll(connection) }, receive: { announcement.receive($0) })
    } catch {
      connection.close(&poller)
      self.connection = nil
      announcement.disconnected()
      attempts?.failed(at: now)
    }
  }

  private func sendAll(_ connection: BusConnection) throws(SystemBus.Failure) {
    while let output = announcement.nextOutput() {
      switch output {
      case .call(let call): try connection.send(call)
      case .log(let text): log(text)
      }
    }
  }
}

extension SocketName {
  /// A socket that is reachable only from this machine is announced only on this machine.
  fileprivate var service: ServiceAnnouncement.Service {
    ServiceAnnouncement.Service(
      type: NMEAAnnouncer.type, port: port, interface: isLoopback ? Self.loopbackInterface : nil,
      // GeoClue's key; its values are GeoClue's accuracy levels.
      text: ["accuracy=exact"])
  }
}
