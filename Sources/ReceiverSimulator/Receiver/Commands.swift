// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

// The effect of UBX messages from the host.
extension VirtualReceiver {
  mutating func receive(_ identity: MessageIdentity, _ payload: [UInt8]) {
    switch identity.key {
    case 0x0241: receiveSleepRequest(payload)
    case 0x0914: receiveSave(payload)
    case 0x0110: if payload.isEmpty { resetOdometer() }
    case 0x2110: retrieveBatch(payload)
    case 0x1002 where !payload.isEmpty: if traits.hasSensorFusion { receiveMeasurement(payload) }
    case 0x0236 where traits.hasHighPrecision: receiveSPARTNKeys(payload)
    default:
      switch identity.messageClass {
      case 0x06: configure(identity.messageID, payload)
      case 0x0B: if traits.hasAID { receiveAID(identity.messageID, payload) }
      case 0x13: if traits.hasMGA { receiveMGA(identity.messageID, payload) }
      case 0x21: if traits.hasFlash { receiveLog(identity.messageID, payload) }
      default: if payload.isEmpty { poll(identity) }
      }
    }
  }

  // MARK: - Replies

  /// Sends a reply.
  mutating func reply(_ bytes: [UInt8]) {
    guard !disturbances.isSilent(at: now) else { return }
    transmitter.send(bytes, at: now)
  }

  /// Sends a UBX message as a reply, if UBX output is enabled.
  mutating func answer(_ identity: MessageIdentity, _ payload: [UInt8]) {
    if settings.sendsUBX { reply(frameBytes(identity, payload)) }
  }

  /// ACK-ACK or ACK-NAK.
  mutating func acknowledge(_ messageClass: UInt8, _ id: UInt8, _ isAccepted: Bool) {
    answer(MessageIdentity(0x05, isAccepted ? 1 : 0), [messageClass, id])
  }

  // MARK: - Configuration

  private mutating func configure(_ id: UInt8, _ payload: [UInt8]) {
    if id == 0x04 { return receiveReset(payload) }
    guard !disturbances.refuses(at: now) else { return acknowledge(0x06, id, false) }
    // A counterfeit M8 may support less than an M8.
    if model == .clone, [0x24, 0x3E, 0x86, 0x57].contains(id) { return acknowledge(0x06, id, false) }
    if let outcome = configuration.legacy?.receive(id, payload, port: port) { finish(outcome, id) }
    if let items = configuration.items { configureItems(id, payload, items) }
  }

  /// - Parameter items: the items before the message. The lock makes all of them read-only; in RAM it ends with a restart.
  private mutating func configureItems(_ id: UInt8, _ payload: [UInt8], _ items: ItemConfiguration) {
    let isLocked = items.value(Key.configurationLock) != 0
    switch id {
    case 0x8A: finish(isLocked ? .refused : configuration.items?.set(payload) ?? .refused, id)
    case 0x8B: finish(items.get(payload).map { .answer($0) } ?? .refused, id)
    case 0x8C: finish(isLocked ? .refused : configuration.items?.delete(payload) ?? .refused, id)
    case 0x09:
      let outcome = isLocked ? .refused : configuration.items?.clearSaveLoad(payload) ?? .refused
      guard outcome == .accepted, payload.u4(8) != 0 else { return finish(outcome, id) }
      finishLoad(hasDevices: payload.count == 13)
    case 0x00 where traits.repliesToPortPoll && payload.count <= 1: finish(items.pollPort(payload, port), id)
    default:
      guard traits.configuration == .itemsAndLegacy else { return acknowledge(0x06, id, false) }
      configuration.items?.abortTransaction()
      finish(configuration.items?.receiveLegacy(id, payload, port: port) ?? .refused, id)
    }
  }

  private mutating func finish(_ outcome: ItemConfiguration.Outcome, _ id: UInt8) {
    switch outcome {
    case .accepted: finish(LegacyConfiguration.Outcome.acknowledged, id)
    case .refused: acknowledge(0x06, id, false)
    case .refusedSignals:
      sendText("inv sig cfg", severity: 1)
      sendText("bad cfg RAM", severity: 1)
      acknowledge(0x06, id, false)
    }
  }

  /// CFG-CFG that loads the saved settings, of a receiver with items: without a mask of devices the acknowledgement takes a
  /// while, and no notices come. GNSS restarts in any case.
  ///
  /// No recording has a load that changes the rate; the acknowledgement is sent at the old one.
  private mutating func finishLoad(hasDevices: Bool) {
    if settings.sendsUBX, !disturbances.isSilent(at: now) {
      let frame = frameBytes(MessageIdentity(0x05, 0x01), [0x06, 0x09])
      transmitter.send(frame, at: hasDevices ? now : now + Milliseconds(traits.loadMilliseconds))
    }
    let isRestarted = applyConfiguration()
    if !isRestarted, engine.isRunning { restartNavigation(isAnnounced: traits.announcesRestart && hasDevices) }
  }

  private mutating func finish(_ outcome: LegacyConfiguration.Outcome, _ id: UInt8) {
    switch outcome {
    case .refused: acknowledge(0x06, id, false)
    case .answer(let payload):
      answer(MessageIdentity(0x06, id), payload)
      acknowledge(0x06, id, true)
    case .acknowledged:
      // The reply leaves with the settings that were in force before, except the rate.
      let rate = configuration.settings(port: port, traits).baudRate
      if rate != settings.baudRate, id != 0x09 { changeRate(to: rate) }
      acknowledge(0x06, id, true)
      applyConfiguration()
      // Such receivers reset their whole port after the reply, and lose what they receive meanwhile.
      if model == .clone, id == 0x00 { reception.silentUntil = max(now, transmitter.freeAt) + Milliseconds(300) }
    }
  }

  /// Applies the configuration. Returns whether that restarted GNSS.
  @discardableResult
  mutating func applyConfiguration() -> Bool {
    let old = settings
    settings = configuration.settings(port: port, traits)
    if settings == old { return false }
    if settings.baudRate != old.baudRate, settings.baudRate != transmitter.rate { changeRate(to: settings.baudRate) }
    if settings.batch != old.batch { batch.clear() }
    let restarts = (settings.systems != old.systems || settings.signals != old.signals) && engine.isRunning
    if restarts {
      restartNavigation(isAnnounced: traits.announcesRestart)
    } else if settings.epochMilliseconds != old.epochMilliseconds {
      scheduleEpoch()
    }
    if settings.powerSave != old.powerSave {
      mode.isOptimised = false
      mode.deadline = engine.isRunning ? now : nil
      showPowerState()
    }
    return restarts
  }

  mutating func setRates(_ identity: MessageIdentity, _ rates: [UInt8]) {
    configuration.legacy?.setRates(identity.key, rates + [0])
    if let index = OutputMessage.index(of: identity) {
      let key = OutputMessage.all[index].key
      for (port, rate) in rates.enumerated() { configuration.items?.set(key + UInt32(port), UInt64(rate)) }
    }
    applyConfiguration()
  }

  mutating func setPort(_ port: Int, rate: UInt32, input: UInt16, output: UInt16) {
    configuration.legacy?.setPort(port, baudRate: rate, input: input, output: output)
    configuration.items?.setPort(port, rate: rate, input: input, output: output)
    applyConfiguration()
  }

  // MARK: - Reset and sleep

  /// CFG-RST, which has no reply.
  private mutating func receiveReset(_ payload: [UInt8]) {
    guard payload.count == 4 else { return acknowledge(0x06, 0x04, false) }
    memory.clear(payload.u2(0))
    switch payload[2] {
    case 0, 1, 4: reset()
    case 2:
      stopEngine()
      startEngine()
    case 8:
      stopEngine()
      showPowerState()
    case 9: if !engine.isRunning { startEngine() }
    default: break
    }
  }

  /// RXM-PMREQ in both forms, which has no reply.
  private mutating func receiveSleepRequest(_ payload: [UInt8]) {
    guard !disturbances.ignoresSleep(at: now) else { return }
    let (duration, flags, sources): (UInt32, UInt32, UInt32)
    switch payload.count {
    case 8 where traits.hasShortSleepRequest: (duration, flags, sources) = (payload.u4(0), payload.u4(4), 8)
    case 16 where traits.hasLongSleepRequest:
      guard payload[0] == 0 else { return }
      (duration, flags, sources) = (payload.u4(4), payload.u4(8), payload.u4(12))
    default: return
    }
    // The maximum is twelve days. With a host on USB only the force flag has an effect.
    guard flags & 2 != 0, duration <= 12 * 86_400_000, port != 3 || flags & 4 != 0 else { return }
    sleep(.standby, for: duration == 0 ? nil : Milliseconds(UInt64(duration)), byUART: sources & 8 != 0)
  }

  /// RXM-SPARTNKEY: without a payload it is a poll; keys have no reply.
  private mutating func receiveSPARTNKeys(_ payload: [UInt8]) {
    guard payload.isEmpty else { return spartnKeys.store(payload) }
    let reply = spartnKeys.reply(at: GPSTime(utcMilliseconds: utcMilliseconds(at: now)))
    answer(MessageIdentity(0x02, 0x36), reply)
  }

  private mutating func resetOdometer() {
    odometerMetres = 0
    acknowledge(0x01, 0x10, true)
  }

  // MARK: - The batch

  /// LOG-RETRIEVEBATCH. Its only reply is the batch.
  private mutating func retrieveBatch(_ payload: [UInt8]) {
    guard payload.count == 4, payload[0] == 0, traits.batch != nil else { return }
    // During a retrieval another one is ignored.
    guard !spool.contains(where: { if case .batch = $0 { true } else { false } }) else { return }
    let count = batch.count
    if payload[1] & 1 != 0, settings.sendsUBX { reply(batch.monitor(&writer)) }
    if count > 0 { spool.append(.batch(count)) }
  }

  /// Sends the next spooled message.
  mutating func sendSpooled() {
    guard !disturbances.isMute(at: now), !disturbances.isFrozen(at: now) else { return spool = [] }
    switch spool[0] {
    case .frame(let frame):
      spool.removeFirst()
      transmitter.send(frame, at: now)
    case .batch(let left):
      guard left > 0, let (entry, number) = batch.take() else {
        spool.removeFirst()
        return
      }
      spool[0] = .batch(left - 1)
      if settings.sendsUBX { transmitter.send(entry.frame(number: number, &writer), at: now) }
    }
  }
}
