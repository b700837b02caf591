// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Receiver
import TestSupport
import UBX

/// A receiver that does at random what an odd firmware could do. It is not a model of a real one: what it stores it stores, what
/// it answers is a matter of chance.
struct WhimsicalReceiver {
  enum Nature {
    /// It understands UBX.
    case uBlox
    /// It writes UBX and never answers.
    case deaf
    /// Sentences with another maker's own among them.
    case otherMaker
    /// Nothing that could be understood.
    case noise
  }

  /// A setting by its CFG message and the payload of its poll.
  struct Place: Hashable {
    var id: UInt8
    var selector: [UInt8]
  }

  /// The settings in one kind of memory.
  struct Store: Equatable {
    var items: [UInt32: UInt64] = [:]
    var messages: [Place: [UInt8]] = [:]
  }

  let nature: Nature
  /// Whether its reports of settings are right, refused settings are unchanged, and replies are not so late that they can be
  /// taken for others.
  let isTruthful: Bool
  let usesItems: Bool
  private(set) var rate: UInt32
  let firstRate: UInt32
  private(set) var ram = Store()
  private(set) var battery = Store()
  private(set) var deadline: Instant
  private var random: SeededRandomNumberGenerator
  private var coming: [(at: Instant, bytes: [UInt8])] = []
  private var nextEpoch: Instant
  private var nextWhim: Instant
  private var muteUntil = Instant.zero
  /// It sleeps until a byte comes, or until then.
  private var sleepsUntil: Instant?
  private var rateAt: (at: Instant, rate: UInt32)?
  private let period: UInt64
  /// The percentage of commands that are answered as they should be.
  private let sense: Int
  private let version: [UInt8]
  private let id: [UInt8]
  private var epoch = 0
  private var batchNumber: UInt16 = 0
  private let hasNoUnknownItems: Bool

  init(_ nature: Nature, isTruthful: Bool, rate: UInt32, seed: UInt64) {
    var random = SeededRandomNumberGenerator(seed: seed ^ 0xA5A5)
    self.nature = nature
    self.isTruthful = isTruthful
    self.rate = rate
    firstRate = rate
    period = random.element(of: [40, 100, 200, 1000, 1000, 1000, 1000])
    sense = random.element(of: [20, 50, 80, 95, 99, 100])
    (version, usesItems) = Self.version(&random, isTruthful: isTruthful)
    id = [random.oneIn(2) ? 1 : 2, 0, 0, 0] + random.bytes(5)
    hasNoUnknownItems = random.oneIn(2)
    nextEpoch = Instant.zero + Milliseconds(100)
    nextWhim = Instant.zero + Milliseconds(UInt64(random.int(500...20_000)))
    deadline = nextEpoch
    self.random = random
  }

  // MARK: Time

  /// Time passes: what it writes until then.
  mutating func advance(to now: Instant) -> [UInt8] {
    if let change = rateAt, now >= change.at {
      rate = change.rate
      rateAt = nil
    }
    if let until = sleepsUntil, now >= until { wake(at: now) }
    while now >= nextEpoch {
      if !isMute(at: nextEpoch) { send(speech(), at: nextEpoch) }
      nextEpoch += Milliseconds(isOutOfTime ? period * 3 : period)
      epoch += 1
    }
    if now >= nextWhim {
      whim(at: now)
      nextWhim = now + Milliseconds(UInt64(random.int(500...30_000)))
    }
    var bytes: [UInt8] = []
    var later: [(at: Instant, bytes: [UInt8])] = []
    for piece in coming {
      if piece.at <= now { bytes += piece.bytes } else { later.append(piece) }
    }
    coming = later
    deadline = min(nextEpoch, nextWhim)
    for piece in coming { deadline = min(deadline, piece.at) }
    if let until = sleepsUntil { deadline = min(deadline, until) }
    if let change = rateAt { deadline = min(deadline, change.at) }
    return isMute(at: now) ? [] : bytes
  }

  private var isOutOfTime: Bool { nature == .noise && epoch % 7 == 0 }

  private func isMute(at now: Instant) -> Bool { now < muteUntil || sleepsUntil != nil }

  private mutating func send(_ bytes: [UInt8], at now: Instant, after milliseconds: Int = 0) {
    let at = now + Milliseconds(UInt64(milliseconds))
    guard bytes.count > 12, random.oneIn(3) else { return coming.append((at, bytes)) }
    let cut = random.int(1...bytes.count - 1)
    coming.append((at, Array(bytes[..<cut])))
    coming.append((at + Milliseconds(UInt64(random.int(1...40))), Array(bytes[cut...])))
  }

  private mutating func wake(at now: Instant) {
    sleepsUntil = nil
    restart(at: now)
  }

  /// RAM is lost.
  private mutating func restart(at now: Instant) {
    ram = battery
    coming = []
    rateAt = nil
    rate = firstRate
    if usesItems, let kept = battery.items[0x4052_0001] { rate = UInt32(truncatingIfNeeded: kept) }
    if let port = battery.messages[Place(id: 0, selector: [])], port.count >= 20 { rate = port.u4(at: 8) }
    if random.oneIn(2), nature == .uBlox {
      send(Wire.nmea("GNTXT,01,01,02,u-blox AG - www.u-blox.com"), at: now, after: 100)
    }
  }

  /// Returns an unrequested frame.
  private mutating func whim(at now: Instant) {
    if nature == .otherMaker {
      // Its first word is its own; after that it has whims as others have.
      if now > Instant.zero + Milliseconds(40_000), random.oneIn(2) {
        muteUntil = now + Milliseconds(UInt64(random.int(500...20_000)))
      } else {
        send(random.bytes(random.int(1...40)).map { $0 & 0x5F }, at: now)
      }
      return
    }
    switch random.int(0...11) {
    case 0: send(random.bytes(random.int(1...400)), at: now)
    case 1:
      for index in 0..<20 { send(random.bytes(random.int(1...100)), at: now, after: index * 100) }
    case 2, 3: muteUntil = now + Milliseconds(UInt64(random.int(500...40_000)))
    case 4 where nature == .uBlox: restart(at: now)
    case 5 where nature != .noise: send(Wire.nmea("GNTXT,01,01,02,ANTSTATUS=OK"), at: now)
    case 6 where nature == .uBlox: send(Wire.ubx(0x0A, 0x04, version), at: now)
    case 7 where nature == .uBlox && !isTruthful:
      send(Wire.ubx(0x05, UInt8(random.int(0...1)), [6, random.byte()]), at: now)
    case 8 where nature == .uBlox: send(logBatch(), at: now)
    case 9 where nature == .uBlox && !isTruthful: rate = random.element(of: [4800, 9600, 38_400, 115_200])
    case 10 where nature == .uBlox:
      for index in 0..<30 { send(Wire.ubx(0x01, 0x35, random.bytes(8 + 12 * 8)), at: now, after: index * 30) }
    default: send(Wire.nmea("GN\(random.element(of: ["GGA", "RMC", "GSV", "XXX", "TXT"])),,,,\(epoch),,,"), at: now)
    }
  }

  // MARK: Speech

  private mutating func speech() -> [UInt8] {
    switch nature {
    case .noise: return random.bytes(random.int(1...80))
    case .otherMaker:
      // Some begin with what any maker writes.
      return sense < 90 || epoch > 0 ? Wire.nmea("PMTK010,002") + sentences() : sentences()
    case .deaf: return pvt() + (random.oneIn(4) ? sentences() : [])
    case .uBlox:
      var bytes: [UInt8] = []
      let isOn = { (key: UInt32) in (ram.items[key] ?? 0) != 0 }
      let sendsPVT =
        [0x2091_0006, 0x2091_0007, 0x2091_0009].contains(where: isOn)
        || (ram.messages[Place(id: 1, selector: [1, 7])]?.dropFirst(2).contains { $0 != 0 } ?? false)
      if sendsPVT { bytes += pvt() }
      let output = ram.messages[Place(id: 0, selector: [])]?[14] ?? 3
      let key: UInt32 = 0x1074_0002
      let writes = usesItems ? ram.items[key] ?? 1 != 0 : output & 2 != 0
      if writes { bytes += sentences() }
      return bytes
    }
  }

  private func clock() -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let tick = epoch * Int(period)
    return "12\(two(tick / 60_000 % 60))\(two(tick / 1000 % 60)).\(two(tick / 10 % 100))"
  }

  private mutating func sentences() -> [UInt8] {
    let decimals = nature == .otherMaker ? "8520" : "85201"
    let place = random.oneIn(5) ? ",,," : "4809.\(decimals),N,01136.\(decimals),E"
    return Wire.nmea("GNRMC,\(clock()),A,\(place),1.9,239.6,010626,,,A")
      + Wire.nmea("GNGGA,\(clock()),\(place),\(random.int(0...8)),12,0.9,520.0,M,47.8,M,,")
  }

  private mutating func pvt() -> [UInt8] {
    var pvt = [UInt8](repeating: 0, count: random.element(of: [84, 92, 92, 92, 20]))
    let tick = UInt32(epoch * Int(period))
    for index in 0..<4 { pvt[index] = UInt8(truncatingIfNeeded: tick >> (index * 8)) }
    pvt.replaceSubrange(4..<12, with: [0xEA, 7, 6, 1, 12, UInt8(tick / 60_000 % 60), UInt8(tick / 1000 % 60), 7])
    return Wire.ubx(0x01, 0x07, pvt) + Wire.ubx(0x01, 0x61, [UInt8](pvt[..<4]))
  }

  private mutating func logBatch() -> [UInt8] {
    var payload = random.bytes(100)
    payload[0] = 0
    payload[2] = UInt8(truncatingIfNeeded: batchNumber)
    payload[3] = UInt8(truncatingIfNeeded: batchNumber >> 8)
    batchNumber &+= isTruthful || random.oneIn(3) ? 1 : UInt16(random.int(0...9))
    return Wire.ubx(0x21, 0x11, payload)
  }

  // MARK: Answers

  /// The host writes.
  mutating func receive(_ bytes: [UInt8], at hostRate: UInt32?, at now: Instant) {
    if sleepsUntil != nil { return wake(at: now) }
    guard nature == .uBlox, now >= muteUntil, hostRate == nil || hostRate == rate else { return }
    var at = 0
    while at + 8 <= bytes.count {
      let length = Int(bytes[at + 4]) | Int(bytes[at + 5]) << 8
      guard bytes[at] == 0xB5, bytes[at + 1] == 0x62, at + 8 + length <= bytes.count else {
        at += 1
        continue
      }
      take(bytes[at + 2], bytes[at + 3], Array(bytes[at + 6..<at + 6 + length]), at: now)
      at += 8 + length
    }
  }

  private mutating func take(_ group: UInt8, _ id: UInt8, _ payload: [UInt8], at now: Instant) {
    let isSensible = random.int(0...99) < sense
    let delay = random.int(5...60)
    if isTruthful, group == 6, isRefused(id, payload) {
      return send(Wire.ubx(5, 0, [group, id]), at: now, after: delay)
    }
    guard !isSensible else {
      return send(carryOut(group, id, payload, at: now), at: now, after: delay)
    }
    switch random.int(0...(isTruthful ? 5 : 13)) {
    // Not received; received without a reply.
    case 0, 1: return
    case 2: _ = carryOut(group, id, payload, at: now)
    case 3:
      if !isTruthful { send(Wire.ubx(5, 0, [group, id]), at: now, after: delay) }
    case 4:
      let answer = carryOut(group, id, payload, at: now)
      send(answer + answer, at: now, after: delay)
    case 5: send(carryOut(group, id, payload, at: now), at: now, after: random.int(60...120))
    case 6, 7: send(carryOut(group, id, payload, at: now), at: now, after: random.int(100...3000))
    case 8: send(Wire.ubx(5, 1, [6, random.byte()]), at: now, after: delay)
    case 9: send(Wire.ubx(5, 1, [group, id]), at: now, after: delay)
    case 10:
      // Too short or too long, and whole as a frame.
      let answer = carryOut(group, id, payload, at: now)
      guard answer.count > 8, answer.count < 2000 else { return }
      let length = Int(answer[4]) | Int(answer[5]) << 8
      var content = Array(answer[6..<min(6 + length, answer.count)])
      if random.oneIn(2) {
        content += random.bytes(random.int(1...60))
      } else {
        content.removeLast(random.int(0...content.count))
      }
      send(Wire.ubx(answer[2], answer[3], content), at: now, after: delay)
    case 11:
      // Cut on the way.
      let answer = carryOut(group, id, payload, at: now)
      send(Array(answer.prefix(random.int(0...answer.count))), at: now, after: delay)
    case 12: send(Wire.ubx(group, id, random.bytes(random.int(0...120))), at: now, after: delay)
    default:
      // Other keys or fewer of them.
      guard group == 6, id == 0x8B, payload.count >= 8 else { return }
      var answer: [UInt8] = [1, payload[1], payload[2], payload[3]]
      for index in stride(from: 4, to: payload.count - 3, by: 4) where random.oneIn(2) {
        var key = payload.u4(at: index)
        if random.oneIn(8) { key ^= UInt32(random.byte()) }
        answer += Self.bytes(key) + random.bytes(configurationValueSize(key) ?? 0)
      }
      send(Wire.ubx(6, 0x8B, answer) + Wire.ubx(5, 1, [6, 0x8B]), at: now, after: delay)
    }
  }

  /// A truthful receiver refuses the same thing each time.
  private func isRefused(_ id: UInt8, _ payload: [UInt8]) -> Bool {
    let sum = payload.reduce(UInt64(id)) { ($0 &+ UInt64($1)) &* 0x9E37_79B9_7F4A_7C15 }
    return sense < 99 && (sum >> 33) % 200 >= UInt64(sense) + 80
  }

  private static func bytes(_ word: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }

  /// Executes a command, and returns the reply.
  private mutating func carryOut(_ group: UInt8, _ id: UInt8, _ payload: [UInt8], at now: Instant) -> [UInt8] {
    let taken = Wire.ubx(5, 1, [group, id])
    let refused = Wire.ubx(5, 0, [group, id])
    switch (group, id) {
    case (0x0A, 0x04): return Wire.ubx(0x0A, 0x04, version)
    case (0x27, 0x03): return Wire.ubx(0x27, 0x03, self.id)
    case (0x0A, 0x36):
      var ports = [UInt8](repeating: 0, count: 48)
      (ports[1], ports[9], ports[8 + 12]) = (1, 1, 1)
      return Wire.ubx(0x0A, 0x36, ports)
    case (0x02, 0x41):
      let time = payload.count >= 16 ? payload.u4(at: 4) : payload.u4(at: 0)
      guard !random.oneIn(6) else { return [] }
      let length = time == 0 ? 3_600_000 : UInt64(time)
      sleepsUntil = now + Milliseconds(random.oneIn(5) ? length / 3 : length)
      coming = []
      return []
    case (0x06, 0x04):
      restart(at: now)
      return []
    case (0x06, 0x8B) where usesItems: return values(payload).map { $0 + taken } ?? refused
    case (0x06, 0x8A) where usesItems: return setItems(payload, at: now) ? taken : refused
    case (0x06, 0x8C) where usesItems:
      for index in stride(from: 4, to: payload.count - 3, by: 4) { battery.items[payload.u4(at: index)] = nil }
      return taken
    case (0x06, 0x09):
      battery.messages = ram.messages
      return taken
    case (0x06, 0x8A...0x8C): return refused
    case (0x06, _): return setting(id, payload, at: now)
    case (0x21, 0x10):
      var status = [UInt8](repeating: 0, count: 12)
      let count = random.int(0...5)
      status[4] = UInt8(count)
      (status[10], status[11]) = (UInt8(truncatingIfNeeded: batchNumber), UInt8(truncatingIfNeeded: batchNumber >> 8))
      return (0..<count).reduce(into: Wire.ubx(0x0A, 0x32, status)) { bytes, _ in bytes += logBatch() }
    case (0x21, 0x08): return Wire.ubx(0x21, 0x08, random.bytes(48))
    case (0x21, _): return random.oneIn(2) ? taken : Wire.ubx(0x21, id, random.bytes(40))
    case (0x13, 0x80) where payload.isEmpty:
      return Wire.ubx(0x13, 0x80, random.bytes(60)) + Wire.ubx(0x13, 0x60, [1, 0, 0, 0x80, 1, 0, 0, 0])
    case (0x13, _): return Wire.ubx(0x13, 0x60, [1, 0, 0, id] + payload.prefix(4))
    case (0x01, 0x03): return Wire.ubx(0x01, 0x03, [0, 0, 0, 0, 0, random.byte()] + random.bytes(10))
    default: return []
    }
  }

  private func isKnown(_ key: UInt32) -> Bool { hasNoUnknownItems || key % 11 != 3 }

  private func first(_ key: UInt32) -> UInt64 {
    if key == 0x4052_0001 { return UInt64(rate) }
    if [0x1074_0002, 0x1074_0001].contains(key) { return 1 }
    if key == 0x3021_0001 { return 1000 }
    return key >> 28 == 1 ? UInt64(key & 1) : 0
  }

  private func values(_ payload: [UInt8]) -> [UInt8]? {
    guard payload.count >= 8 else { return nil }
    var answer: [UInt8] = [1, payload[1], payload[2], payload[3]]
    var pairs: [(UInt32, UInt64)] = []
    for index in stride(from: 4, to: payload.count - 3, by: 4) {
      let key = payload.u4(at: index)
      if key & 0xFFFF == 0xFFFF {
        let group = battery.items.filter { ($0.key ^ key) & 0x0FFF_0000 == 0 }.sorted { $0.key < $1.key }
        let skipped = Int(payload[2]) | Int(payload[3]) << 8
        if group.isEmpty { return nil }
        pairs += group.dropFirst(skipped).prefix(64).map { ($0.key, $0.value) }
      } else if payload[1] == 1 {
        guard let value = battery.items[key] else { return nil }
        pairs.append((key, value))
      } else {
        guard isKnown(key) else { return nil }
        pairs.append((key, ram.items[key] ?? first(key)))
      }
    }
    for (key, value) in pairs {
      guard let size = configurationValueSize(key) else { return nil }
      answer += Self.bytes(key)
      answer += (0..<size).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    return Wire.ubx(6, 0x8B, answer)
  }

  private mutating func setItems(_ payload: [UInt8], at now: Instant) -> Bool {
    guard payload.count >= 8 else { return false }
    var pairs: [(UInt32, UInt64)] = []
    var at = 4
    while at + 4 <= payload.count {
      let key = payload.u4(at: at)
      guard let size = configurationValueSize(key), at + 4 + size <= payload.count, isKnown(key) else { return false }
      pairs.append((key, (0..<size).reversed().reduce(0) { $0 << 8 | UInt64(payload[at + 4 + $1]) }))
      at += 4 + size
    }
    for (key, value) in pairs {
      if payload[1] & 1 != 0 {
        ram.items[key] = value
        if key == 0x4052_0001 { changeRate(UInt32(truncatingIfNeeded: value), at: now) }
      }
      if payload[1] & 2 != 0 { battery.items[key] = value }
    }
    return true
  }

  private mutating func changeRate(_ next: UInt32, at now: Instant) {
    guard next != rate, next > 0 else { return }
    switch random.int(0...9) {
    case 0 where !isTruthful: break
    case 1...3: rateAt = (now + Milliseconds(UInt64(random.int(1...(isTruthful ? 100 : 2000)))), next)
    default: rateAt = (now + Milliseconds(1), next)
    }
  }

  private mutating func setting(_ id: UInt8, _ payload: [UInt8], at now: Instant) -> [UInt8] {
    let taken = Wire.ubx(5, 1, [6, id])
    let isOfMessage = id == 1
    guard !(usesItems && version.count > 40 && random.oneIn(50)), id != 0x99 else { return Wire.ubx(5, 0, [6, id]) }
    if payload.isEmpty || isOfMessage && payload.count == 2 || id == 0 && payload.count == 1 {
      return Wire.ubx(6, id, message(id, isOfMessage ? payload : [])) + taken
    }
    let place = Place(id: id, selector: isOfMessage ? Array(payload.prefix(2)) : [])
    if isOfMessage, payload.count == 3 {
      var whole = message(1, place.selector)
      whole[3] = payload[2]
      ram.messages[place] = whole
    } else if id == 0x24, payload.count >= 36 {
      // The fields in the mask.
      var whole = message(id, [])
      if payload[0] & 1 != 0 { whole[2] = payload[2] }
      ram.messages[place] = whole
    } else {
      ram.messages[place] = payload
    }
    if id == 0, payload.count >= 20 { changeRate(payload.u4(at: 8), at: now) }
    return taken
  }

  /// A CFG message as it is in force.
  private func message(_ id: UInt8, _ selector: [UInt8]) -> [UInt8] {
    if var there = ram.messages[Place(id: id, selector: selector)] {
      if id == 0, there.count >= 20 { there.replaceSubrange(8..<12, with: Self.bytes(rate)) }
      return there
    }
    return Self.first(id, selector, rate)
  }

  private static func first(_ id: UInt8, _ selector: [UInt8], _ rate: UInt32) -> [UInt8] {
    switch id {
    case 0: [1, 0, 0, 0, 0xD0, 8, 0, 0] + bytes(rate) + [7, 0, 3, 0, 0, 0, 0, 0]
    case 1: selector + [0, 0, 0, 0, 0, 0]
    case 8: [0xE8, 3, 1, 0, 1, 0]
    case 0x11: [8, 0]
    case 0x24: [UInt8](repeating: 0, count: 36)
    case 0x23: [UInt8](repeating: 0, count: 40)
    case 0x3B: [UInt8](repeating: 0, count: 44)
    case 0x3E: [0, 32, 32, 3, 0, 8, 16, 0, 1, 0, 1, 1, 2, 4, 8, 0, 0, 0, 1, 1, 6, 8, 14, 0, 1, 0, 1, 1]
    default: [UInt8](repeating: 0, count: 8)
    }
  }

  /// Returns the settings that differ from those at the beginning of the session.
  func changes() -> [String] {
    var changes: [String] = []
    for (name, store) in [("RAM", ram), ("battery", battery)] {
      // The retrieval of a log in flash ends with recording on, whatever it was: CFG-LOGFILTER's part is not judged here.
      for (key, value) in store.items where ![0x4052_0001, 0x10DE_0003].contains(key) && value != first(key) {
        changes.append("\(name) \(String(key, radix: 16)) \(value)")
      }
      for (place, payload) in store.messages where place.id != 0x47 {
        var first = Self.first(place.id, place.selector, firstRate)
        var there = payload
        // The rate stands apart; the mask is not a setting.
        if place.id == 0, there.count >= 20 { (first[8..<12], there[8..<12]) = ([0, 0, 0, 0], [0, 0, 0, 0]) }
        if there != first { changes.append("\(name) CFG \(String(place.id, radix: 16)) \(place.selector) \(payload)") }
      }
    }
    if rate != firstRate { changes.append("rate \(rate)") }
    return changes.sorted()
  }

  private static func version(_ random: inout SeededRandomNumberGenerator, isTruthful: Bool) -> (
    [UInt8], usesItems: Bool
  ) {
    func padded(_ text: String, _ count: Int) -> [UInt8] {
      Array((Array(text.utf8) + [UInt8](repeating: 0, count: count)).prefix(count))
    }
    let major = random.int(12...40)
    let hardware =
      major < 14 ? "00040007" : major < 15 ? "00070000" : major < 24 ? "00080000" : major < 33 ? "00190000" : "000A0000"
    let firmware = random.element(of: ["SPG", "SPG", "HPG", "TIM", "???"])
    var rest = [
      "FWVER=\(firmware) 3.01", major < 18 ? "PROTVER \(major).00" : "PROTVER=\(major).0\(random.int(0...9))",
    ]
    if !isTruthful {
      switch random.int(0...5) {
      case 0: rest = []
      case 1: rest = ["PROTVER=\(random.int(1...99)).\(random.int(0...99))"]
      case 2: rest = ["PROTVER=", "MOD=", "FWVER="]
      case 3: rest = ["PROTVER=99999999999999999999.1", "MOD=\u{7F}\u{1}"]
      default: break
      }
    }
    if random.oneIn(3) { rest.append("MOD=\(random.element(of: ["NEO-M8N", "ZED-F9P", "MAX-M10S", "X"]))") }
    let payload = padded("EXT CORE 3.01 (107900)", 30) + padded(hardware, 10) + rest.flatMap { padded($0, 30) }
    let description = ReceiverDescription(monVER: payload)
    return (payload, description?.can(.valset) ?? false)
  }
}

extension [UInt8] {
  fileprivate func u4(at offset: Int) -> UInt32 {
    guard offset + 4 <= count else { return 0 }
    return (0..<4).reversed().reduce(0) { $0 << 8 | UInt32(self[offset + $1]) }
  }
}
