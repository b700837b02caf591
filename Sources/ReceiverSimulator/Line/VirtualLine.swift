// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import UBX
import WireBytes

/// A receiver at the end of a serial line, from its host's side, in virtual time.
///
/// Bytes have a transfer time in both directions, and are garbled if the rates of the two sides differ. The line is a
/// value: time and bytes go in, bytes and the next deadline come out.
///
///     var line = VirtualLine(model: .m10, startUTCSeconds: 1_800_000_000)
///     line.hostRate = 9600
///     line.send(poll, at: now)
///     while let due = line.deadline { now = due; line.advance(to: now); use(line.takeReceived()) }
public struct VirtualLine: Sendable {
  /// The rate of the host's side, baud.
  public var hostRate: UInt32
  /// Whether the device is plugged in.
  public private(set) var isPresent = true
  /// The receiver.
  public var receiver: VirtualReceiver
  /// The number of bytes that have arrived at the host.
  public private(set) var arrivedBytes = 0

  private let hasRate: Bool
  private let origin: Instant
  private var random: SeededRandomNumberGenerator
  private var now: Instant
  private var received: [UInt8] = []
  /// Bytes that are in transfer to the receiver.
  private var outgoing: [Transmitter.Piece] = []
  private var hostFreeAt = Instant.zero
  private var faults: [(at: Instant, fault: Fault)]
  private var faultsRepeatEvery: Milliseconds?
  private var pluggedInAt: Instant?
  private var poweredAt: Instant?
  private var corruption: (share: Double, until: Instant)?
  private var loss: (share: Double, until: Instant)?

  /// The size in bytes of the pieces in which the host's bytes arrive: a piece arrives with its last byte.
  private static let pieceBytes = 16

  /// - Parameters:
  ///   - model: The receiver.
  ///   - scenario: Where it is and what happens to it.
  ///   - seed: Determines everything that is random.
  ///   - startUTCSeconds: The time at the start, seconds since 1970.
  ///   - hasRate: False for USB CDC, where the rate does not matter.
  ///   - now: The start.
  public init(
    model: ReceiverModel, scenario: Scenario = Scenario(), seed: UInt64 = 1, startUTCSeconds: Int64,
    hasRate: Bool = true, startingAt now: Instant = .zero
  ) {
    receiver = VirtualReceiver(
      model: model, scenario: scenario, seed: seed, startUTCSeconds: startUTCSeconds, isUSB: !hasRate, now: now)
    hostRate = model.traits.defaultBaudRate
    self.hasRate = hasRate
    self.now = now
    origin = now
    random = SeededRandomNumberGenerator(seed: seed ^ 0x5EED)
    faults = scenario.faults.map { (now + Milliseconds(seconds: $0.atSeconds), $0.fault) }
    if scenario.repeats { faultsRepeatEvery = Milliseconds(seconds: scenario.durationSeconds) }
  }

  /// Sends bytes from the host, one after the other at the host's rate. Bytes to an unplugged device are lost.
  public mutating func send(_ bytes: [UInt8], at now: Instant) {
    advance(to: now)
    guard isPresent else { return }
    var start = max(self.now, hostFreeAt)
    let byte = Transmitter.byteNanoseconds(rate: hostRate, isUSB: !hasRate)
    var at = 0
    while at < bytes.count {
      let end = min(at + Self.pieceBytes, bytes.count)
      let piece = Transmitter.Piece(
        bytes: Array(bytes[at..<end]), start: start, byteNanoseconds: byte, rate: hasRate ? hostRate : 0)
      start = piece.end
      outgoing.append(piece)
      at = end
    }
    hostFreeAt = start
  }

  /// Advances the time.
  public mutating func advance(to target: Instant) {
    while let next = nextEvent, next <= target {
      now = max(now, next)
      receiver.advance(to: now)
      // Bytes that were sent by now were sent at the host's present rate.
      collect()
      run()
    }
    now = max(now, target)
    receiver.advance(to: now)
    collect()
  }

  /// Takes the bytes that have arrived at the host since the last call.
  public mutating func takeReceived() -> [UInt8] {
    defer { received = [] }
    return received
  }

  /// The time of the next internal event or arrival.
  public var deadline: Instant? {
    if !received.isEmpty { return now }
    var next = Instant.earlier(nextEvent, receiver.deadline)
    if isPresent { next = Instant.earlier(next, receiver.transmitter.deadline) }
    return next
  }

  /// Starts a fault.
  public mutating func inject(_ fault: Fault, at now: Instant) {
    advance(to: now)
    strike(fault)
  }

  // MARK: - Events

  private var nextEvent: Instant? {
    var next = Instant.earlier(faults.first?.at, outgoing.first?.end)
    next = Instant.earlier(next, pluggedInAt)
    return Instant.earlier(next, poweredAt)
  }

  private mutating func run() {
    if let at = pluggedInAt, now >= at {
      pluggedInAt = nil
      isPresent = true
      receiver.restoreSupply()
    }
    if let at = poweredAt, now >= at {
      poweredAt = nil
      receiver.restoreSupply()
    }
    if let piece = outgoing.first, now >= piece.end {
      outgoing.removeFirst()
      receiver.receive(damaged(piece.bytes), rate: piece.rate, from: piece.start)
    }
    if let due = faults.first, now >= due.at {
      faults.removeFirst()
      // Faults that begin after the length of the scenario are still to come.
      if let period = faultsRepeatEvery {
        let at = due.at + period
        faults.insert((at, due.fault), at: faults.firstIndex { $0.at > at } ?? faults.endIndex)
      }
      strike(due.fault)
    }
  }

  private mutating func strike(_ fault: Fault) {
    switch fault {
    case .unplug(let time):
      isPresent = false
      outgoing = []
      received = []
      pluggedInAt = now + time
      receiver.cutSupply(losingBackup: false)
      receiver.transmitter.discard(at: now)
    case .powerCycle(let time, let losingBackup):
      poweredAt = now + time
      receiver.cutSupply(losingBackup: losingBackup)
    case .corrupt(let share, let time): corruption = (share, now + time)
    case .drop(let share, let time): loss = (share, now + time)
    default: receiver.suffer(fault)
    }
  }

  // MARK: - The wire

  private mutating func collect() {
    guard isPresent else { return }
    var pieces: [(bytes: [UInt8], rate: UInt32)] = []
    receiver.transmitter.take(by: now) { pieces.append(($0, $1)) }
    for piece in pieces {
      var bytes = piece.bytes
      if hasRate, !UARTResampling.agree(piece.rate, hostRate) {
        bytes = UARTResampling.receive(bytes, sentAt: piece.rate, readAt: hostRate).bytes
      }
      let arrived = damaged(bytes)
      arrivedBytes += arrived.count
      received += arrived
    }
  }

  /// The bytes after the faults of the line.
  private mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    if let (share, until) = loss, now < until { bytes.removeAll { _ in random.unit() < share } }
    if let (share, until) = corruption, now < until {
      for index in bytes.indices where random.unit() < share { bytes[index] ^= UInt8(1 + random.next() % 255) }
    }
    return bytes
  }
}

extension VirtualLine {
  /// The output of a receiver on USB, for each second: sentences, NAV-PVT, NAV-DOP, NAV-SAT and NAV-EOE. The receiver
  /// walks in the park and has a fix after two or three seconds.
  ///
  /// - Parameters:
  ///   - startUTCSeconds: The time of the first epoch, seconds since 1970.
  ///   - seconds: The length.
  ///   - seed: The seed of all random values.
  public static func recording(startUTCSeconds: Int64, seconds: Int, seed: UInt64 = 1) -> [[UInt8]] {
    var line = VirtualLine(model: .m9, seed: seed, startUTCSeconds: startUTCSeconds - 1, hasRate: false)
    // The text of the start precedes the first epoch.
    line.advance(to: .zero + Milliseconds(999))
    _ = line.takeReceived()
    for id in [0x07, 0x04, 0x35, 0x61] as [UInt8] { line.receiver.setRate(of: MessageIdentity(0x01, id), every: 1) }
    return (0..<UInt64(seconds)).map { second in
      line.advance(to: .zero + Milliseconds(1999 + 1000 * second))
      return line.takeReceived()
    }
  }
}

extension VirtualReceiver {
  /// Sets the interval of a message on the host's port in epochs, with the effect of CFG-MSG or CFG-MSGOUT; 0 for
  /// off.
  public mutating func setRate(of identity: MessageIdentity, every epochs: UInt8) {
    var rates = [UInt8](repeating: 0, count: 5)
    rates[port] = epochs
    setRates(identity, rates)
  }
}

/// The result of a UART that reads bytes at another rate than their own.
public enum UARTResampling {
  /// Whether a receiver at rate `b` reads a sender at rate `a`: within 2.5 % (data sheets, UART tolerance).
  public static func agree(_ a: UInt32, _ b: UInt32) -> Bool {
    let (low, high) = (UInt64(min(a, b)), UInt64(max(a, b)))
    return low > 0 && high * 1000 <= low * 1025
  }

  /// How a UART goes on after a byte without a stop bit.
  public enum AfterMissingStopBit: Sendable {
    /// The low level in place of the stop bit is the next start bit, for one that is faster than the sender: so a recorded
    /// adapter reads. The recordings of a slower one, one or two bytes until the host follows a change of the rate, do not
    /// show it; it waits.
    case startsNextByte
    /// It waits for a high level.
    case waits
  }

  /// Returns the bytes that are read, and the number of bytes without a stop bit.
  ///
  /// Sender and receiver count bits by their own clocks. The receiver waits for a falling edge and samples the middle
  /// of each of the ten bits that follow. Bytes without a stop bit are read too.
  public static func receive(
    _ bytes: [UInt8], sentAt sender: UInt32, readAt receiver: UInt32,
    afterMissingStopBit next: AfterMissingStopBit = .startsNextByte
  ) -> (bytes: [UInt8], errors: Int) {
    guard sender > 0, receiver > 0 else { return ([], 0) }
    // The sender's bits in one bit of the receiver.
    let step = Double(sender) / Double(receiver)
    let total = Double(bytes.count * 10)
    let level = { (at: Double) -> Bool in
      // The idle line is high.
      guard at >= 0, at < total else { return true }
      let bit = Int(clamping: at)
      switch bit % 10 {
      case 0: return false
      case 9: return true
      case let place: return bytes[bit / 10] >> UInt8(place - 1) & 1 == 1
      }
    }
    var read: [UInt8] = []
    var errors = 0
    var at = 0.0
    while at < total {
      // The next falling edge. Edges are at whole bits of the sender.
      if level(at) {
        at = at.rounded(.down) + 1
        continue
      }
      if level(at + step / 2) {
        at += step
        continue
      }
      var byte: UInt8 = 0
      for place in 0..<8 where level(at + step * (1.5 + Double(place))) { byte |= 1 << UInt8(place) }
      read.append(byte)
      let hasStopBit = level(at + step * 9.5)
      if !hasStopBit { errors += 1 }
      let startsNextByte = !hasStopBit && next == .startsNextByte && step < 1
      at += step * (startsNextByte ? 9 : 9.5)
      if !startsNextByte { while at < total, !level(at) { at = at.rounded(.down) + 1 } }
    }
    return (read, errors)
  }
}

/// The sending side of a UART: messages wait in a buffer and leave at the line's rate. A message that does not fit is
/// dropped as a whole, as receivers do (interface descriptions, MON-TXBUF).
struct Transmitter: Sendable {
  /// A message in the buffer.
  struct Piece: Sendable {
    var bytes: [UInt8]
    /// The time of its first bit.
    var start: Instant
    var byteNanoseconds: UInt64
    /// Its rate in baud; 0 on USB.
    var rate: UInt32
    /// The number of bytes that were taken off the line.
    var taken = 0

    var end: Instant { Instant(nanoseconds: start.nanoseconds + UInt64(bytes.count) * byteNanoseconds) }

    /// The number of bytes that are completely sent.
    func sent(by now: Instant) -> Int {
      guard now > start else { return 0 }
      return min(bytes.count, Int((now.nanoseconds - start.nanoseconds) / byteNanoseconds))
    }
  }

  /// The rate in baud of the messages that are added from now on.
  var rate: UInt32
  /// Whether the port is USB, which has no rate.
  let isUSB: Bool
  private let capacity: Int
  private(set) var pieces: [Piece] = []
  /// The time at which the buffer is empty.
  private(set) var freeAt = Instant.zero
  private(set) var droppedMessages = 0
  private(set) var sentBytes: UInt64 = 0

  init(rate: UInt32, isUSB: Bool, capacity: Int) {
    self.rate = rate
    self.isUSB = isUSB
    self.capacity = capacity
  }

  /// The duration of a byte: a start bit, eight data bits and a stop bit. Full-speed USB is as fast as its packets
  /// allow.
  static func byteNanoseconds(rate: UInt32, isUSB: Bool) -> UInt64 {
    isUSB || rate == 0 ? 1000 : 10_000_000_000 / UInt64(rate)
  }

  /// The number of bytes that are not sent yet.
  func pending(at now: Instant) -> Int { pieces.reduce(0) { $0 + $1.bytes.count - $1.sent(by: now) } }

  /// Adds a message, or drops it if there is no room.
  mutating func send(_ bytes: [UInt8], at now: Instant) {
    guard !bytes.isEmpty else { return }
    guard pending(at: now) + bytes.count <= capacity else { return droppedMessages += 1 }
    let start = max(now, freeAt)
    let piece = Piece(
      bytes: bytes, start: start, byteNanoseconds: Self.byteNanoseconds(rate: rate, isUSB: isUSB),
      rate: isUSB ? 0 : rate)
    freeAt = piece.end
    pieces.append(piece)
    sentBytes += UInt64(bytes.count)
  }

  /// Stops sending now, possibly in the middle of a byte. The rest is lost.
  mutating func cut(at now: Instant) {
    pieces = pieces.compactMap { piece in
      var piece = piece
      piece.bytes.removeLast(piece.bytes.count - piece.sent(by: now))
      return piece.bytes.count > piece.taken ? piece : nil
    }
    freeAt = now
  }

  /// Cuts the line: bytes that were sent and not taken are lost too.
  mutating func discard(at now: Instant) {
    pieces = []
    freeAt = now
  }

  /// Takes the bytes that were sent by now. `body` receives each message's part and its rate.
  mutating func take(by now: Instant, _ body: ([UInt8], UInt32) -> Void) {
    var finished = 0
    for index in pieces.indices {
      let sent = pieces[index].sent(by: now)
      let from = pieces[index].taken
      if sent > from { body(Array(pieces[index].bytes[from..<sent]), pieces[index].rate) }
      pieces[index].taken = sent
      if sent < pieces[index].bytes.count { break }
      finished += 1
    }
    if finished > 0 { pieces.removeFirst(finished) }
  }

  /// The time at which the current message is complete.
  var deadline: Instant? { pieces.first?.end }
}
