// SPDX-License-Identifier: Apache-2.0
import GPSD
import Receiver

/// What was seen of a receiver after its reset.
struct ResetResult: Equatable {
  var kind: StartKind
  var mode: ResetMode
  /// Whether it is a receiver of another maker, without the masks and modes of CFG-RST.
  var isOfFamily = false
  /// The time from the reset to a reply, seconds.
  var repliedAfterSeconds = 0.0
  /// The rate of the line after the reset, baud.
  var baud: UInt32?
  /// Whether the receiver sent the texts that follow a start.
  var sawStartText = false
  /// Whether the port was gone meanwhile, as USB is at a reset of the hardware.
  var wasDisconnected = false
  /// The time since the start of the receiver (NAV-STATUS, msss), seconds.
  var uptimeSeconds: Double?
  /// Whether NAV-STATUS reports a fix within the limits.
  var hasFix: Bool?
  /// Whether orbits, or orbits and position, were removed from this computer.
  var removedAssistance = false

  /// Takes the reply to NAV-STATUS: gpsFix at 4, flags at 5 (bit 0 gpsFixOK), msss at 12.
  mutating func receive(status outcome: Outcome) {
    uptimeSeconds = Uptime.seconds(outcome)
    if case .answered(let payload) = outcome, payload.count >= 16 { hasFix = payload[4] != 0 && payload[5] & 1 != 0 }
  }

  func lines(_ device: String) -> String {
    var seen = ["reply after \(Self.text(repliedAfterSeconds)) s"]
    if let baud { seen[0] += " at \(baud) baud" }
    if wasDisconnected { seen.append("disconnected meanwhile") }
    if sawStartText { seen.append("start text") }
    if let uptimeSeconds { seen.append("\(Self.text(uptimeSeconds)) s since its start") }
    if let hasFix { seen.append(hasFix ? "has a fix" : "no fix") }
    var lines = "\(device): \(kind.rawValue) start"
    if !isOfFamily { lines += ", navBbrMask 0x\(String(kind.navBbrMask, radix: 16)), resetMode \(mode.code)" }
    lines += "\n\(seen.joined(separator: ", "))\n"
    if removedAssistance {
      lines += "the \(kind == .cold ? "position and orbits" : "orbits") that this computer had stored are removed\n"
    }
    return lines
  }

  func json(_ device: String) -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: device)
    line.field("start", text: kind.rawValue)
    if !isOfFamily {
      line.field("navBbrMask", Int64(kind.navBbrMask))
      line.field("resetMode", Int64(mode.code))
    }
    line.field("repliedAfterSeconds", repliedAfterSeconds, digits: 3)
    if let baud { line.field("baud", Int64(baud)) }
    line.field("startText", sawStartText)
    line.field("disconnected", wasDisconnected)
    line.field("uptimeSeconds", uptimeSeconds, digits: 3)
    if let hasFix { line.field("fix", hasFix) }
    line.field("assistanceRemoved", removedAssistance)
    line.endObject()
    line.endLine()
    return line.text
  }

  private static func text(_ seconds: Double) -> String {
    var line = JSONLine()
    line.decimal(seconds, digits: 1)
    return line.text
  }
}
