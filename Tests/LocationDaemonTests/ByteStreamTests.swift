// SPDX-License-Identifier: Apache-2.0
import LocationService
import Messages
import Receiver
import ReceiverRuntime
import Testing

@testable import sextantd

@Suite("The bytes of a receiver for a client")
struct ByteStreamTests {
  private var stream = ByteStream(receiver: 0, isByDevice: true)
  private var status = ReceiverStatus(device: "/dev/ttyACM0", isOpen: true)

  @Test("The first message has the device and no bytes, and the attributes that are known")
  mutating func first() {
    status.baud = 9600
    #expect(
      stream.message("", status) == ["bytes": "", "device": "/dev/ttyACM0", "baud": 9600, "isOpen": true])
  }

  @Test("Later messages have what has changed, and without bytes there is none")
  mutating func changes() throws {
    stream.noteSent(status)
    #expect(stream.message("", status) == nil)
    #expect(stream.message("AAAA", status) == ["bytes": "AAAA"])
    status.baud = 38_400
    status.isOpen = false
    #expect(stream.message("", status) == ["bytes": "", "baud": 38_400, "isOpen": false])
    stream.noteSent(status)
    // A renewed search for the rate does not report a new rate.
    status.baud = nil
    #expect(stream.message("", status) == nil)
  }

  @Test("The identity is sent once it is known, also for a receiver that does not identify itself")
  mutating func identity() throws {
    stream.noteSent(status)
    status.identity = .unidentified
    #expect(stream.message("", status) == ["bytes": "", "identity": ["strings": []]])
    status.identity = .identified(try #require(ReceiverDescription(strings: ["EXT", "00"], uniqueID: [0x0A, 0xFF])))
    #expect(stream.message("", status) == ["bytes": "", "identity": ["strings": ["EXT", "00"], "uniqueId": "0aff"]])
  }

  @Test("A client that reads too slowly is told the number of lost bytes, once")
  mutating func losses() {
    stream.noteSent(status)
    stream.lost(bytes: 100)
    stream.lost(bytes: 23)
    #expect(stream.message("AAAA", status) == ["bytes": "AAAA", "lostBytes": 123])
    stream.noteSent(status)
    #expect(stream.message("AAAA", status) == ["bytes": "AAAA"])
  }
}
