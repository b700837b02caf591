// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

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
      if let period = faultsRepeatEvery { faults.append((due.at + period, due.fault)) }
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
