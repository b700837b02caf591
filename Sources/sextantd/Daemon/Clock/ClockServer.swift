// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import Receiver
import ReceiverRuntime
import ReceiverStream
import SystemPackage

/// Serves the time of the first receiver to the computer's time daemons, on the service's thread.
final class ClockServer {
  /// The program of the host that represents the clock. It does not need locations.
  private final class ClockProgram: ProgramReceiver {
    func perform(_ action: ProgramAction) {}
  }

  private static let manager = ClientID(0)
  /// The time between attempts to open the source of pulses.
  private static let retry = Milliseconds(10_000)
  /// The time between polls of the announced leap second.
  private static let leapPoll = Milliseconds(3_600_000)
  /// The age at which a source counts as absent.
  static let freshSeconds = 10.0

  let host: ServiceHost
  private let policy: DaemonPolicy
  private var policyRevision = 0
  private(set) var schedule = ClockSchedule()
  private var receipts = EpochReceipts()
  private(set) var reference = ClockReference()
  private var program: ProgramID?
  private(set) var outputs: ClockOutputs?
  private(set) var receiver: ReceiverStatus?
  private(set) var pulses: PulseSource?
  private var shape = PulseShape()
  private var nextAttempt: Instant?
  private var lastComplaint: String?
  private var nextLeapPoll: Instant?
  private var bytesToSend: [[UInt8]] = []
  /// Receives each sample, with the node of its receiver.
  private let publish: (TimeSample, String) -> Void

  init(_ host: ServiceHost, _ policy: DaemonPolicy, publish: @escaping (TimeSample, String) -> Void) {
    self.host = host
    self.policy = policy
    self.publish = publish
  }

  var deadline: Instant? { schedule.deadline }

  /// Whether samples are made from the received messages and pulses.
  var isServing: Bool { schedule.policy != .off && receiver != nil }
  /// Whether samples are made from the messages of a receiver: only the first one's are used.
  func serves(_ number: Int) -> Bool { isServing && number == 0 }

  // MARK: Inputs

  func receive(_ bytes: RawSpan, of number: Int) {
    guard serves(number), let receiver else { return }
    let raw = SystemClock.raw
    for event in receipts.receive(bytes, at: raw, secondsPerByte: receiver.secondsPerByte, utc: reference.utc) {
      reference.receive(event)
    }
  }

  func receive(_ report: borrowing EpochAssembler.Report, of number: Int, at now: Instant) {
    guard serves(number), !report.isUpdate, let utc = report.fix.time,
      let firstByte = receipts.firstByte(of: utc, leapSeconds: report.fix.leapSeconds)
    else { return }
    let fix = report.fix
    let epoch = ClockReference.Epoch(
      utc: utc, firstByte: firstByte,
      isResolved: fix.source >= .ubx || fix.kind == .timeOnly
        ? fix.timeIsResolved && fix.kind != .none : fix.hasPosition,
      accuracySeconds: fix.timeAccuracySeconds, leapSeconds: fix.leapSeconds)
    if let sample = reference.receive(epoch, at: .now()) { deliver(sample, at: now) }
    pollLeapSecond(at: now)
  }

  private func takePulses(at now: Instant) {
    guard let pulses else { return }
    let (edges, failure) = pulses.take()
    for edge in edges where shape.take(edge.edge, atNanoseconds: edge.time.nanosecondsSince1970) {
      if let sample = reference.receive(Pulse(edge: edge.time, reading: edge.reading)) { deliver(sample, at: now) }
    }
    if let failure {
      complain("\(pulses.path): \(failure); the pulses have ended, and the time comes from messages until they return")
      endPulses()
    }
  }

  private func deliver(_ sample: TimeSample, at now: Instant) {
    guard let receiver else { return }
    outputs?.send(sample)
    publish(sample, receiver.device)
    schedule.sampled(counts: sample.source == .pulse || reference.newestPulse == nil, at: now)
  }

  // MARK: Rounds

  func roundEnded(_ receivers: [ReceiverStatus], at now: Moment) {
    if policy.revision != policyRevision {
      policyRevision = policy.revision
      schedule.set(policy.clock, at: now.instant)
      if schedule.policy == .off { end() }
    }
    guard schedule.policy != .off else { return }
    schedule.wake(at: now.instant)
    updateDemand()
    update(receivers.first, at: now.instant)
    takePulses(at: now.instant)
  }

  private func updateDemand() {
    switch (schedule.needsReceiver, program) {
    case (true, nil):
      // The administrator has allowed it in the policy.
      let id = host.add(
        AppDescription(identifier: "clock", keys: UsageKeys()), user: geteuid(), authorization: .authorizedAlways,
        application: .foreground, ClockProgram())
      program = id
      _ = host.changeOnThread(id) { engine, _ in engine.add(Self.manager) }
      for call in [
        ClientCall.setDelegate([.takesLocations, .takesErrors]), .setPausesAutomatically(false),
        .setDesiredAccuracy(metres: -2), .startUpdatingLocation,
      ] {
        host.call(call, by: Self.manager, of: id)
      }
    case (false, let id?):
      host.remove(id)
      program = nil
    default: break
    }
  }

  /// Handles the current state of the first receiver.
  private func update(_ found: ReceiverStatus?, at now: Instant) {
    guard let found, found.isOpen, found.use == .served, !found.device.isEmpty else {
      if receiver != nil { endReceiver() }
      return
    }
    // The time of the built-in simulator and of a recording is not satellite time; the time of a network source is
    // late.
    guard found.isReceiver else {
      complain("\(found.device) does not serve the clock: its time does not come from a receiver on this computer")
      return
    }
    if found.device != receiver?.device { endReceiver() }
    receiver = found
    if pulses == nil, schedule.needsReceiver, now >= nextAttempt ?? .zero { openPulses(found, at: now) }
    if outputs == nil {
      outputs = ClockOutputs(
        device: found.device, pulseDevice: pulses?.path, isRoot: geteuid() == 0, log: { host.log($0) })
    }
  }

  private func openPulses(_ receiver: ReceiverStatus, at now: Instant) {
    nextAttempt = now + Self.retry
    let port = receiver.line ?? receiver.device
    guard let (source, carrier) = PulseSource.chosen(policy.pulses, port: port, receiver.descriptor) else { return }
    let node = source.path
    do throws(Errno) {
      try source.start(carrierOf: carrier) { [host] in host.wakeThread() }
      pulses = source
      shape = PulseShape()
      lastComplaint = nil
      // The sockets and segment of the time daemons.
      outputs = nil
      host.log(
        "\(receiver.device): pulses of \(node) serve the clock"
          + (carrier == nil ? "" : ", stamped by this process: the kernel does not stamp the carrier of this port"))
    } catch .noSuchAddressOrDevice, .inappropriateIOCTLForDevice {
      complain("\(node): it has no pulses; the clock is served by messages")
    } catch {
      complain("\(node): \(error); the clock is served by messages (may this user read it?)")
    }
  }

  private func endPulses() {
    pulses?.end()
    pulses = nil
    outputs = nil
  }

  private func endReceiver() {
    endPulses()
    receiver = nil
    reference = ClockReference()
    receipts = EpochReceipts()
    nextAttempt = nil
    nextLeapPoll = nil
  }

  private func end() {
    updateDemand()
    endReceiver()
    outputs = nil
  }

  /// Logs a problem once, until it changes or is resolved.
  private func complain(_ text: String) {
    guard text != lastComplaint else { return }
    lastComplaint = text
    host.log(text)
  }

  // MARK: Leap seconds

  /// Polls NAV-TIMELS, available from M8 on: a leap second is announced months ahead.
  private func pollLeapSecond(at now: Instant) {
    guard let receiver, !receiver.version.isEmpty, !host.settings.isReadOnly, now >= nextLeapPoll ?? .zero else {
      return
    }
    nextLeapPoll = now + Self.leapPoll
    bytesToSend.append(Command.poll(.navTIMELS).bytes)
    host.wakeThread()
  }

  /// Returns the bytes to send to the receiver, once.
  func takeBytes(for number: Int) -> [[UInt8]] {
    guard number == 0 else { return [] }
    defer { bytesToSend = [] }
    return bytesToSend
  }
}

extension ReceiverStatus {
  /// Whether the receiver's time can serve the clock: it is on a line, and is neither the built-in simulator nor a
  /// recording.
  fileprivate var isReceiver: Bool {
    switch try? LineAddress(device) {
    case .port?, .i2c?: true
    // The delay of a network is unknown.
    case .network?: false
    case .simulator?, .replay?, nil: false
    }
  }

  /// The time of a byte on its line; 0 if the line has no rate, such as USB.
  var secondsPerByte: Double {
    let name = (line ?? device).split(separator: "/").last ?? ""
    guard let baud, baud > 0, !name.hasPrefix("ttyACM"), !name.hasPrefix("gnss") else { return 0 }
    return 10 / Double(baud)
  }
}

// The state of the time service, in the form of org.sextant.Time.
extension ClockServer {
  func json(at now: Moment) -> JSON {
    func fresh(_ sample: TimeSample?) -> TimeSample? {
      guard isServing, let sample else { return nil }
      let age = Double(now.utc.nanosecondsSince1970 &- sample.system.nanosecondsSince1970) / 1e9
      return abs(age) < Self.freshSeconds ? sample : nil
    }
    let (pulse, messages) = (fresh(reference.newestPulse), fresh(reference.newestMessages))
    let state =
      if schedule.policy == .off { "off" } else if !schedule.needsReceiver { "resting" } else if pulse != nil {
        "pulses"
      } else if messages != nil { "messages" } else { "searching" }
    let refusals = ClockReference.Refusal.allCases.compactMap { reason -> JSON? in
      reference.refusals[reason].map { ["reason": .string(reason.rawValue), "count": .integer(Int64($0))] }
    }
    let outputs = (outputs?.states ?? []).map { state -> JSON in
      ["name": .string(state.name), "source": .string(state.source.rawValue), "isRead": .bool(state.readers > 0)]
    }
    return JSON(omittingNil: [
      "policy": schedule.policy.text, "state": state, "receiver": receiver?.device,
      "isProgram": receiver.map { Self.isProgram($0) }, "pulseDevice": pulses?.path,
      "pulse": pulse.map { json(of: $0) },
      "messages": messages.map { json(of: $0) }, "messageDelay": reference.delaySeconds, "pulses": reference.pulses,
      "refusals": refusals, "outputs": outputs,
    ])
  }

  /// Whether a receiver is a program on a pseudo-terminal: a simulator, or a bridge to an unknown receiver.
  private static func isProgram(_ receiver: ReceiverStatus) -> Bool {
    FileLookup.resolved(receiver.line ?? receiver.device)?.hasPrefix("/dev/pts/") == true
  }

  private func json(of sample: TimeSample) -> JSON {
    JSON(omittingNil: [
      "timestamp": sample.real.iso8601, "offset": sample.offsetSeconds,
      "jitter": reference.jitterSeconds(of: sample.source), "precision": Int(sample.precision),
      "leap": "\(sample.leap)",
    ])
  }
}
