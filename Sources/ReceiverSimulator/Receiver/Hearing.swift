import MonotonicTime
import NMEA
import RTCM3
import UBX

/// The UART's receiving side: how many frame errors there were, and until when it is switched off.
struct Hearing: Sendable {
  /// While it is off because of frame errors, or because the port is set up anew.
  var silentUntil: Instant?
  /// Whether the text about frame errors follows.
  var tellsOfErrors = false
  private var errors = 0
  private var second: UInt64 = 0

  /// Frame errors in one second after which reading stops until its end (interface descriptions, protocol version 18
  /// on).
  static let mostErrors = 100

  /// Counts frame errors; true when they are too many.
  mutating func count(errors number: Int, at now: Instant) -> Bool {
    let second = now.nanoseconds / 1_000_000_000
    if second != self.second { (self.second, errors) = (second, 0) }
    errors += number
    return errors > Self.mostErrors
  }
}

/// Bytes that came in and are no whole message yet.
struct InputBuffer: Sendable {
  /// What was found at the front.
  enum Found {
    case ubx(MessageIdentity, [UInt8])
    case sentence([UInt8])
    case correction
  }

  private(set) var bytes: [UInt8] = []
  private(set) var skipped: UInt32 = 0
  private var lastByte = Instant.zero

  /// After this silence the rest of a message is not waited for.
  private static let patience = Milliseconds(2000)

  mutating func append(_ more: [UInt8], at now: Instant) {
    if now.milliseconds(since: lastByte) > Self.patience.count { bytes = [] }
    lastByte = now
    bytes += more
  }

  /// Takes the first whole message out.
  mutating func next() -> Found? {
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
          found = (.correction, length)
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
  /// Bytes come in whose first bit began at `start`; now the last is there.
  mutating func hear(_ bytes: [UInt8], rate: UInt32, from start: Instant) {
    guard !bytes.isEmpty else { return }
    if powerState.isAsleep {
      guard canWakeByUART, !disturbances.ignoresWake(at: now) else { return }
      // The edge wakes it; this byte and those until the oscillator runs are lost.
      wake()
      return startsAt = max(now, start + Milliseconds(traits.wakeMilliseconds))
    }
    guard powerState.isAwake, hears.silentUntil == nil, !disturbances.isFrozen(at: now),
      traits.configuration != .none
    else { return }
    var heard = bytes
    if !transmitter.isUSB, !UARTResampling.agree(rate, receiveRate) {
      let (read, errors) = UARTResampling.receive(bytes, sentAt: rate, readAt: receiveRate)
      heard = read
      if traits.protocolVersion >= 1800, hears.count(errors: errors, at: now) {
        hears.tellsOfErrors = true
        hears.silentUntil = Instant(nanoseconds: (now.nanoseconds / 1_000_000_000 + 1) * 1_000_000_000)
        input = InputBuffer()
        return
      }
    }
    receivedBytes &+= UInt32(heard.count)
    input.append(heard, at: now)
    while powerState.isAwake, hears.silentUntil == nil, let found = input.next() {
      switch found {
      case .ubx(let identity, let payload): if settings.readsUBX { receive(identity, payload) }
      case .sentence(let bytes): if settings.readsNMEA { receiveSentence(bytes) }
      case .correction: break
      }
    }
  }

  /// It reads again.
  mutating func hearAgain() {
    let tells = hears.tellsOfErrors
    hears = Hearing()
    if tells { sendText("More than 100 frame errors, UART RX was disabled", severity: 1) }
  }

  /// The rate changes once what waits is sent: the acknowledgement leaves at the old rate.
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
