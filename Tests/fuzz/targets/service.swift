// SPDX-License-Identifier: Apache-2.0

// Messages of a program to the location service, with NUL after each: decoded, applied to the program's engine between fixes, and
// the messages to the program encoded. The first byte sets the permission.
import Messages
import MonotonicTime
import Positioning
import ReceiverStream

func fuzzService(_ input: [UInt8]) {
  guard let first = input.first else { return }
  var program = FuzzedProgram(first)
  var splitter = MessageSplitter(maximumBytes: 65_536)
  splitter.append(input.span.extracting(1...))
  while let parsed = try? splitter.next({ text in
    // A text that is read without JSON values has the same content as with them.
    if let message = ServiceMessage(locationText: text) {
      guard let json = try? JSON(parsing: text), message == (try? json.decode()) else { fatalError("\(message)") }
    }
    return [try? JSON(parsing: text)]
  }) {
    if let json = parsed[0], let message: ClientMessage = try? json.decode() { program.receive(message) }
  }
  program.close()
}

private struct FuzzedProgram {
  private static let startNanoseconds: Int64 = 1_780_000_000_000_000_000
  private var engine: PositioningEngine
  private var served: ServedProgram
  private var seconds = 1.0
  private var messages = 0

  init(_ first: UInt8) {
    let request = OpenRequest(identifier: "fuzz", keys: UsageKeys(), application: .foreground, showsPrompts: true)
    let host = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: first & 4 > 0, hasBluetooth: first & 8 > 0)
    let permissions: [AuthorizationStatus?] = [nil, .authorizedAlways, .authorizedWhenInUse, .denied]
    engine = PositioningEngine(
      keys: UsageKeys(), hostCapabilities: host, application: first & 16 > 0 ? .background : .foreground,
      authorizationOverride: permissions[Int(first & 3)], at: .zero)
    served = ServedProgram(request, engine)
    check(OpenReply.self) { try JSON(encoding: served.reply(serviceVersion: "fuzz")) }
  }

  private var now: Moment {
    Moment(
      Instant(nanoseconds: UInt64(seconds * 1e9)),
      utc: UTCTime(nanosecondsSince1970: Self.startNanoseconds + Int64(seconds * 1e9)))
  }

  mutating func receive(_ message: ClientMessage) {
    messages += 1
    var message = message
    message.number = messages
    served.receive(message, &engine, records: { _ in [] }, at: now)
    guard served.objectCount <= messages else { fatalError("\(served.objectCount) objects of \(messages) messages") }
    takeUpdate()
    seconds += 7
    fix()
    takeUpdate()
  }

  private mutating func fix() {
    let place = Coordinate(latitudeDegrees: 48 + Double(messages % 7) * 0.001, longitudeDegrees: 11)
    let location = Location(place, horizontalAccuracyMetres: 3, timestamp: now.utc)
    engine.receive(location, measured: now.instant, at: now)
    if let due = engine.deadline, now.instant >= due { engine.wake(at: now) }
    _ = engine.demands
  }

  private mutating func takeUpdate() {
    let outputs = engine.outputs
    engine.outputs = []
    guard let update = served.update(outputs, engine, at: now.utc) else { return }
    check(ServiceUpdate.self) { try JSON(encoding: update) }
  }

  /// Every sent message can be written, read and decoded.
  private func check<Value: Decodable>(_ type: Value.Type, _ encoded: () throws -> JSON) {
    guard let json = try? encoded() else { fatalError("a message of the service cannot be encoded") }
    var text: [UInt8] = []
    guard (try? json.write(to: &text)) != nil, let read = try? JSON(parsing: text.span) else {
      fatalError("a message of the service is not JSON: \(String(decoding: text, as: UTF8.self))")
    }
    guard (try? read.decode() as Value) != nil else {
      fatalError("a message of the service cannot be decoded: \(String(decoding: text, as: UTF8.self))")
    }
  }

  mutating func close() {
    served.close(&engine, at: now.instant)
    takeUpdate()
  }
}
