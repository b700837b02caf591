// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import ReceiverStream
import TestSupport
import Testing

@Suite("The text of the message of an epoch")
struct LocationTextTests {
  private static func message(
    _ locations: [Location], manager: Int = 1, ticket: Ticket = .run(3), changes: ProgramState.Changes = .init()
  ) -> ServiceMessage {
    .update(
      ServiceUpdate(
        events: [.delegate(manager: manager, .didUpdateLocations(locations), ticket)], changes: changes))
  }

  private static func location(_ numbers: LocationNumbers, nanoseconds: Int64 = 1_780_000_000_123_456_789) -> Location {
    var location = Location(numbers, timestamp: UTCTime(nanosecondsSince1970: nanoseconds))
    location.source = Location.Source(isSimulatedBySoftware: false, isProducedByAccessory: true)
    return location
  }

  private static let usual: LocationNumbers = [
    48.1642982, -11.6056858, 4.17, 512.291, 557.891, 4.423, 44.83769, 4.7, 0, -1,
  ]

  private func general(_ text: [UInt8]) throws -> ServiceMessage { try JSON(parsing: text).decode() }

  /// A number in a receiver's form, or any other.
  private static func number(_ random: inout SeededRandomNumberGenerator) -> Double {
    switch random.next() % 8 {
    case 0: Double(Int64(truncatingIfNeeded: random.next()) % 1000)
    case 1: Double(bitPattern: random.next())
    case 2: [0, -0.0, -1, .infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude][Int(random.next() % 7)]
    default: Double(Int64(truncatingIfNeeded: random.next()) % 1_800_000_000) / 1e7
    }
  }

  @Test("It is the text that every message has, and gives the message back, for random numbers", arguments: 0..<8)
  func random(_ seed: UInt64) throws {
    var random = SeededRandomNumberGenerator(seed: seed)
    var read = 0
    for _ in 0..<2000 {
      var numbers = LocationNumbers(repeating: 0)
      for index in numbers.indices { numbers[index] = Self.number(&random) }
      if random.next() % 2 == 0 { numbers = Self.usual }
      var location = Self.location(numbers, nanoseconds: Int64(truncatingIfNeeded: random.next()))
      location.source?.trust = SignalTrust(rawValue: UInt8(random.next() % 6))
      let message = Self.message(
        [location],
        manager: Int(truncatingIfNeeded: random.next()), ticket: .run(UInt32(truncatingIfNeeded: random.next())))
      let text = try message.text()
      #expect(try text == JSON(encoding: message).text())
      guard let found = ServiceMessage(locationText: text.span) else { continue }
      read += 1
      // Compared as text: -0 is equal to 0.
      #expect(found == message)
      #expect(try found.text() == text)
    }
    #expect(read > 1000)
  }

  @Test("Any other message has its text, which is read in the general way alone")
  func others() throws {
    let usual = Self.location(Self.usual)
    var onFloor = usual
    onFloor.floorLevel = 2
    var ofNobody = usual
    ofNobody.source = nil
    var answer = Ticket.run(3)
    answer.isAnswer = true
    var waiting = Ticket.run(3)
    waiting.waitingNumber = 4
    var changes = ProgramState.Changes()
    changes.visitsAreRunning = true
    let event = ServiceEvent.delegate(manager: 1, .didUpdateLocations([usual]), .run(3))
    for message: ServiceMessage in [
      Self.message([]), Self.message([usual, usual]), Self.message([onFloor]), Self.message([ofNobody]),
      Self.message([usual], ticket: answer), Self.message([usual], ticket: waiting),
      Self.message([usual], changes: changes),
      .update(ServiceUpdate(changes: .init())), .update(ServiceUpdate(events: [event, event], changes: .init())),
      .update(ServiceUpdate(events: [.log("a")], changes: .init())), .goodbye(reason: "b"),
    ] {
      let text = try message.text()
      #expect(try text == JSON(encoding: message).text())
      #expect(ServiceMessage(locationText: text.span) == nil)
      #expect(try general(text) == message)
    }
  }

  @Test("A text with other bytes is refused, or read as in the general way", arguments: 0..<4)
  func damaged(_ seed: UInt64) throws {
    var random = SeededRandomNumberGenerator(seed: seed)
    let text = try Self.message([Self.location(Self.usual)]).text()
    #expect(ServiceMessage(locationText: text.span) != nil)
    for count in text.indices { #expect(ServiceMessage(locationText: text.span.extracting(..<count)) == nil) }
    for _ in 0..<5000 {
      var other = text
      for _ in 0...random.next() % 3 {
        other[Int(random.next() % UInt64(other.count))] =
          Array("0123456789-.eE,[]{}\" tfn".utf8)[Int(random.next() % 24)]
      }
      guard let found = ServiceMessage(locationText: other.span) else { continue }
      #expect(try found == general(other))
    }
  }
}
