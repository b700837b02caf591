// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import ReceiverStream

/// A recording as a device: its bytes arrive epoch by epoch.
///
/// An epoch begins at a new time in the messages. Its length is the difference of the times, or a second without times.
/// Bytes that are written to the device are ignored, and every rate is correct.
struct ReplayedDevice: SimulatedDevice {
  var hostRate: UInt32 = 38_400
  let isPresent = true

  private let epochs: [RecordedEpoch]
  private var index = 0
  /// The number of sent bytes of the epoch.
  private var sent = 0
  private var next: Instant
  private var epochBegan: Instant
  private var received: [UInt8] = []

  init(_ bytes: [UInt8], startingAt now: Instant) {
    epochs = RecordedEpoch.split(bytes)
    next = now
    epochBegan = now
  }

  /// Whether all bytes were sent.
  var isFinished: Bool { index == epochs.count && received.isEmpty }

  var deadline: Instant? { isFinished ? nil : next }

  mutating func send(_ bytes: [UInt8], at now: Instant) {}

  mutating func advance(to now: Instant) {
    while index < epochs.count, now >= next {
      let epoch = epochs[index]
      // Pieces of about five milliseconds, which is the interval of drivers.
      let most = max(1, Int(hostRate) / 2000)
      let piece = epoch.bytes[sent..<min(sent + most, epoch.bytes.count)]
      received += piece
      sent += piece.count
      next = next + Milliseconds(5)
      guard sent == epoch.bytes.count else { continue }
      (index, sent) = (index + 1, 0)
      epochBegan = max(epochBegan + epoch.length, next)
      next = epochBegan
    }
  }

  mutating func takeReceived() -> [UInt8] {
    defer { received = [] }
    return received
  }
}

/// The bytes of an epoch, and the time until the next one.
struct RecordedEpoch {
  var bytes: [UInt8]
  var length: Milliseconds

  private static let usual = Milliseconds(1000)

  /// Cuts a recording at changes of the time.
  static func split(_ bytes: [UInt8]) -> [RecordedEpoch] {
    var cuts: [(offset: Int, milliseconds: Int)] = []
    var stream = FrameStream()
    unsafe stream.receive(bytes.span.bytes) { frame in
      guard let time = milliseconds(of: frame) else { return }
      if cuts.last?.milliseconds != time { cuts.append((Int(frame.offset), time)) }
    }
    guard !cuts.isEmpty else { return [RecordedEpoch(bytes: bytes, length: usual)] }
    // Bytes before the first time belong to its epoch.
    cuts[0].offset = 0
    return cuts.indices.map { index in
      let end = index + 1 < cuts.count ? cuts[index + 1].offset : bytes.count
      let length = index + 1 < cuts.count ? cuts[index + 1].milliseconds - cuts[index].milliseconds : 1000
      return RecordedEpoch(
        bytes: Array(bytes[cuts[index].offset..<end]),
        length: 1...10_000 ~= length ? Milliseconds(UInt64(length)) : usual)
    }
  }

  /// The time in a frame: milliseconds of the day in a sentence, of the GPS day in a message of class NAV.
  private static func milliseconds(of frame: borrowing Frame) -> Int? {
    let head = (0..<min(16, frame.bytes.byteCount)).map {
      unsafe frame.bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
    }
    guard head.count == 16 else { return nil }
    return switch frame.kind {
    case .ubx: ubxTime(head)
    case .nmea: sentenceTime(head)
    case .rtcm3, .spartn: nil
    }
  }

  private static func ubxTime(_ head: [UInt8]) -> Int? {
    // Messages that begin with the time of week; others, such as NAV-HPPOSLLH, begin with a version.
    let ids: [UInt8] = [0x02, 0x03, 0x04, 0x06, 0x07, 0x12, 0x21, 0x30, 0x35]
    guard head[2] == 1, ids.contains(head[3]) else { return nil }
    let timeOfWeek = (0..<4).reduce(0) { $0 | Int(head[6 + $1]) << ($1 * 8) }
    // GPS time is ahead of UTC by 18 seconds. Sentences and messages of an epoch then have the same time.
    return (timeOfWeek - 18_000 + 604_800_000) % 86_400_000
  }

  private static func sentenceTime(_ head: [UInt8]) -> Int? {
    guard ["GGA", "RMC", "ZDA", "GNS"].contains(String(decoding: head[3..<6], as: UTF8.self)) else { return nil }
    let digits = head[7..<13].map { Int($0) - 48 }
    guard digits.allSatisfy({ 0...9 ~= $0 }) else { return nil }
    let seconds = (digits[0] * 10 + digits[1]) * 3600 + (digits[2] * 10 + digits[3]) * 60 + digits[4] * 10 + digits[5]
    let hundredths = head[13] == UInt8(ascii: ".") ? (Int(head[14]) - 48) * 10 + Int(head[15]) - 48 : 0
    return seconds * 1000 + (0...99 ~= hundredths ? hundredths * 10 : 0)
  }
}
