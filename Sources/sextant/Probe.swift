import ArgumentParser
import GPSDJSON
import Hotplug
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream
import SerialPort

/// `sextant probe`: who a receiver is and what it can do.
struct Probe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "Find out who a receiver is.",
    discussion: """
      Finds the baud rate, then asks a u-blox receiver for its version and its id. Nothing is changed at the receiver. \
      The exit code is 0 for each receiver that is heard, 69 when none is.
      """)

  @Option(help: "The receiver's device; without it GNSS_DEVICE, or the first receiver that is plugged in.")
  var device: String?

  @Option(help: "The line's rate, in baud; no other is tried.")
  var baud: UInt32?

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Send not one byte to the receiver: only what it says by itself is known.")
  var readOnly = false

  @Option(help: "Give up after this many seconds.")
  var seconds = 15.0

  func validate() throws {
    if !(seconds > 0 && seconds < 1e6) { throw ValidationError("--seconds is a time above 0.") }
    if baud == 0 { throw ValidationError("--baud is a rate such as 9600; leave it out to have it found.") }
  }

  func run() throws {
    let choice = try Source.chosen(named: device, for: .listening)
    let source = choice.source
    var settings = SessionSettings(intent: readOnly || choice.isReadOnly ? .readOnly : .identify, line: .serial)
    settings.desired = { _ in .nothing }
    // A look changes nothing.
    settings.maySwitchUBXOn = false
    let client = ProbeClient(source, baud: baud ?? choice.baud, isReadOnly: readOnly || choice.isReadOnly)
    var loop = try ReceiverLoop(source, settings, baud: baud ?? choice.baud, seconds: seconds, client: client)
    try loop.run()
    guard let answer = loop.client.answer else {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: "\(loop.client.path): "
          + (loop.isInterrupted
            ? "interrupted before a receiver was heard"
            : "no receiver was heard; check power, wiring (RX to TX) and the device's name"))
    }
    try Output.write(json ? answer.json() : answer.lines())
  }
}

/// Waits until the receiver is known.
private struct ProbeClient: ReceiverClient, ~Copyable {
  let path: String
  private(set) var answer: ProbeAnswer?
  private let baud: UInt32?
  private var patience: ProbePatience

  init(_ source: Source, baud: UInt32?, isReadOnly: Bool) {
    path = if case .device(let path) = source { path } else { "built-in simulator" }
    self.baud = baud
    patience = ProbePatience(asks: !isReadOnly)
  }

  var deadline: Instant? { patience.deadline }

  mutating func receive(_ report: borrowing EpochAssembler.Report, _ sky: borrowing Sky, at now: Instant) {}

  mutating func receive(
    _ event: ReceiverConnection.Event, _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) {
    switch event {
    case .session(.identified), .session(.notIdentified): patience.isIdentified = true
    case .session(.adviseOnSilence), .lost:
      if let text = text(of: event, path: path, baud: baud) { printNotice(text) }
    default: break
    }
  }

  mutating func finishRound(
    _ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant
  ) throws -> Bool {
    let counters = connection.counters
    guard counters.frames > 0, connection.isHeard || answer != nil else { return false }
    var protocols: [String] = []
    if counters.ubxFrames > 0 { protocols.append("UBX") }
    if counters.nmeaFrames > 0 { protocols.append("NMEA") }
    if counters.rtcm3Frames > 0 { protocols.append("RTCM3") }
    answer = ProbeAnswer(
      device: path, baud: connection.rate, protocols: protocols, description: connection.description)
    return patience.isOver(counters, at: now)
  }

  mutating func resize() {}
}

/// What a probe found.
struct ProbeAnswer {
  var device: String
  var baud: UInt32?
  var protocols: [String]
  var description: ReceiverDescription?

  /// The contract's object, one line.
  func json() -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: device)
    line.name("baud")
    if let baud { line.integer(Int64(baud)) } else { line.null() }
    list("protocols", protocols, &line)
    member("vendor", description == nil ? nil : "u-blox", &line)
    member("model", description?.model, &line)
    member("firmware", description?.firmware, &line)
    member("generation", description?.generation?.rawValue, &line)
    member("protocolVersion", description?.protocolVersionText, &line)
    member("hardware", description?.hardware, &line)
    member("uniqueId", uniqueID, &line)
    list("capabilities", description?.capabilities.map(\.rawValue) ?? [], &line)
    line.endObject()
    line.endLine()
    return line.text
  }

  /// For people.
  func lines() -> String {
    var rows = [
      ("device", device), ("baud", baud.map { String($0) } ?? "none"), ("protocols", protocols.joined(separator: ", ")),
    ]
    if let description {
      rows.append(("vendor", "u-blox"))
      rows.append(("model", description.model ?? "not told"))
      rows.append(("firmware", description.firmware ?? "not told"))
      rows.append(("generation", description.generation?.rawValue ?? "unknown"))
      rows.append(("protocol version", description.protocolVersionText ?? "not told"))
      rows.append(("hardware", description.hardware))
      rows.append(("unique id", uniqueID ?? "none"))
      rows.append(("capabilities", description.capabilities.map(\.rawValue).joined(separator: ", ")))
    } else {
      rows.append(("vendor", "not known: it speaks, and does not say who it is"))
    }
    return rows.map { name, value in
      name + String(repeating: " ", count: max(1, 18 - name.utf8.count)) + value + "\n"
    }.joined()
  }

  private var uniqueID: String? {
    description?.uniqueID.map { bytes in
      bytes.map { (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }

  private func member(_ key: StaticString, _ value: String?, _ line: inout JSONLine) {
    if let value {
      line.field(key, text: value)
    } else {
      line.name(key)
      line.null()
    }
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
