// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import UBX

// Replies to polls: version, status and the state of the hardware.
extension VirtualReceiver {
  /// Replies to a message with an empty payload, which polls the message itself. Unknown polls get no reply.
  mutating func poll(_ identity: MessageIdentity) {
    guard settings.sendsUBX else { return }
    if let frame = monitoring(identity.key) {
      guard identity.key == 0x0A36, traits.hasSlowMonitor else { return reply(frame) }
      // The statistics of the ports are made once a second.
      guard !disturbances.isSilent(at: now) else { return }
      return emit([frame], at: now + Milliseconds(1000 - now.milliseconds(since: bootedAt) % 1000))
    }
    guard 0x01...0x02 ~= identity.messageClass, let index = OutputMessage.index(of: identity),
      OutputMessage.all[index].isAvailable(in: traits)
    else { return }
    var frames: [[UInt8]] = []
    NavigationOutput(solution: solution, traits: traits).write(identity.key, &writer, &frames)
    for frame in frames { reply(frame) }
  }

  /// Messages of class MON and SEC, as far as this model has them.
  mutating func monitoring(_ identity: UInt16) -> [UInt8]? {
    let version = traits.protocolVersion
    switch identity {
    case 0x0A04: return versions
    case 0x0A02 where version < 2700: return encodedFrame(identity, ports)
    case 0x0A09 where version < 2700: return hardware
    case 0x0A21: return encodedFrame(identity, [1])
    case 0x0A28 where version >= 1500: return systemsSupported
    case 0x0A32 where traits.batch != nil: return batch.monitor(&writer)
    case 0x0A36 where version >= 2700: return communication
    case 0x0A38 where version >= 2700: return radio
    case 0x1010 where traits.hasSensorFusion: return fusion
    case 0x2709 where version >= 4000: return security
    case 0x270A where version >= 5000: return encodedFrame(identity, [2] + [UInt8](repeating: 0, count: 19))
    case 0x2703 where traits.uniqueIDLength > 0:
      return encodedFrame(identity, [traits.uniqueIDLength == 6 ? 2 : 1, 0, 0, 0] + uniqueID)
    case 0x2108 where traits.hasFlash: return log.info(isRecording: settings.logFilter.records, &writer)
    default: return nil
    }
  }

  private func encodedFrame(_ identity: UInt16, _ payload: [UInt8]) -> [UInt8] {
    frameBytes(MessageIdentity(UInt8(identity >> 8), UInt8(identity & 0xFF)), payload)
  }

  private var versions: [UInt8] {
    mutating get {
      let traits = self.traits
      let length = 40 + 30 * traits.extensions.count
      return writer.frame(length + 8) { span in
        MonVER.encode(into: &span, length: length) { message in
          message.swVersion(traits.software)
          message.hwVersion(traits.hardware)
          for (index, text) in traits.extensions.enumerated() { message.extensionString_extension(index, text) }
        }
      }
    }
  }

  /// ESF-MEAS of the host (interface descriptions, "ESF measurement data"): types 6 to 11 are of an odometer.
  mutating func receiveMeasurement(_ payload: [UInt8]) {
    guard payload.count >= 8 else { return }
    let count = Int(payload.u2(4) >> 11)
    for index in 0..<count where payload.count >= 12 + 4 * index {
      let type = payload[11 + 4 * index] & 0x3F
      if 6...11 ~= type { measurements[type] = now }
    }
  }

  /// ESF-STATUS: fusion needs a fix, and a measurement of the odometer in the last two seconds.
  private var fusion: [UInt8] {
    let fresh = measurements.filter { now.milliseconds(since: $0.value) < 2000 }.keys.sorted()
    var payload = [UInt8](repeating: 0, count: 16)
    payload.set(u4: GPSTime(utcMilliseconds: utcMilliseconds(at: now)).millisecondOfWeek, at: 0)
    payload[4] = 2
    payload[12] = engine.hasFix && !fresh.isEmpty ? 1 : 0
    // Its own gyroscopes and accelerometers, and the odometer: ready, and used during fusion.
    let sensors: [UInt8] = [5, 13, 14, 16, 17, 18] + fresh
    payload[15] = UInt8(sensors.count)
    for type in sensors { payload += [type | payload[12] << 6 | 0x80, payload[12] == 1 ? 0b1110 : 0b0101, 10, 0] }
    return encodedFrame(0x1010, payload)
  }

  private var hardware: [UInt8] {
    let isM6 = traits.protocolVersion < 1400
    var payload = [UInt8](repeating: 0, count: isM6 ? 68 : 60)
    payload.set(u2: 100, at: 16)
    payload.set(u2: 4000, at: 18)
    payload[20] = 2
    payload[21] = 1
    payload[22] = 1 | jammingState << 2
    payload[isM6 ? 53 : 45] = 12
    return encodedFrame(0x0A09, payload)
  }

  /// The state of jamming in MON-HW and MON-RF: none or critical.
  private var jammingState: UInt8 { disturbances.isJammed(at: now) ? 3 : 1 }

  /// SEC-SIG, in version 1 or, from protocol version 50 on, 2. Both detectors are on.
  private var security: [UInt8] {
    let spoofing: UInt8 = disturbances.isSpoofed(at: now) ? 2 : 1
    guard traits.protocolVersion >= 5000 else {
      return encodedFrame(0x2709, [1, 0, 0, 0, 1 | jammingState << 1, 0, 0, 0, 1 | spoofing << 1, 0, 0, 0])
    }
    // Version 2 has no critical state; the frequencies are in kHz.
    let isJammed = disturbances.isJammed(at: now)
    let flags = 1 | (isJammed ? 2 : 1) << 1 | 1 << 3 | spoofing << 4
    var payload: [UInt8] = [2, flags, 0, 1, 0, 0, 0, 0]
    payload.set(u4: 1_575_420 | (isJammed ? 1 << 24 : 0) as UInt32, at: 4)
    return encodedFrame(0x2709, payload)
  }

  private var radio: [UInt8] {
    mutating get {
      // The state is always 0 beside version 2 of SEC-SIG.
      let state = traits.protocolVersion >= 5000 ? 0 : jammingState
      return writer.frame(36) { span in
        MonRF.encode(into: &span, length: 28) { message in
          message.nBlocks(1)
          message.rFBlock_flags(0, state)
          message.rFBlock_antStatus(0, 2)
          message.rFBlock_antPower(0, 1)
          message.rFBlock_noisePerMS(0, 90)
          message.rFBlock_agcCnt(0, 4000)
          message.rFBlock_jamInd(0, 8)
        }
      }
    }
  }

  private var ports: [UInt8] {
    var payload = [UInt8](repeating: 0, count: 6 * 20)
    payload.set(u4: receivedBytes, at: port * 20)
    payload.set(u4: UInt32(truncatingIfNeeded: transmitter.sentBytes), at: port * 20 + 4)
    return payload
  }

  private var communication: [UInt8] {
    mutating get {
      let (port, sent, pending) = (self.port, transmitter.sentBytes, transmitter.pending(at: now))
      let received = receivedBytes
      let (skipped, hasDropped) = (input.skipped, transmitter.droppedMessages > 0)
      // X20 lists I2C, UART1 and USB, and has the number of the port in txErrors.
      let ports = traits.hasSlowMonitor ? [0, 1, 3] : [port]
      let errors = (hasDropped ? 2 : 0) | (traits.hasSlowMonitor ? UInt8(port + 1) << 2 : 0)
      let protocols: [UInt8] = [0, 1, 5, traits.hasHighPrecision ? 6 : 0xFF]
      let parsed = [parsedMessages.ubx, parsedMessages.nmea, parsedMessages.rtcm3, parsedMessages.spartn]
      let length = 8 + 40 * ports.count
      return writer.frame(length + 8) { span in
        MonCOMMS.encode(into: &span, length: length) { message in
          message.nPorts(UInt8(ports.count))
          message.txErrors(errors)
          for (index, value) in protocols.enumerated() { message.protIds(index, value) }
          for (index, number) in ports.enumerated() {
            message.port_portId(index, UInt16(number) << 8)
            guard number == port else { continue }
            message.port_txPending(index, UInt16(clamping: pending))
            message.port_txBytes(index, UInt32(truncatingIfNeeded: sent))
            message.port_rxBytes(index, received)
            for (row, count) in parsed.enumerated() { message.port_msgs(index, at: row, count) }
            message.port_skipped(index, skipped)
          }
        }
      }
    }
  }

  private var systemsSupported: [UInt8] {
    let mask = { (systems: SatelliteSystems) -> UInt8 in
      (systems.contains(.gps) ? 1 : 0) | (systems.contains(.glonass) ? 2 : 0) | (systems.contains(.beiDou) ? 4 : 0)
        | (systems.contains(.galileo) ? 8 : 0)
    }
    if traits.signals.plan != nil { return encodedFrame(0x0A28, Self.signalPlans) }
    return encodedFrame(
      0x0A28,
      [0, mask(traits.systems), mask(traits.defaultSystems), mask(settings.systems), traits.mostSystems, 0, 0, 0])
  }

  /// MON-GNSS in version 1, with the signal plans of a ZED-X20P (HPG 2.02): a number and a name each.
  private static let signalPlans: [UInt8] =
    [1, 3, 2, 1] + plan(1, 0x0B, 0x1B) + plan(2, 0x0B, 0x1A) + plan(6, 0x03, 0x0B)

  private static func plan(_ number: UInt8, _ first: UInt8, _ second: UInt8) -> [UInt8] {
    [number] + Array("SP\(number)".utf8) + [0, 0, 0x0D, 0, first, 0, second, 0, 0, 0, 1, 0, 0x39, 0, 1]
      + [UInt8](repeating: 0, count: 9)
  }

  // MARK: - Texts

  /// Sends the texts that follow a start.
  mutating func sendBootText() {
    guard traits.configuration != .none else { return }
    sendText("u-blox AG - www.u-blox.com", severity: 2)
    sendText("HW UBX \(traits.hardware)", severity: 2)
    sendText("\(traits.software)", severity: 2)
    for text in traits.extensions.prefix(4) { sendText("\(text)", severity: 2) }
    sendText("ANTSUPERV=AC SD PDoS SR", severity: 2)
    sendText("ANTSTATUS=OK", severity: 2)
    if restoreResult != 0, settings.sendsUBX {
      transmitter.send(encodedFrame(0x0914, [3, 0, 0, 0, restoreResult, 0, 0, 0]), at: now)
    }
  }

  /// Sends an information message. Severity 0 is error, 1 warning, 2 notice.
  mutating func sendText(_ text: String, severity: Int) {
    let characters = Array(text.utf8)
    if settings.sendsNMEA, settings.textNMEA >> UInt8(severity) & 1 == 1 {
      var content = TXT()
      content.sentences = 1
      content.number = 1
      content.identifier = Int32(severity)
      content.text = TextRange(0..<characters.count)
      let frame = writer.sentence(content, settings.systems.talker, texts: characters)
      transmitter.send(frame, at: now)
    }
    if settings.sendsUBX, settings.textUBX >> UInt8(severity) & 1 == 1 {
      transmitter.send(encodedFrame(0x0400 | UInt16(severity), characters), at: now)
    }
  }

  /// Sends MON-RXR before sleep and after a wake-up, if it is enabled.
  mutating func sendAwake(_ isAwake: Bool) {
    guard settings.sendsUBX, rate(of: MessageIdentity(0x0A, 0x21)) > 0 else { return }
    transmitter.send(encodedFrame(0x0A21, [isAwake ? 1 : 0]), at: now)
  }
}
