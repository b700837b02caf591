// SPDX-License-Identifier: Apache-2.0
import Positioning
import ReceiverStream

// At each epoch a program gets one message, with only a location for a delegate. Its text is written and read here
// directly. The text is the same as from JSON(encoding:); the intermediate values would take eight times as many
// instructions, in both programs, while a delegate waits. All other messages use the general path.

/// The constant parts of the text.
private enum Part {
  static let beforeManager = Array(#"{"update":{"_0":{"events":[{"delegate":{"manager":"#.utf8)
  static let beforeNumbers = Array(#","_1":{"didUpdateLocations":{"_0":[["#.utf8)
  static let beforeSimulated = Array(#",null,{"isSimulatedBySoftware":"#.utf8)
  static let beforeAccessory = Array(#","isProducedByAccessory":"#.utf8)
  static let beforeTrust = Array(#","trust":"#.utf8)
  static let beforeRun = Array(#"}]]}},"_2":{"run":"#.utf8)
  static let end = Array(#","isAnswer":false}}}],"changes":{}}}}"#.utf8)
  static let comma = Array(",".utf8)
  static let `true` = Array("true".utf8)
  static let `false` = Array("false".utf8)
}

extension ServiceMessage {
  /// The text of the message as JSON.
  package func text() throws -> [UInt8] { try locationText ?? JSON(encoding: self).text() }

  /// The text, if the message contains only a receiver's location for a delegate.
  private var locationText: [UInt8]? {
    guard case .update(let update) = self, update.events.count == 1,
      case .delegate(let manager, .didUpdateLocations(let locations), let ticket) = update.events[0],
      locations.count == 1, let source = locations[0].source, locations[0].floorLevel == nil,
      let run = ticket.onlyRun, update.changes.isEmpty
    else { return nil }
    var text: [UInt8] = []
    text.reserveCapacity(512)
    text.append(contentsOf: Part.beforeManager)
    text.append(contentsOf: manager.description.utf8)
    text.append(contentsOf: Part.beforeNumbers)
    let numbers = locations[0].numbers
    for index in numbers.indices {
      guard numbers[index].isFinite else { return nil }
      text.append(contentsOf: numbers[index].description.utf8)
      text.append(contentsOf: Part.comma)
    }
    text.append(contentsOf: locations[0].timestamp.nanosecondsSince1970.description.utf8)
    text.append(contentsOf: Part.beforeSimulated)
    text.append(contentsOf: source.isSimulatedBySoftware ? Part.true : Part.false)
    text.append(contentsOf: Part.beforeAccessory)
    text.append(contentsOf: source.isProducedByAccessory ? Part.true : Part.false)
    if let trust = source.trust {
      text.append(contentsOf: Part.beforeTrust)
      text.append(contentsOf: trust.rawValue.description.utf8)
    }
    text.append(contentsOf: Part.beforeRun)
    text.append(contentsOf: run.description.utf8)
    text.append(contentsOf: Part.end)
    return text
  }

  /// The message of a text that ``text()`` wrote for one location; nil for the text of any other message.
  package init?(locationText text: Span<UInt8>) {
    var reader = JSONReader(text)
    guard reader.skip(exactly: Part.beforeManager), let manager = reader.integer(Int.self),
      reader.skip(exactly: Part.beforeNumbers)
    else { return nil }
    var numbers = LocationNumbers(repeating: 0)
    for index in numbers.indices {
      guard let number = reader.double(), reader.skip(exactly: Part.comma) else { return nil }
      numbers[index] = number
    }
    guard let nanoseconds = reader.integer(Int64.self), reader.skip(exactly: Part.beforeSimulated),
      let isSimulated = reader.bool(), reader.skip(exactly: Part.beforeAccessory), let isAccessory = reader.bool()
    else { return nil }
    var trust: SignalTrust?
    if reader.skip(exactly: Part.beforeTrust) {
      guard let value = reader.integer(UInt8.self), let known = SignalTrust(rawValue: value) else { return nil }
      trust = known
    }
    guard reader.skip(exactly: Part.beforeRun), let run = reader.integer(UInt32.self), reader.skip(exactly: Part.end),
      reader.isAtEnd
    else { return nil }
    var location = Location(numbers, timestamp: UTCTime(nanosecondsSince1970: nanoseconds))
    location.source = Location.Source(
      isSimulatedBySoftware: isSimulated, isProducedByAccessory: isAccessory, trust: trust)
    self = .update(
      ServiceUpdate(
        events: [.delegate(manager: manager, .didUpdateLocations([location]), .run(run))],
        changes: ProgramState.Changes()))
  }
}

extension JSONReader {
  @_lifetime(self: copy self)
  fileprivate mutating func integer<Value: FixedWidthInteger>(_: Value.Type) -> Value? {
    guard case .integer(let value)? = try? number() else { return nil }
    return Value(exactly: value)
  }

  @_lifetime(self: copy self)
  fileprivate mutating func double() -> Double? {
    guard case .double(let value)? = try? number() else { return nil }
    return value
  }

  @_lifetime(self: copy self)
  fileprivate mutating func bool() -> Bool? {
    if skip(exactly: Part.true) { return true }
    return skip(exactly: Part.false) ? false : nil
  }
}
