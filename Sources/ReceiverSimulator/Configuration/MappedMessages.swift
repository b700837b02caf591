// SPDX-License-Identifier: Apache-2.0
import UBX

// The old configuration messages on receivers with items, as an alternative for the same items (F9 interface
// descriptions, "mapped cousins").
extension ItemConfiguration {
  /// Handles CFG-PRT, -MSG, -INF, -RATE, -NAV5 and -NAVX5; others are refused.
  mutating func receiveLegacy(_ id: UInt8, _ payload: [UInt8], port: Int) -> LegacyConfiguration.Outcome {
    switch id {
    case 0x00: return receivePort(payload, port)
    case 0x01: return receiveRate(payload, port)
    case 0x02: return receiveText(payload)
    case 0x08:
      if payload.isEmpty { return .answer(rate) }
      guard payload.count == 6 else { return .refused }
      return write([
        (Key.measurement, UInt64(payload.u2(0))), (Key.cycles, UInt64(payload.u2(2))),
        (Key.timeReference, UInt64(payload.u2(4))),
      ])
    case 0x23:
      if payload.isEmpty {
        var answer = [UInt8](repeating: 0, count: 40)
        answer[0] = 2
        answer[17] = UInt8(value(Key.acknowledgeAiding))
        return .answer(answer)
      }
      guard payload.count == 40 else { return .refused }
      return payload.u2(2) & 0x400 == 0 ? .acknowledged : write([(Key.acknowledgeAiding, UInt64(payload[17]))])
    case 0x24:
      if payload.isEmpty { return .answer(navigation) }
      guard payload.count == 36 else { return .refused }
      return write(
        navigationPairs.filter { payload.u2(0) & $0.bit != 0 }.map { ($0.key, payload.number($0.at, $0.size)) })
    default: return .refused
    }
  }

  /// Sets a port's rate and protocols for PUBX,41.
  mutating func setPort(_ port: Int, rate: UInt32, input: UInt16, output: UInt16) {
    var pairs = [
      (Key.input(port, 1), UInt64(input & 1)), (Key.input(port, 2), UInt64(input >> 1 & 1)),
      (Key.output(port, 1), UInt64(output & 1)), (Key.output(port, 2), UInt64(output >> 1 & 1)),
    ]
    if port == 1 { pairs.append((Key.uart1BaudRate, UInt64(rate))) }
    if port == 2 { pairs.append((Key.uart2BaudRate, UInt64(rate))) }
    _ = write(pairs)
  }

  private mutating func write(_ pairs: [(UInt32, UInt64)]) -> LegacyConfiguration.Outcome {
    setInForce(pairs) ? .acknowledged : .refused
  }

  private var rate: [UInt8] {
    var answer: [UInt8] = []
    for key in [Key.measurement, Key.cycles, Key.timeReference] { answer.append(UInt16(value(key))) }
    return answer
  }

  /// The fields of CFG-NAV5 with their items.
  private var navigationPairs: [(bit: UInt16, at: Int, size: Int, key: UInt32)] {
    [
      (0x001, 2, 1, Key.dynamicModel), (0x004, 3, 1, 0x2011_0011), (0x004, 4, 4, 0x4011_00C1),
      (0x004, 8, 4, 0x4011_00C2), (0x002, 12, 1, 0x2011_00A4), (0x010, 14, 2, 0x3011_00B1),
      (0x020, 16, 2, 0x3011_00B2), (0x010, 18, 2, 0x3011_00B3), (0x020, 20, 2, 0x3011_00B4),
      (0x040, 22, 1, 0x2025_0038), (0x080, 23, 1, 0x2011_00C4), (0x100, 24, 1, 0x2011_00AA),
      (0x100, 25, 1, 0x2011_00AB), (0x040, 28, 2, 0x3025_003B), (0x400, 30, 1, 0x2011_001C),
    ]
  }

  private var navigation: [UInt8] {
    var answer = [UInt8](repeating: 0, count: 36)
    answer.set(0xFFFF as UInt16, at: 0)
    for row in navigationPairs {
      for index in 0..<row.size {
        answer[row.at + index] = UInt8(truncatingIfNeeded: value(row.key) >> UInt64(8 * index))
      }
    }
    return answer
  }

  /// Handles a poll of CFG-PRT, which firmware without the other messages replies to as well.
  func pollPort(_ payload: [UInt8], _ current: Int) -> LegacyConfiguration.Outcome {
    let port = payload.first.map { Int($0) } ?? current
    return port <= 4 ? .answer(portRecord(port)) : .refused
  }

  private mutating func receivePort(_ payload: [UInt8], _ current: Int) -> LegacyConfiguration.Outcome {
    if payload.count <= 1 { return pollPort(payload, current) }
    let port = Int(payload[0])
    guard port <= 4 else { return .refused }
    guard payload.count == 20, port != 1 && port != 2 || payload.u4(4) >> 6 & 3 == 3 else { return .refused }
    let (input, output) = (payload.u2(12), payload.u2(14))
    var pairs: [(UInt32, UInt64)] = [
      (Key.input(port, 1), UInt64(input & 1)), (Key.input(port, 2), UInt64(input >> 1 & 1)),
      (Key.input(port, 4), UInt64(input >> 5 & 1)), (Key.output(port, 1), UInt64(output & 1)),
      (Key.output(port, 2), UInt64(output >> 1 & 1)),
    ]
    if port == 1 { pairs.append((Key.uart1BaudRate, UInt64(payload.u4(8)))) }
    if port == 2 { pairs.append((Key.uart2BaudRate, UInt64(payload.u4(8)))) }
    return write(pairs)
  }

  private func portRecord(_ port: Int) -> [UInt8] {
    var record = [UInt8](repeating: 0, count: 20)
    record[0] = UInt8(port)
    if port == 1 || port == 2 {
      record.set(0x8C0 as UInt32, at: 4)
      record.set(UInt32(value(port == 1 ? Key.uart1BaudRate : Key.uart2BaudRate)), at: 8)
    }
    record.set(protocols { Key.input(port, $0) }, at: 12)
    record.set(protocols { Key.output(port, $0) }, at: 14)
    return record
  }

  /// The mask of CFG-PRT for protocols that have items: UBX, NMEA, RTCM 3, SPARTN.
  private func protocols(_ key: (UInt32) -> UInt32) -> UInt16 {
    let items: [(item: UInt32, bit: UInt16)] = [(1, 0), (2, 1), (4, 5), (5, 6)]
    return items.reduce(0) { mask, row in
      (row.bit < 5 || traits.hasCorrections) && value(key(row.item)) != 0 ? mask | 1 << row.bit : mask
    }
  }

  private mutating func receiveRate(_ payload: [UInt8], _ port: Int) -> LegacyConfiguration.Outcome {
    guard payload.count >= 2, let index = OutputMessage.index(of: MessageIdentity(payload[0], payload[1])),
      case let key = OutputMessage.all[index].key, database.contains(key + 1)
    else { return .refused }
    switch payload.count {
    case 2: return .answer(payload + (0..<5).map { UInt8(truncatingIfNeeded: value(key + $0)) } + [0])
    case 3: return write([(key + UInt32(port), UInt64(payload[2]))])
    case 8: return write((0..<5).map { (key + UInt32($0), UInt64(payload[2 + $0])) })
    default: return .refused
    }
  }

  private mutating func receiveText(_ payload: [UInt8]) -> LegacyConfiguration.Outcome {
    let key = { (kind: UInt8, port: Int) in kind == 0 ? Key.textUBX(port) : Key.textNMEA(port) }
    guard let kind = payload.first, kind <= 1 else { return .refused }
    if payload.count == 1 {
      return .answer([kind, 0, 0, 0] + (0..<5).map { UInt8(truncatingIfNeeded: value(key(kind, $0))) } + [0])
    }
    guard payload.count == 10 else { return .refused }
    return write((0..<5).map { (key(kind, $0), UInt64(payload[4 + $0])) })
  }
}

extension [UInt8] {
  /// Reads a little-endian number of this many bytes.
  fileprivate func number(_ at: Int, _ size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(self[at + $1]) << UInt64(8 * $1) }
  }
}
