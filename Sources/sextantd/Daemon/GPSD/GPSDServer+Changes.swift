// SPDX-License-Identifier: Apache-2.0
import GPSD
import LinuxIO
import LocationService
import MonotonicTime
import Receiver
import ReceiverRuntime

// Changes of receivers with `?DEVICE={…}`: permission, readiness of the receiver, and replies.
extension GPSDServer {
  /// Accepts a client's change, if its user may open the receiver. The client needs the receiver until the change is
  /// answered.
  func apply(_ change: DeviceChange, of client: GPSDConnection, at now: Instant) {
    guard let path = change.path, let device = state.device(at: path) else { return }
    func refuse(_ reason: String) { client.client.reply(state.error(reason)) }
    guard let user = InternetPeer.user(of: client.socket.descriptor), let node = receivers[device.number].node,
      FileAccess.mayReadAndWrite(node, user: user)
    else {
      return refuse("only users who may open \(path) change it or send to it, and only on this machine")
    }
    if host.settings.isReadOnly { return refuse("sextantd runs with --read-only") }
    if let bytes = change.bytes, let refusal = Self.refusal(bytes) { return refuse(refusal) }
    changes.request(change, of: device.number, by: client.token, at: now)
    performChanges(at: now)
    updateDemand(of: client, at: now)
    guard changes.isAwaited(by: client.token), !isPermitted else { return }
    // The client has already received the reason, unless it watches.
    changes.end(client.token)
    updateDemand(of: client, at: now)
    if client.demand != .none { refuse("location services are switched off, or sextantd may not open the receiver") }
  }

  /// Queues a client's messages for a receiver. Returns the reason why they cannot be sent; nil if they are.
  func send(_ bytes: [UInt8], to receiver: Int) -> String? {
    if host.settings.isReadOnly { return "sextantd runs with --read-only" }
    if let refusal = Self.refusal(bytes) { return refusal }
    commands[receiver, default: []].append(.send(bytes))
    return nil
  }

  /// Returns the reason why bytes are not sent to a receiver, with the rules of `sextant send`; nil for complete
  /// messages.
  private static func refusal(_ bytes: [UInt8]) -> String? {
    do throws(SettingProblem) { _ = try OutgoingMessage.frames(bytes) } catch { return error.description }
    return nil
  }

  /// Performs the changes for which the receivers are ready, and replies to the clients.
  func performChanges(at now: Instant) {
    if changes.isIdle { return }
    for number in receivers.indices { changes.update(receiver(number), of: number, at: now) }
    for action in changes.takeActions() {
      switch action {
      case .send(let bytes, let number): commands[number, default: []].append(.send(bytes))
      case .set(let settings, let number): commands[number, default: []].append(.set(settings))
      case .reply(let token, let number, let refusal):
        guard let client = clients[token] else { continue }
        let device = state.device(number: number)
        client.client.reply(
          refusal.map { state.error($0) } ?? device.map { state.text(of: $0) } ?? state.error("the receiver is gone"))
        updateDemand(of: client, at: now)
      }
    }
  }

  private func receiver(_ number: Int) -> DeviceChanges.Receiver {
    let receiver = receivers[number]
    var found = DeviceChanges.Receiver(readiness: .waiting, bitsPerSecond: receiver.baud)
    found.isRateFixed = number == 0 && host.settings.baud != nil
    found.shortestCycleMilliseconds = receiver.shortestCycleMilliseconds ?? found.shortestCycleMilliseconds
    found.sendsNMEA = state.device(number: number)?.driver == .nmea
    let takesCommands = receiver.isOpen && (number > 0 || host.powerStatus.takesCommands)
    switch (receiver.use, receiver.identity) {
    case (.lent, _), (.ending, _): found.readiness = .lent
    case (.served, .unidentified) where receiver.isOpen: found.readiness = .plain
    // The power policy recognises a plain receiver after some time.
    case (.served, .unknown) where takesCommands && number == 0: found.readiness = .plain
    case (.served, .identified) where takesCommands: found.readiness = .ready
    case (.served, _), (.returning, _): found.readiness = .waiting
    }
    return found
  }
}

extension ReceiverStatus {
  /// The shortest time between two measurements, in milliseconds; nil for an unidentified receiver. From the interface
  /// descriptions, CFG-RATE: 25 ms from protocol version 24 on, 50 ms before.
  var shortestCycleMilliseconds: UInt16? {
    guard case .identified(let receiver) = identity else { return nil }
    return receiver.protocolVersion ?? ProtocolVersion(0, 0) >= ProtocolVersion(24, 0) ? 25 : 50
  }
}
