// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GPSD
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort
import WireBytes

/// `sextant probe`: identifies a receiver.
struct Probe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "Identify a receiver.",
    discussion: """
      Finds the baud rate, then polls the receiver for its version: as a u-blox one, then as one of each other family, until \
      one poll has a reply. It changes nothing that lasts. The exit code is 0 for each receiver that sends frames, and 69 \
      otherwise.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Send no byte to the receiver. Only its own messages are evaluated.")
  var readOnly = false

  @Option(help: "End without a result after this many seconds.")
  var seconds = 25.0

  @Argument(
    help: "The device of the receiver, as of --device.", completion: .custom { _, _, _ in DeviceCompletion.words })
  var place: String?

  mutating func validate() throws {
    try receiver.use(place: place)
    try ReceiverOptions.check(seconds: seconds, below: 1e6)
  }

  func run() throws {
    let choice = try receiver.choose(for: .listening)
    let isReadOnly = readOnly || choice.isReadOnly
    var settings = SessionSettings(intent: isReadOnly ? .readOnly : .identify, line: .serial)
    settings.desired = { _ in .nothing }
    settings.maySwitchUBXOn = false
    let client = ProbeClient(choice, isReadOnly: isReadOnly)
    var loop = try ReceiverLoop(choice, settings, seconds: seconds, client: client)
    try loop.run()
    guard let result = loop.client.result else {
      let reason =
        loop.isInterrupted
        ? "interrupted before a receiver was found"
        : loop.client.fault.map { "no receiver was found: \($0)" }
          ?? "no receiver was found; check power, wiring (RX to TX) and the name of the device"
      throw CommandFailure(.unavailable, "\(loop.client.path): \(reason)")
    }
    try Output.write(json ? result.json() : result.lines())
  }
}

/// Waits until the receiver is identified.
private struct ProbeClient: ReceiverClient, ~Copyable {
  let path: String
  private(set) var result: ProbeResult?
  /// The diagnosis of a line without a frame, from its bytes; nil if they show nothing.
  private(set) var fault: String?
  private let baud: UInt32?
  private var completion: ProbeCompletion

  init(_ choice: Source.Choice, isReadOnly: Bool) {
    path = choice.source.name
    baud = choice.baud
    completion = ProbeCompletion(polls: !isReadOnly)
  }

  var deadline: Instant? { completion.deadline }

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .session(.identified), .session(.notIdentified): completion.isIdentified = true
    case .lost: completion.restart()
    case .session(.adviseOnSilence), .session(.warned):
      if let text = event.notice(path: path, baud: baud, bytes: connection.bytesOfLine, connection.counters) {
        printNotice(text)
      }
    default: break
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    let counters = connection.counters
    fault = RecordingFault.fault(counters, bytes: connection.bytesOfLine)
    // A receiver of another maker may send nothing but replies.
    let hasReplied = connection.family != nil && connection.description?.family != nil
    guard hasReplied || counters.frames > 0 && (connection.isDetected || result != nil) else { return false }
    var protocols: [String] = []
    if counters.ubxFrames > 0 { protocols.append("UBX") }
    // The end restores what a killed program changed.
    if connection.sendsNMEAAfterEnd ?? (counters.nmeaFrames > 0) { protocols.append("NMEA") }
    if counters.rtcm3Frames > 0 { protocols.append("RTCM3") }
    result = ProbeResult(
      device: path, baud: connection.configuredRate, protocols: protocols,
      family: connection.family, description: connection.description)
    return completion.update(counters, hasReplied: hasReplied, at: now)
  }
}

/// The result of a probe.
struct ProbeResult {
  var device: String
  var baud: UInt32?
  var protocols: [String]
  /// The family of another maker's receiver, also where it does not reply.
  var family: ReceiverFamily?
  var description: ReceiverDescription?

  /// Returns the object of docs/reference/json.md, one line.
  func json() -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: device)
    line.name("baud")
    if let baud { line.integer(Int64(baud)) } else { line.null() }
    list("protocols", protocols, &line)
    line.field("vendor", textOrNull: description?.vendor ?? family?.vendor)
    line.field("model", textOrNull: description?.model)
    line.field("firmware", textOrNull: description?.firmware)
    line.field("generation", textOrNull: description?.generation?.rawValue)
    line.field("protocolVersion", textOrNull: description?.protocolVersionText)
    line.field("hardware", textOrNull: description.flatMap { $0.hardware.isEmpty ? nil : $0.hardware })
    line.field("uniqueId", textOrNull: uniqueID)
    list("capabilities", description?.capabilities.map(\.rawValue) ?? [], &line)
    line.endObject()
    line.endLine()
    return line.text
  }

  /// Returns text for the user.
  func lines() -> String {
    let shown = protocols.isEmpty ? "none" : protocols.joined(separator: ", ")
    var rows = [
      ("device", device), ("baud", baud.map { String($0) } ?? "none"), ("protocols", shown),
    ]
    if let description {
      rows.append(("vendor", description.vendor))
      rows.append(("model", description.model ?? "not reported"))
      rows.append(("firmware", description.firmware ?? "not reported"))
      if description.family == nil {
        rows.append(("generation", description.generation?.rawValue ?? "unknown"))
        rows.append(("protocol version", description.protocolVersionText ?? "not reported"))
        rows.append(("hardware", description.hardware))
        rows.append(("unique id", uniqueID ?? "none"))
      }
      rows.append(("capabilities", description.capabilities.map(\.rawValue).joined(separator: ", ")))
    } else if let family {
      rows.append(("vendor", "\(family.vendor), by its messages: it does not reply"))
    } else {
      rows.append(("vendor", "unknown: the receiver does not identify itself"))
    }
    return rows.map { name, value in
      name + String(repeating: " ", count: max(1, 18 - name.utf8.count)) + value + "\n"
    }.joined()
  }

  private var uniqueID: String? {
    description?.uniqueID?.hexadecimalDigits
  }

  private func list(_ key: StaticString, _ values: [String], _ line: inout JSONLine) {
    line.beginArray(key)
    for value in values {
      line.nextElement()
      line.string(value.utf8)
    }
    line.endArray()
  }
}

/// Decides when a probe is complete.
struct ProbeCompletion {
  /// An epoch of the slowest usual rate, in which a receiver sends each of its protocols.
  static let epoch = Milliseconds(1500)

  /// Whether the receiver is identified, or the identification has failed.
  var isIdentified = false
  private let polls: Bool
  private var firstFrameAt: Instant?
  private var isEpochOver = false

  /// - Parameter polls: whether the receiver is polled for its identity.
  init(polls: Bool) { self.polls = polls }

  /// Begins again, with the next receiver.
  mutating func restart() { self = ProbeCompletion(polls: polls) }

  /// When to check again without an event; nil while only a reply can complete the probe.
  var deadline: Instant? { isEpochOver ? nil : firstFrameAt.map { $0 + Self.epoch } }

  /// Takes what was received so far. Returns whether the probe is over.
  ///
  /// - Parameters:
  ///   - counters: the frames received so far.
  ///   - hasReplied: whether a receiver replied in a protocol without such frames.
  ///   - now: the time.
  mutating func update(_ counters: StreamCounters, hasReplied: Bool = false, at now: Instant) -> Bool {
    guard counters.frames > 0 || hasReplied else { return false }
    if firstFrameAt == nil { firstFrameAt = now }
    // UBX and NMEA together are the usual protocols; others are not waited for.
    if isIdentified, counters.ubxFrames > 0, counters.nmeaFrames > 0 { return true }
    if let deadline, now >= deadline { isEpochOver = true }
    return isEpochOver && (isIdentified || !polls)
  }
}
