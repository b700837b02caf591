// SPDX-License-Identifier: Apache-2.0
import CInterface
import CSextant
import TestSupport
import Testing

@Suite("The service's client for C")
struct ServiceClientTests {
  private static func location(
    _ members: String = "", latitude: String = "48.1", time: String = "2026-06-01T12:01:50.200Z"
  ) -> String {
    let position = #""timestamp":"\#(time)","latitude":\#(latitude),"longitude":11.6"#
    return #"{"parameters":{"location":{\#(position)\#(members)}},"continues":true}"#
  }

  @Test("A call is one message of org.sextant.Location, with distances to a millimetre")
  func requests() throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_get_status(scene.client) == SEXTANT_CLIENT_OK)
    #expect(scene.request() == #"{"method":"org.sextant.Location.GetStatus"}"#)
    #expect(scene.receive(#"{"error":"org.varlink.service.MethodNotFound"}"#) == SEXTANT_CLIENT_REFUSED)
    #expect(sextant_client_request_location(scene.client, .nan) == SEXTANT_CLIENT_OK)
    #expect(scene.request() == #"{"method":"org.sextant.Location.RequestLocation","parameters":{}}"#)
    #expect(scene.receive(#"{"error":"org.sextant.Location.LocationUnknown"}"#) == SEXTANT_CLIENT_LOCATION_UNKNOWN)
    #expect(sextant_client_subscribe(scene.client, 12.3456, 999_999_999) == SEXTANT_CLIENT_OK)
    #expect(
      scene.request()
        == #"{"method":"org.sextant.Location.Subscribe","parameters":{"desiredAccuracy":12.346,"distanceFilter":999999999.000},"more":true}"#
    )
  }

  @Test("A location has the values of the message, and NaN for absent ones")
  func values() throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_subscribe(scene.client, .nan, 0) == SEXTANT_CLIENT_OK)
    let members =
      #","altitude":520.4,"ellipsoidalAltitude":-1e-05,"horizontalAccuracy":null,"speed":0.0,"course":359.99,"isSimulated":true,"new":[{"a":"]}"}]"#
    #expect(scene.receive(Self.location(members)) == SEXTANT_CLIENT_OK)
    let location = try #require(scene.locations.first)
    #expect(location.time_nanoseconds_since_1970 == 1_780_315_310_200_000_000)
    #expect(location.latitude_degrees == 48.1 && location.longitude_degrees == 11.6)
    #expect(location.altitude_metres == 520.4 && location.ellipsoidal_altitude_metres == -1e-05)
    #expect(location.horizontal_accuracy_metres.isNaN && location.vertical_accuracy_metres.isNaN)
    #expect(location.speed_metres_per_second == 0 && location.course_degrees == 359.99 && location.is_simulated)
  }

  @Test("Numbers of 0.001 and more are read exactly, smaller ones to 14 digits")
  func exactNumbers() throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_subscribe(scene.client, .nan, .nan) == SEXTANT_CLIENT_OK)
    var random = SeededRandomNumberGenerator(seed: 26)
    for _ in 0..<1000 {
      let value = Double.random(in: -90...90, using: &random)
      let small = Double.random(in: 0.001...0.01, using: &random)
      let smaller = small / 1_000_000
      let message = Self.location(#","altitude":\#(small),"speed":\#(smaller)"#, latitude: "\(value)")
      #expect(scene.receive(message) == SEXTANT_CLIENT_OK)
      #expect(scene.locations.last?.latitude_degrees == value && scene.locations.last?.altitude_metres == small)
      #expect(abs((scene.locations.last?.speed_metres_per_second ?? 0) - smaller) <= smaller * 1e-14)
    }
  }

  @Test(
    "Times follow the calendar",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59.999999999Z", 951_868_799_999_999_999),
      ("2100-03-01T00:00:00.5Z", 4_107_542_400_500_000_000), ("2026-12-31T12:00:00.000Z", 1_798_718_400_000_000_000),
    ] as [(String, Int64)])
  func times(_ text: String, _ nanoseconds: Int64) throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_subscribe(scene.client, .nan, .nan) == SEXTANT_CLIENT_OK)
    #expect(scene.receive(Self.location(time: text)) == SEXTANT_CLIENT_OK)
    #expect(scene.locations.first?.time_nanoseconds_since_1970 == nanoseconds)
  }

  @Test("A status has the texts without their escapes")
  func status() throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_get_status(scene.client) == SEXTANT_CLIENT_OK)
    let reply =
      #"{"parameters":{"status":{"receivers":[{"device":"/dev/\"a\"","model":"\u00e4\ud83d\ude00\t","state":"awake"},{"device":"sim:walk","state":"off","reason":null,"fix":"3D"}],"programs":[{"name":"x"},{}],"service":{"version":"0.2.0","uptimeSeconds":1.5}}}}"#
    #expect(scene.receive(reply) == SEXTANT_CLIENT_OK)
    #expect(
      scene.statuses == [
        ServiceScene.Status(
          version: "0.2.0", uptime: 1.5, programs: 2,
          receivers: [["/dev/\"a\"", "ä😀\t", "awake", nil, nil], ["sim:walk", nil, "off", nil, "3D"]])
      ])
    // The call has ended, so another one is accepted.
    #expect(sextant_client_get_status(scene.client) == SEXTANT_CLIENT_OK)
  }

  @Test("More receivers than a status holds are not listed")
  func manyReceivers() throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_get_status(scene.client) == SEXTANT_CLIENT_OK)
    let receivers = (0..<20).map { #"{"device":"d\#($0)","state":"awake"}"# }.joined(separator: ",")
    #expect(
      scene.receive(#"{"parameters":{"status":{"receivers":[\#(receivers)],"programs":[],"service":{"version":"1"}}}}"#)
        == SEXTANT_CLIENT_OK)
    #expect(scene.statuses.first?.receivers.count == 16)
    #expect(scene.statuses.first?.receivers.last?.first == "d15")
  }

  @Test("Messages in pieces and several in one piece are the same locations")
  func pieces() throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_subscribe(scene.client, .nan, .nan) == SEXTANT_CLIENT_OK)
    #expect(sextant_client_receive(scene.client) == SEXTANT_CLIENT_OK)
    let latitudes = (0..<20).map { "\($0).5" }
    let bytes = latitudes.flatMap { latitude -> [UInt8] in Array(Self.location(latitude: latitude).utf8) + [0] }
    var start = 0
    for size in [1, 300, 7, 500, 2, 128] + Array(repeating: 250, count: 40) where start < bytes.count {
      let end = min(bytes.count, start + size)
      scene.send(Array(bytes[start..<end]))
      #expect(sextant_client_receive(scene.client) == SEXTANT_CLIENT_OK)
      start = end
    }
    #expect(scene.locations.map { "\($0.latitude_degrees)" } == latitudes)
  }

  @Test(
    "An error of the service ends the call and keeps the connection",
    arguments: [
      ("Denied", SEXTANT_CLIENT_DENIED), ("NotDetermined", SEXTANT_CLIENT_NOT_DETERMINED),
      ("LocationUnknown", SEXTANT_CLIENT_LOCATION_UNKNOWN), ("NoReceiver", SEXTANT_CLIENT_NO_RECEIVER),
      ("Other", SEXTANT_CLIENT_REFUSED),
    ])
  func errors(_ name: String, _ result: sextant_client_result) throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_request_location(scene.client, 10) == SEXTANT_CLIENT_OK)
    #expect(sextant_client_subscribe(scene.client, 10, 10) == SEXTANT_CLIENT_BUSY)
    #expect(scene.receive(#"{"error":"org.sextant.Location.\#(name)","parameters":{}}"#) == result)
    #expect(sextant_client_descriptor(scene.client) >= 0 && scene.locations.isEmpty)
    #expect(sextant_client_request_location(scene.client, 10) == SEXTANT_CLIENT_OK)
  }

  @Test("Without a service, after its end and with wrong arguments, the result says so")
  func ends() throws {
    let scene = try ServiceScene()
    #expect(sextant_client_connect(scene.client, scene.path) == SEXTANT_CLIENT_NO_SERVICE)
    #expect(sextant_client_connect(scene.client, "") == SEXTANT_CLIENT_INVALID_ARGUMENT)
    #expect(sextant_client_connect(scene.client, String(repeating: "x", count: 108)) == SEXTANT_CLIENT_INVALID_ARGUMENT)
    #expect(sextant_client_descriptor(scene.client) == -1)
    #expect(sextant_client_get_status(scene.client) == SEXTANT_CLIENT_NOT_CONNECTED)
    #expect(sextant_client_receive(scene.client) == SEXTANT_CLIENT_NOT_CONNECTED)
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    for distance in [-1, 1e9, .infinity] {
      #expect(sextant_client_subscribe(scene.client, distance, .nan) == SEXTANT_CLIENT_INVALID_ARGUMENT)
    }
    scene.end()
    #expect(sextant_client_receive(scene.client) == SEXTANT_CLIENT_DISCONNECTED)
    #expect(sextant_client_descriptor(scene.client) == -1)
  }

  @Test("A client needs its memory")
  func memory() {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 2048, alignment: 16)
    defer { memory.deallocate() }
    var handlers = sextant_client_handlers()
    let size = Int(SEXTANT_CLIENT_BASE_BYTES + SEXTANT_SHORTEST_MESSAGE_BYTES)
    #expect(sextant_client_init(memory, size - 1, &handlers) == nil)
    #expect(sextant_client_init(memory + 4, size, &handlers) == nil)
    #expect(sextant_client_init(nil, size, &handlers) == nil)
    #expect(sextant_client_init(memory, size, nil) == nil)
    #expect(sextant_client_init(memory, size, &handlers) != nil)
  }

  @Test("A message longer than the memory ends the connection")
  func tooLong() throws {
    let scene = try ServiceScene(message: 1024)
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_get_status(scene.client) == SEXTANT_CLIENT_OK)
    scene.send([UInt8](repeating: UInt8(ascii: " "), count: 2000))
    #expect(sextant_client_receive(scene.client) == SEXTANT_CLIENT_OK)
    #expect(sextant_client_receive(scene.client) == SEXTANT_CLIENT_MESSAGE_TOO_LONG)
    #expect(sextant_client_descriptor(scene.client) == -1)
  }

  @Test(
    "Messages that are none of the interface end the connection",
    arguments: [
      "", "[]", "{}", #"{"parameters":{}}"#, #"{"parameters":{"location":{}}}"#, #"{"parameters":{"location":1}}"#,
      #"{"parameters":{"location":{"timestamp":"yesterday!!!!!!!!!!!","latitude":1,"longitude":1}}}"#,
      #"{"parameters":{"location":{"timestamp":"2026-06-01T12:01:50.200Z","latitude":91,"longitude":1}}}"#,
      #"{"parameters":{"location":{"timestamp":"2026-06-01T12:01:50.200Z","latitude":"1","longitude":1}}}"#,
      #"{"parameters":{"location":{"timestamp":"2026-06-01T12:01:50.200Z","latitude":1.,"longitude":1}}}"#,
      #"{"parameters":{"location":{"timestamp":"2026-06-01T12:01:50.200Z","latitude":null,"longitude":1}}}"#,
      #"{"error":"\ud800"}"#, #"{"error":"\x"}"#, #"{"error":"#, #"{"a":[[[[[{"#, #"{"a"#,
    ])
  func malformed(_ message: String) throws {
    let scene = try ServiceScene()
    #expect(scene.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_request_location(scene.client, .nan) == SEXTANT_CLIENT_OK)
    #expect(scene.receive(message) == SEXTANT_CLIENT_BAD_MESSAGE)
    #expect(sextant_client_descriptor(scene.client) == -1 && scene.locations.isEmpty)
  }

  @Test("A message without a call, or behind the last reply of one, ends the connection")
  func unexpected() throws {
    let idle = try ServiceScene()
    #expect(idle.connect() == SEXTANT_CLIENT_OK)
    #expect(idle.receive("{}") == SEXTANT_CLIENT_BAD_MESSAGE)
    let ended = try ServiceScene()
    #expect(ended.connect() == SEXTANT_CLIENT_OK)
    #expect(sextant_client_request_location(ended.client, .nan) == SEXTANT_CLIENT_OK)
    #expect(ended.receive(#"{"error":"org.sextant.Location.Denied"}"#, "{}") == SEXTANT_CLIENT_BAD_MESSAGE)
    #expect(sextant_client_descriptor(ended.client) == -1)
  }

  @Test("Damaged messages are locations or end the connection")
  func damaged() throws {
    var random = SeededRandomNumberGenerator(seed: 26)
    let whole = Array(Self.location(#","altitude":520.4,"isSimulated":true,"x":"\u00e4\n""#).utf8)
    for _ in 0..<500 {
      let scene = try ServiceScene()
      #expect(scene.connect() == SEXTANT_CLIENT_OK)
      #expect(sextant_client_subscribe(scene.client, .nan, .nan) == SEXTANT_CLIENT_OK)
      var bytes = Array(whole.prefix(.random(in: 0...whole.count, using: &random)))
      for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
        bytes[.random(in: bytes.indices, using: &random)] = .random(in: 1...127, using: &random)
      }
      scene.send(bytes + [0])
      let result = sextant_client_receive(scene.client)
      if result == SEXTANT_CLIENT_OK {
        #expect(scene.locations.count == 1)
      } else if result == SEXTANT_CLIENT_BAD_MESSAGE {
        #expect(scene.locations.isEmpty && sextant_client_descriptor(scene.client) == -1)
      } else {
        #expect(result == SEXTANT_CLIENT_REFUSED)
      }
    }
  }

  @Test("Each result has a text of its own")
  func texts() {
    let texts = (0...13).map { String(cString: sextant_client_result_text(sextant_client_result(rawValue: $0))) }
    #expect(Set(texts).count == 14 && texts.allSatisfy { !$0.isEmpty && !$0.hasSuffix(".") })
    let other = String(cString: sextant_client_result_text(sextant_client_result(rawValue: 99)))
    #expect(other == "not a result of libsextant")
  }
}
