// SPDX-License-Identifier: Apache-2.0
import Messages
import TestSupport
import Testing

@Suite("Messages in a stream")
struct MessageSplitterTests {
  private func messages(_ splitter: inout MessageSplitter) throws -> [[UInt8]] {
    var messages: [[UInt8]] = []
    while let message = try splitter.next({ text in text.indices.map { text[$0] } }) { messages.append(message) }
    return messages
  }

  @Test("Any cut of the bytes gives the same messages", arguments: 0..<50)
  func cuts(part: Int) throws {
    var random = SeededRandomNumberGenerator(seed: UInt64(part))
    let expected: [[UInt8]] = (0..<60).map { _ in random.bytes(.random(in: 0...100, using: &random)).map { max($0, 1) }
    }
    let stream: [UInt8] = Array(expected.map { $0 + [0] }.joined())
    var splitter = MessageSplitter(maximumBytes: 100)
    var actual: [[UInt8]] = []
    var position = 0
    while position < stream.count {
      let end = min(stream.count, position + Int.random(in: 1...400, using: &random))
      splitter.append(stream[position..<end].span)
      position = end
      if Bool.random(using: &random) { actual += try messages(&splitter) }
    }
    actual += try messages(&splitter)
    #expect(actual == expected)
    #expect(splitter.count == 0)
  }

  @Test("A message longer than allowed is an error, whether its end has come or not", arguments: [true, false])
  func oversize(isComplete: Bool) throws {
    var splitter = MessageSplitter(maximumBytes: 10)
    splitter.append([UInt8](repeating: 1, count: 10).span)
    #expect(try messages(&splitter) == [])
    splitter.append([0].span)
    #expect(try messages(&splitter) == [[UInt8](repeating: 1, count: 10)])
    splitter.append([UInt8](repeating: 1, count: 11).span)
    if isComplete { splitter.append([0].span) }
    #expect(throws: MessageSplitter.TooLong.self) { try messages(&splitter) }
  }

  @Test("A message of a megabyte that comes byte by byte takes linear time")
  func slowSender() throws {
    var splitter = MessageSplitter(maximumBytes: 1 << 20)
    for _ in 0..<1 << 20 {
      splitter.append([1].span)
      #expect(try splitter.next { $0.count } == nil)
    }
    splitter.append([0].span)
    #expect(try splitter.next { $0.count } == 1 << 20)
  }
}
