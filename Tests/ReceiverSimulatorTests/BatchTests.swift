// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import Testing

@Suite("Batching")
struct BatchTests {
  /// A receiver that batches and sends nothing else.
  private static func batching(_ model: ReceiverModel, entries: UInt64, flags: UInt8 = 0) -> Host {
    var host = Host(model, hasRate: false)
    host.run(seconds: 10)
    if model == .m8Batching {
      for id in 0...5 as ClosedRange<UInt8> { #expect(host.configure(0x0601, [0xF0, id, 0]) == true) }
      #expect(host.configure(0x0693, [0, 1 | flags] + Host.number(entries, 2) + [0, 0, 0, 0]) == true)
    } else {
      #expect(
        host.set(
          [
            (0x1078_0002, 0), (0x1074_0002, 0), (0x1026_001A, flags & 4 == 0 ? 0 : 1),
            (0x1026_001B, flags & 8 == 0 ? 0 : 1), (0x3026_0015, entries), (0x1026_0013, 1),
          ].filter { model == .m9 || $0.0 != 0x1078_0002 }) == true)
    }
    host.run(seconds: 1)
    host.forget()
    return host
  }

  @Test(
    "Epochs are stored without output and returned oldest first, each once",
    arguments: [
      ReceiverModel.m8Batching, .m9, .m10,
    ])
  func flow(model: ReceiverModel) throws {
    var host = Self.batching(model, entries: 120, flags: 4)
    host.run(seconds: 60)
    #expect(host.bytes == 0)
    let level = host.line.receiver.batchedEpochs
    #expect(level == 61)
    host.send(0x2110, [0, 1, 0, 0])
    host.run(seconds: 0.5)
    #expect(host.messages.first?.identity == 0x0A32)
    #expect(host.messages.first?.payload.unsigned2(4) == level)
    let batch = host.messages.filter { $0.identity == 0x2111 }
    #expect(batch.count == level)
    #expect(batch.map { $0.payload.unsigned2(2) } == Array(0..<level))
    let times = batch.map { $0.payload.unsigned4(4) }
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 1000 })
    #expect(batch.allSatisfy { $0.payload.count == 100 && $0.payload[1] == 1 && $0.payload[24] == 3 })
    let monitor = host.ask(0x0A32)
    #expect(monitor?.unsigned2(4) == host.line.receiver.batchedEpochs)
    #expect(monitor?.unsigned2(6) == 0)
  }

  @Test(
    "A batch larger than the memory is refused",
    arguments: [
      (ReceiverModel.m8Batching, 0, 300), (.m8Batching, 8, 221), (.m8Batching, 4, 156), (.m8Batching, 12, 132),
      (.m10, 0, 600), (.m10, 8, 443), (.m10, 4, 309), (.m10, 12, 261),
    ] as [(ReceiverModel, UInt8, UInt64)])
  func capacity(model: ReceiverModel, flags: UInt8, most: UInt64) {
    for (size, isAccepted) in [(most, true), (most + 1, false), (0, false)] {
      var host = Host(model, hasRate: false)
      host.run(seconds: 1)
      let answer =
        model == .m8Batching
        ? host.configure(0x0693, [0, 1 | flags] + Host.number(size, 2) + [0, 0, 0, 0])
        : host.set([
          (0x1026_001A, flags & 4 == 0 ? 0 : 1), (0x1026_001B, flags & 8 == 0 ? 0 : 1), (0x3026_0015, size),
          (0x1026_0013, 1),
        ])
      #expect(answer == isAccepted, "\(size)")
    }
  }

  @Test(
    "Receivers without batching refuse it and do not reply to polls of it",
    arguments: [ReceiverModel.m6, .m8, .f9p, .f10])
  func none(model: ReceiverModel) {
    var host = Host(model, hasRate: false)
    host.run(seconds: 1)
    let answer =
      model == .m6 || model == .m8
      ? host.configure(0x0693, [0, 1, 10, 0, 0, 0, 0, 0]) : host.set([(0x3026_0015, 10), (0x1026_0013, 1)])
    #expect(answer == false)
    #expect(host.ask(0x0A32) == nil)
  }

  @Test("A full buffer drops its oldest epochs, and the counters report their number")
  func overrun() {
    var host = Self.batching(.m10, entries: 20)
    host.run(seconds: 60)
    #expect(host.line.receiver.batchedEpochs == 20)
    let first = host.ask(0x0A32)
    let lost = host.line.receiver.lostEpochs
    #expect(lost == 41)
    #expect(first?.unsigned2(6) == lost && first?.unsigned2(8) == lost && first?.unsigned2(4) == 20)
    host.run(seconds: 5)
    let second = host.ask(0x0A32)
    #expect(second?.unsigned2(8) == host.line.receiver.lostEpochs - lost)
    host.line.inject(.loseBatchedEpochs(3), at: host.now)
    #expect(host.line.receiver.batchedEpochs == 17)
  }

  @Test("A change of the batch, a reset and standby clear the batch")
  func loss() {
    var host = Self.batching(.m10, entries: 50)
    host.run(seconds: 20)
    #expect(host.set([(0x3026_0015, 60)]) == true)
    #expect(host.line.receiver.batchedEpochs == 0)
    host.run(seconds: 20)
    #expect(host.line.receiver.batchedEpochs > 15)
    host.send(0x0604, [0, 0, 1, 0])
    host.run(seconds: 1)
    #expect(host.line.receiver.batchedEpochs == 0)
  }

  @Test("A retrieval on a slow line is slow, and a second one during it is ignored")
  func slow() {
    var host = Host(.m10)
    host.run(seconds: 10)
    #expect(host.set([(0x1074_0002, 0), (0x3026_0015, 100), (0x1026_0013, 1)]) == true)
    host.run(seconds: 50)
    host.forget()
    let level = host.line.receiver.batchedEpochs
    host.send(0x2110, [0, 1, 0, 0])
    host.run(seconds: 1)
    host.send(0x2110, [0, 1, 0, 0])
    host.run(seconds: 1)
    // 108 bytes take 112 ms.
    #expect(15...18 ~= host.count(0x2111))
    host.run(seconds: 6)
    #expect(host.count(0x2111) == level)
    #expect(host.count(0x0A32) == 1)
  }

  @Test("The log in flash: creation, entries, report, search, partial retrieval and erasure")
  func flashLog() throws {
    var host = Host(.m9, hasRate: false)
    host.run(seconds: 10)
    #expect(host.configure(0x2107, [0, 1, 0, 0, 0, 0, 0, 0]) == true)
    #expect(host.configure(0x2107, [0, 1, 0, 0, 0, 0, 0, 0]) == false)
    #expect(host.set([(0x10DE_0004, 1), (0x30DE_0006, 10), (0x10DE_0002, 1)]) == true)
    host.run(seconds: 100)
    #expect(host.configure(0x2109, [UInt8](repeating: 0, count: 12)) == false)
    #expect(host.set([(0x10DE_0002, 0)]) == true)
    let asked = host.ask(0x2108)
    let info = try #require(asked)
    #expect(10...11 ~= info.unsigned4(24) && info.unsigned2(28) == 2026)
    host.forget()
    #expect(host.configure(0x2109, Host.number(2, 4) + Host.number(5, 4) + [0, 0, 0, 0]) == true)
    host.run(seconds: 1)
    #expect(host.messages.filter { $0.identity == 0x210B }.map { $0.payload.unsigned4(0) } == [2, 3, 4, 5, 6])
    #expect(host.configure(0x2104, Array("hello".utf8)) == true)
    #expect(host.configure(0x2103, []) == true)
    #expect(host.ask(0x2108)?.unsigned4(24) == 0)
  }
}
