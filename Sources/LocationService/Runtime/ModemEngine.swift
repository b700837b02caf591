// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import SerialPort

/// The GNSS engine of a modem, on the poller's thread: ModemManager switches it if it has the modem, else AT commands at
/// the modem's own port, which is open only for the dialogue.
///
///     resting ─ another target ─▶ asking ModemManager ─ absent, or without the modem ─▶ at the AT port ─▶ resting
///                                      └─ done ─▶ resting      └─ failed ─▶ waiting ─▶ asking
///
/// The state in which the engine was found is stored before it is changed, and removed when it is restored.
/// `unsafe` because views of bytes borrow arrays of this file for one call.
final class ModemEngine {
  enum Event {
    case log(String)
    /// The engine was not switched; it is tried again later.
    case refused
  }

  static let token = Poller.Token(rawValue: 7)
  /// The time between attempts after a failure.
  private static let retry = Milliseconds(30_000)
  /// The time between attempts at a port that another program uses for a short time.
  private static let heldRetry = Milliseconds(2000)
  /// The time that ModemManager may need to probe a modem that was just plugged in. Meanwhile it has the AT ports open.
  private static let probing = Milliseconds(30_000)
  private static let probingRetry = Milliseconds(3000)
  /// A modem behind USB ignores the rate.
  private static let baud: UInt32 = 115_200

  private enum Work {
    case resting
    case waiting(until: Instant)
    case asking(BusConnection)
    case switching
  }

  private var modem: ModemPort
  private let recordPath: String?
  private var location: ModemLocation?
  private var dialogue: ModemDialogue?
  /// The state that ModemManager had found; nil until it is known.
  private var found: ModemState?
  private var line: Line?
  private struct Line: ~Copyable { var port: SerialPort }
  private var work = Work.resting
  private var target: ModemDialogue.Target
  /// The target that the engine has; nil if it is not known.
  private var reached: ModemDialogue.Target?
  /// The time at which ModemManager was first seen without the modem.
  private var unlistedSince: Instant?
  private var isRefusalReported = false
  private var lastReport: String?
  private var events: [Event] = []

  /// The path of the crash-recovery record. There is one: only the first receiver is switched.
  private static func recordPath(_ folder: String?) -> String? { folder.map { "\($0)/modem" } }

  private static func record(_ path: String?) -> ModemRecord? {
    guard let path, let text = try? PrivateFile.read(path, limit: 1024) else { return nil }
    return ModemRecord(text)
  }

  init(_ modem: ModemPort, stateFolder: String?) {
    self.modem = modem
    recordPath = Self.recordPath(stateFolder)
    target = .asFound
    reached = .asFound
    if let record = Self.record(recordPath), record.identity == modem.identity { found = record.found }
  }

  /// Restores the engine that a killed program switched; nil if there is no such modem, or if another program
  /// uses its receiver.
  init?(leftIn stateFolder: String?) {
    let path = Self.recordPath(stateFolder)
    guard let record = Self.record(path), let modem = ModemPort(identity: record.identity) else { return nil }
    // The lock of a program that runs; it restores the engine itself.
    guard let descriptor = try? SerialPort.openLocked(modem.node, .readOnly) else { return nil }
    SerialPort.unlock(descriptor)
    self.modem = modem
    recordPath = path
    found = record.found
    target = .asFound
  }

  // MARK: Commands

  /// Sets the state that the engine should have.
  func set(_ target: ModemDialogue.Target, at now: Instant) {
    guard target != self.target else { return }
    self.target = target
    isRefusalReported = false
    // The end does not wait for the next attempt.
    if case .waiting = work { work = .waiting(until: now) }
  }

  /// Follows the modem to other nodes. Returns false if it is another modem.
  func move(to modem: ModemPort) -> Bool {
    guard modem.identity == self.modem.identity else { return false }
    self.modem = modem
    return true
  }

  /// Checks the engine again, because its state may have changed.
  func check() { if target == .on { reached = nil } }

  /// Whether the engine is being switched.
  var isBusy: Bool {
    switch work {
    case .resting: reached != target
    // An attempt at the end that failed is left to the next program.
    case .waiting: reached != target
    case .asking, .switching: true
    }
  }

  func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  var deadline: Instant? {
    switch work {
    case .resting: reached == target ? nil : .zero
    case .waiting(let until): until
    case .asking(let bus): bus.deadline
    case .switching: dialogue?.deadline
    }
  }

  // MARK: Events

  func handle(_ event: Poller.Event, _ poller: inout Poller, at now: Instant) {
    switch work {
    case .resting, .waiting: break
    case .asking: settleBus(&poller, at: now)
    case .switching: read(&poller, at: now)
    }
  }

  func wake(_ poller: inout Poller, at now: Instant) {
    switch work {
    case .resting: if reached != target { ask(&poller, at: now) }
    case .waiting(let until): if now >= until { ask(&poller, at: now) }
    case .asking: settleBus(&poller, at: now)
    case .switching:
      dialogue?.wake(at: now)
      perform(&poller, at: now)
    }
  }

  // MARK: ModemManager

  /// Whether the engine is wanted on, also as it was found.
  private var isWanted: Bool {
    switch target {
    case .on: true
    case .off: false
    case .asFound: found?.isOn ?? false
    }
  }

  private func ask(_ poller: inout Poller, at now: Instant) {
    reached = target
    // Nothing was changed.
    if target == .asFound, found == nil { return work = .resting }
    guard BusConnection.mayHaveSystemBus, let bus = try? BusConnection(token: Self.token, &poller) else {
      return openLine(&poller, at: now)
    }
    location = ModemLocation(node: modem.node)
    location?.begin(isOn: isWanted)
    work = .asking(bus)
    settleBus(&poller, at: now)
  }

  private func settleBus(_ poller: inout Poller, at now: Instant) {
    guard case .asking(let bus) = work else { return }
    var outcome: ModemLocation.Outcome?
    do {
      try bus.process(
        &poller,
        sendAll: {
          while let output = location?.nextOutput() {
            switch output {
            case .call(let call): try bus.send(call)
            case .changes(let wasOn): store(ModemState(isOn: found?.isOn ?? wasOn))
            case .ended(let end): outcome = end
            }
          }
        }, receive: { location?.receive($0) })
    } catch {
      outcome = outcome ?? .absent
    }
    guard let outcome else { return }
    bus.close(&poller)
    switch outcome {
    case .absent: openLine(&poller, at: now)
    case .unlisted:
      unlistedSince = unlistedSince ?? now
      if let unlistedSince, now >= unlistedSince + Self.probing { return openLine(&poller, at: now) }
      work = .waiting(until: now + Self.probingRetry)
    case .done: finish()
    case .refused(let reason): fail(reason, retry: Self.retry, at: now)
    }
  }

  // MARK: The AT port

  private func openLine(_ poller: inout Poller, at now: Instant) {
    let sets: [ModemCommands]
    switch modem.maker {
    case .quectel: sets = ModemCommands.quectel
    case .simCom: sets = ModemCommands.simCom
    case nil:
      return fail(
        "\(modem.node): the AT commands of this modem's GNSS engine are not known; ModemManager switches it if it runs",
        retry: Self.retry, at: now)
    }
    guard !modem.commandNodes.isEmpty else {
      return fail("\(modem.node): the modem shows no AT port; check `sextant devices`", retry: Self.retry, at: now)
    }
    var failure: SerialPortError?
    for node in modem.commandNodes {
      do throws(SerialPortError) {
        let port = try SerialPort(opening: node, access: .readWrite, baud: Self.baud)
        try port.discardInput()
        do { try poller.add(port.fileDescriptor, token: Self.token) } catch { throw SerialPortError(error) }
        line = Line(port: port)
        break
      } catch {
        failure = failure ?? error
      }
    }
    guard line != nil else {
      let isHeld = if case .held = failure?.cause { true } else { false }
      return fail(
        "the GNSS engine of the modem cannot be switched: \(failure?.description ?? "")",
        retry: isHeld ? Self.heldRetry : Self.retry, at: now)
    }
    dialogue = ModemDialogue(sets, found: found)
    dialogue?.begin(target, at: now)
    work = .switching
    perform(&poller, at: now)
  }

  private func read(_ poller: inout Poller, at now: Instant) {
    var bytes: [UInt8] = []
    do throws(SerialPortError) {
      bytes = try readAll()
    } catch {
      closeLine(&poller)
      return fail("the GNSS engine of the modem cannot be switched: \(error)", retry: Self.retry, at: now)
    }
    dialogue?.receive(bytes, at: now)
    perform(&poller, at: now)
  }

  private func readAll() throws(SerialPortError) -> [UInt8] {
    var bytes: [UInt8] = []
    while line != nil, bytes.count < 4096 {
      var buffer = [UInt8](repeating: 0, count: 512)
      var span = buffer.mutableSpan
      var raw = unsafe span.mutableBytes
      guard case .bytes(let count)? = try line?.port.read(into: &raw) else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }

  private func perform(_ poller: inout Poller, at now: Instant) {
    while let output = dialogue?.nextOutput() {
      switch output {
      case .send(let bytes):
        // A command is short; a port that does not take it does not answer.
        _ = try? unsafe line?.port.write(bytes.span.bytes)
      case .changes(let state): store(state)
      case .ended(let outcome):
        found = dialogue?.found
        closeLine(&poller)
        switch outcome {
        case .done: finish()
        case .refused(let reply):
          fail("the modem does not switch its GNSS engine: \(reply)", retry: Self.retry, at: now)
        case .silent:
          fail(
            "\(modem.commandNodes.first ?? modem.node): the modem does not answer AT commands; is a program connected, or "
              + "ModemManager without this modem?", retry: Self.retry, at: now)
        }
        return
      }
    }
  }

  private func closeLine(_ poller: inout Poller) {
    if let descriptor = line?.port.fileDescriptor { poller.remove(descriptor) }
    line = nil
  }

  // MARK: The end of an attempt

  private func finish() {
    work = .resting
    lastReport = nil
    guard reached == .asFound, target == .asFound else { return }
    found = nil
    if let recordPath { try? PrivateFile.remove(recordPath) }
  }

  private func fail(_ reason: String, retry: Milliseconds, at now: Instant) {
    // The target may be another one meanwhile.
    work = .waiting(until: reached == target ? now + retry : now)
    if reason != lastReport { events.append(.log(reason)) }
    lastReport = reason
    guard target == .off, !isRefusalReported else { return }
    isRefusalReported = true
    events.append(.refused)
  }

  private func store(_ state: ModemState) {
    found = state
    guard let recordPath else { return }
    do throws(FileError) {
      try PrivateFile.replace(recordPath, with: ModemRecord(identity: modem.identity, found: state).text + "\n")
    } catch {
      events.append(.log("\(error.path): \(error.reason); a killed program leaves the modem's engine as it is then"))
    }
  }
}
