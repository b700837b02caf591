// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import Messages
import ReceiverRuntime
import SystemPackage

/// The status of `sextant uplink` for the page, by the control socket that `sextant uplink status` uses. Nothing waits for it: one
/// round connects, and a later one reads the line.
struct UplinkStatus: ~Copyable {
  /// The members of the status that the page shows.
  private static let members = [
    "connected", "queued", "oldestSeconds", "sent", "acknowledged", "thinned", "dropped", "bytesToday", "lastSuccess",
    "lastError",
  ]

  private let paths: [String]
  private var socket: UnixSocket?
  private var answer: [UInt8] = []
  private var isShown = false

  /// - Parameter paths: the control sockets, in the order of preference.
  init(paths: [String] = Self.paths) { self.paths = paths }

  /// The queue of this user, and that of the unit, whose folder is open to root alone.
  private static var paths: [String] {
    let own = StateFolder.path(isRoot: geteuid() == 0, environment)
    return [own, "/var/lib/sextant-uplink"].compactMap { folder in folder.map { "\($0)/uplink/control" } }
  }

  /// Returns the event of a status that has come: an empty object if the program has ended.
  mutating func work() -> LiveEvent? {
    guard socket != nil else {
      for path in paths {
        socket = try? UnixSocket(connectingTo: path)
        if socket != nil { return nil }
      }
      return ended()
    }
    guard let text = read() else { return nil }
    socket = nil
    defer { answer = [] }
    guard let status = try? JSON(parsing: text), status.isObject, let json = try? Self.shown(status).text() else {
      return ended()
    }
    isShown = true
    return LiveEvent(.uplink, json: json)
  }

  private mutating func ended() -> LiveEvent? {
    guard isShown else { return nil }
    isShown = false
    return LiveEvent(.uplink, json: Array("{}".utf8))
  }

  /// Returns the line when it is complete, also if it is empty; nil before.
  private mutating func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while let transfer = socket?.read(into: &buffer) {
      guard case .bytes(let count) = transfer else {
        if case .wouldWait = transfer { return nil }
        return answer
      }
      answer += buffer[..<count]
      if let end = answer.firstIndex(of: UInt8(ascii: "\n")) { return Array(answer[..<end]) }
      if answer.count > buffer.count { return [] }
    }
    return answer
  }

  private static func shown(_ status: JSON) -> JSON {
    .object(members.compactMap { name in status[name].map { JSON.Member(name, $0) } })
  }
}
