// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import NMEA
import RTCM3
import UBX

/// The receiving side of the UART: the count of frame errors, and the time until which it is switched off.
struct UARTReception: Sendable {
  /// The end of a pause after frame errors or after a change of the port; nil if the UART reads.
  var silentUntil: Instant?
  /// Whether a text about frame errors follows the pause.
  var reportsErrors = false
  private var errors = 0
  private var second: UInt64 = 0

  /// The number of frame errors in one second above which the UART stops reading until the end of the second
  /// (interface descriptions, from protocol version 18).
  static let mostErrors = 100

  /// Counts frame errors; returns true if there are too many.
  mutating func count(errors number: Int, at now: Instant) -> Bool {
    let second = now.nanoseconds / 1_000_000_000
    if second != self.second { (self.second, errors) = (second, 0) }
    errors += number
    return errors > Self.mostErrors
  }
}

/// The numbers of messages of each protocol that the port has read since the start (MON-COMMS).
struct ParsedMessages: Sendable {
  var ubx: UInt16 = 0
  var nmea: UInt16 = 0
  var rtcm3: UInt16 = 0
  var spartn: UInt16 = 0
}

/// Received bytes that are not a whole message yet.
struct InputBuffer: Sendable {
  /// A message at the front of the buffer.
  enum Found {
    case ubx(MessageIdentity, [UInt8])
    case sentence([UInt8])
    /// The number of an RTCM 3 message.
    case correction(Int)
    /// A SPARTN message.
    case spartn(type: Int, isEncrypted: Bool)
  }

  private(set) var bytes: [UInt8] = []
  private(set) var skipped: UInt32 = 0
  private var lastByte = Instant.zero

  /// The silence after which an incomplete message is discarded.
  private static let timeout = Milliseconds(2000)

  mutating func append(_ more: [UInt8], at now: Instant) {
    if now.milliseconds(since: lastByte) > Self.timeout.count { bytes = [] }
    lastByte = now
    bytes += more
  }

  /// Removes and returns the first whole message.
  ///
  /// - Parameter findsSPARTN: whether SPARTN is an input protocol of the port.
  mutating func next(findsSPARTN: Bool) -> Found? {
    var at = 0
    var found: (message: Found, length: Int)?
    scan: while at < bytes.count {
      switch bytes[at] {
      case UBXFrame.sync1:
        switch UBXFrame.scan(bytes.raw, from: at) {
        case .frame(let length):
          let identity = MessageIdentity(bytes[at + 2], bytes[at + 3])
          found = (.ubx(identity, Array(bytes[at + 6..<at + length - 2])), length)
          break scan
        case .needs: break scan
        default: at += 1
        }
      case UInt8(ascii: "$"):
        switch NMEA.Sentence.scan(bytes.raw, from: at) {
        case .sentence(let length):
          found = (.sentence(Array(bytes[at..<at + length])), length)
          break scan
        case .needsMore: break scan
        default: at += 1
        }
      case RTCM3Frame.preamble:
        switch RTCM3Frame.scan(bytes.raw, from: at) {
        case .frame(let length):
          // The number is the first twelve bits of the payload.
          let number = length > 7 ? Int(bytes[at + 3]) << 4 | Int(bytes[at + 4]) >> 4 : 0
          found = (.correction(number), length)
          break scan
        case .needs: break scan
        default: at += 1
        }
      case SPARTNFrame.preamble where findsSPARTN:
        switch SPARTNFrame.scan(bytes.raw, from: at) {
        case .frame(let length):
          let frame = SPARTNFrame(checked: bytes.raw.extracting(at..<at + length))
          found = (.spartn(type: frame.messageType, isEncrypted: frame.header.encryption != nil), length)
          break scan
        case .needs: break scan
        default: at += 1
        }
      // Filler: the host's wake-up byte, or idle fill.
      default: at += 1
      }
    }
    skipped &+= UInt32(at)
    bytes.removeFirst(at + (found?.length ?? 0))
    return found?.message
  }
}

extension VirtualReceiver {
  /// Receives bytes. The first bit began at `start`, and the last byte is complete now.
  mutating func receive(_ bytes: [UInt8], rate: UInt32, from start: Instant) {
    guard !bytes.isEmpty else { return }
    if powerState.isAsleep {
      guard canWakeByUART, !disturbances.ignoresWake(at: now) else { return }
      // The edge wakes the receiver. This byte and all others until the oscillator runs are lost.
      wake()
      return startsAt = max(now, start + wakeTime)
    }
    guard powerState.isAwake, reception.silentUntil == nil, !disturbances.isFrozen(at: now),
      traits.configuration != .none || family != nil
    else { return }
    var received = bytes
    if !transmitter.isUSB, !UARTResampling.agree(rate, receiveRate) {
      // The recordings show the host's UART, not the receiver's.
      let (read, errors) = UARTResampling.receive(
        bytes, sentAt: rate, readAt: receiveRate, afterMissingStopBit: .waits)
      received = read
      if traits.protocolVersion >= 1800, reception.count(errors: errors, at: now) {
        reception.reportsErrors = true
        reception.silentUntil = Instant(nanoseconds: (now.nanoseconds / 1_000_000_000 + 1) * 1_000_000_000)
        input = InputBuffer()
        return
      }
    }
    receivedBytes &+= UInt32(received.count)
    if family != nil { return receiveFamily(received) }
    input.append(received, at: now)
    while powerState.isAwake, reception.silentUntil == nil, let found = input.next(findsSPARTN: settings.readsSPARTN) {
      switch found {
      case .ubx(let identity, let payload):
        guard settings.readsUBX else { continue }
        parsedMessages.ubx &+= 1
        receive(identity, payload)
      case .sentence(let bytes):
        guard settings.readsNMEA else { continue }
        parsedMessages.nmea &+= 1
        receiveSentence(bytes)
      case .correction(let number):
        guard settings.readsRTCM3 else { continue }
        parsedMessages.rtcm3 &+= 1
        differential.receive(message: number, at: now)
      case .spartn(let type, let isEncrypted):
        parsedMessages.spartn &+= 1
        let time = GPSTime(utcMilliseconds: utcMilliseconds(at: now))
        if isEncrypted { spartnKeys.advance(to: time) }
        let canRead = !isEncrypted || spartnKeys.canDecrypt(at: time)
        if canRead, !settings.usesLBand { differential.receive(spartn: type, at: now) }
      }
    }
  }

  /// Ends a pause of the UART.
  mutating func resumeReception() {
    let reportsErrors = reception.reportsErrors
    reception = UARTReception()
    if reportsErrors { sendText("More than 100 frame errors, UART RX was disabled", severity: 1) }
  }

  /// Schedules a change of the rate for when the transmit buffer is empty. Bytes added to it from now on, the
  /// acknowledgement first, leaves at the new rate.
  mutating func changeRate(to rate: UInt32) {
    guard !transmitter.isUSB else { return }
    transmitter.rate = rate
    pendingRate = (rate, max(now, transmitter.freeAt))
  }

  mutating func applyPendingRate() {
    guard let rate = pendingRate?.rate else { return }
    pendingRate = nil
    receiveRate = rate
  }

  private mutating func receiveSentence(_ bytes: [UInt8]) {
    let fields = bytes.dropFirst().prefix { $0 != UInt8(ascii: "*") }.split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false
    ).map { String(decoding: $0, as: UTF8.self) }
    guard let address = fields.first else { return }
    if address == "PUBX" {
      receivePUBX(fields)
    } else if address.count == 5, address.hasSuffix("Q"), fields.count >= 2 {
      pollSentence(fields[1])
    }
  }

  private static let sentenceIDs: [String: UInt8] = [
    "GGA": 0, "GLL": 1, "GSA": 2, "GSV": 3, "RMC": 4, "VTG": 5, "GST": 7, "ZDA": 8, "DTM": 10, "GNS": 13,
  ]

  private mutating func receivePUBX(_ fields: [String]) {
    guard fields.count >= 2 else { return }
    switch fields[1] {
    case "00": pollSentence(0xF100)
    case "03": pollSentence(0xF103)
    case "04": pollSentence(0xF104)
    case "40":
      guard fields.count >= 8, let id = Self.sentenceIDs[fields[2]] else { return }
      setRates(MessageIdentity(0xF0, id), (3...7).map { UInt8(fields[$0]) ?? 0 })
    case "41":
      guard fields.count >= 6, let port = Int(fields[2]), let input = UInt16(fields[3], radix: 16),
        let output = UInt16(fields[4], radix: 16), let rate = UInt32(fields[5]), traits.baudRates ~= rate
      else { return }
      setPort(port, rate: rate, input: input, output: output)
    default: break
    }
  }

  private mutating func pollSentence(_ name: String) {
    if let id = Self.sentenceIDs[name] { pollSentence(0xF000 | UInt16(id)) }
  }

  private mutating func pollSentence(_ identity: UInt16) {
    guard settings.sendsNMEA else { return }
    var frames: [[UInt8]] = []
    SentenceOutput(solution: solution, version: settings.nmeaVersion, systems: settings.systems)
      .write(identity, &writer, &frames)
    for frame in frames { reply(frame) }
  }
}
