// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import ReceiverSimulator
import SerialPort

/// The I/O loop of `sextant simulate`: it waits for the program at the other end, for the device and for the user.
struct SimulationLoop: ~Copyable {
  private var poller: Poller
  private let receiver: SimulatedReceiver
  /// The program that started this one reads the link's path, and ends this one by closing its standard input.
  private let forClient: Bool
  private let end: Instant?
  private var input = InputLines()
  private var isEnding = false

  private static var device: Poller.Token { Poller.Token(rawValue: 1) }
  private static var user: Poller.Token { Poller.Token(rawValue: 2) }

  init(_ device: any SimulatedDevice, link: String, forClient: Bool, speed: Double, seconds: Double?, now: Instant)
    throws
  {
    // Operations that can fail come first: a value that owns descriptors must not be left half initialised.
    let receiver = try Self.receiver(device, link, speed, now)
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    if InputLines.isReadable { try poller.add(InputLines.descriptor, token: Self.user) }
    try Output.write("\(forClient ? link : receiver.path ?? "")\n")
    self.init(poller, receiver, forClient: forClient, end: seconds.map { now + Milliseconds(seconds: $0) })
  }

  private init(_ poller: consuming Poller, _ receiver: SimulatedReceiver, forClient: Bool, end: Instant?) {
    self.poller = poller
    self.receiver = receiver
    self.forClient = forClient
    self.end = end
  }

  private static func receiver(
    _ device: any SimulatedDevice, _ link: String, _ speed: Double, _ now: Instant
  ) throws -> SimulatedReceiver {
    do {
      return try SimulatedReceiver(device, link: link, speed: speed, now: now)
    } catch let error as SerialPortError where !link.isEmpty && error.path == link {
      throw CommandFailure(
        .cannotCreate,
        "\(link): cannot make the link; name a --link that does not exist in a writable folder (only links to "
          + "pseudo-terminals are replaced)")
    }
  }

  mutating func run() throws {
    while !isEnding {
      let due = Instant.earlier(receiver.deadline, end)
      for event in try poller.wait(deadline: due?.nanoseconds) {
        switch event {
        case .signal: isEnding = true
        case .readable(Self.user), .hangUp(Self.user): try takeCommands()
        case .readable, .writable, .hangUp, .timeout, .woken: break
        }
      }
      let now = SystemClock.monotonic
      switch try receiver.wake(&poller, token: Self.device, at: now) {
      case .none: break
      case .unplugged where forClient, .pluggedIn where forClient: break
      case .unplugged: printNotice("unplugged")
      case .pluggedIn(let path): try Output.write("\(path)\n")
      }
      if let end, now >= end { isEnding = true }
      if let replay = receiver.device as? ReplayedDevice, replay.isFinished { isEnding = true }
      if let recording = receiver.device as? ReplayedRecording, recording.isFinished { isEnding = true }
    }
  }

  private mutating func takeCommands() throws {
    guard let lines = input.read() else {
      isEnding = isEnding || forClient
      return poller.remove(InputLines.descriptor)
    }
    for line in lines { try perform(line) }
  }

  private mutating func perform(_ line: Substring) throws {
    let words = line.split(separator: " ", maxSplits: 1)
    guard let verb = words.first else { return }
    let now = receiver.deviceTime(at: SystemClock.monotonic)
    switch verb {
    case "quit": isEnding = true
    case "status":
      guard let line = receiver.device as? VirtualLine else { return printNotice("a recording has no state") }
      try Output.write(status(line, at: now))
    case "settings":
      guard let line = receiver.device as? VirtualLine else { return printNotice("a recording has no settings") }
      try Output.write(settings(line.receiver))
    case "fault":
      guard var line = receiver.device as? VirtualLine else { return printNotice("a recording has no faults") }
      do {
        line.inject(try Fault(parsing: String(words.dropFirst().first ?? "")), at: now)
        receiver.device = line
      } catch {
        printNotice("\(error)")
      }
    default: printNotice("`\(verb)` is not a command; commands are `fault …`, `status`, `settings` and `quit`")
    }
  }

  private func settings(_ receiver: VirtualReceiver) -> String {
    var rates = receiver.sentenceRates.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    rates += receiver.correctionPeriods.sorted { $0.key < $1.key }.map { "RTCM\($0.key)=\($0.value)ms" }
    let log = receiver.logger
    return """
      settings: \(receiver.baudRate) baud, \(receiver.epochMilliseconds) ms, systems \(receiver.systems.rawValue), \
      sentences \(rates.joined(separator: ",")), logger \(log.isOn ? "on" : "off"), \(log.records) records

      """
  }

  private func status(_ line: VirtualLine, at now: Instant) -> String {
    let receiver = line.receiver
    let truth = receiver.truth(at: now)
    let charge = (receiver.chargeMilliampereSeconds / 3.6 * 1000).rounded() / 1_000_000
    return """
      \(receiver.model.rawValue): \(receiver.powerState.rawValue), \(receiver.hasFix ? "fix" : "no fix"), \
      \(receiver.baudRate) baud (host \(line.hostRate)), \(charge) mAh, batch \(receiver.batchedEpochs), \
      \(line.arrivedBytes) bytes sent
      is at \(decimal(truth.latitudeDegrees)),\(decimal(truth.longitudeDegrees)), sky \(truth.sky.rawValue)

      """
  }

  /// Returns degrees with six fraction digits.
  private func decimal(_ degrees: Double) -> String { "\((degrees * 1e6).rounded() / 1e6)" }
}
