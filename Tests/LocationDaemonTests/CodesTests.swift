// SPDX-License-Identifier: Apache-2.0
import Foundation
import Messages
import ReceiverStream
import TestSupport
import Testing
import WireBytes

@testable import Positioning
@testable import sextantd

@Suite("Locations, times and bytes of org.sextant.Location")
struct CodesTests {
  @Test(
    "The test vectors of RFC 4648, section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64(bytes: String, text: String) {
    #expect(unsafe Base64.text(of: Array(bytes.utf8).span.bytes) == text)
  }

  @Test("All byte values at all offsets are encoded as Foundation encodes them")
  func allBytes() {
    for length in 250..<260 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ length) }
      #expect(unsafe Base64.text(of: bytes.span.bytes) == Data(bytes).base64EncodedString())
    }
  }

  @Test(
    "A time is ISO 8601 in UTC with milliseconds, which are cut and not rounded",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (1_780_000_000_123_999_999, "2026-05-28T20:26:40.123Z"),
      (951_782_399_999_999_999, "2000-02-28T23:59:59.999Z"), (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
      (4_102_444_800_005_000_000, "2100-01-01T00:00:00.005Z"), (-1, "1969-12-31T23:59:59.999Z"),
    ])
  func time(nanoseconds: Int64, text: String) {
    #expect(UTCTime(nanosecondsSince1970: nanoseconds).iso8601 == text)
  }

  private static func location() -> Location {
    var fix = Fix()
    fix.time = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000)
    fix.kind = .threeD
    fix.latitudeDegrees = 48.5
    fix.longitudeDegrees = 11.25
    fix.horizontalAccuracyMetres = 3
    return Location(fix, received: fix.time!, source: nil)!
  }

  @Test("A value of a location that is not known is absent")
  func absent() {
    let json = JSON.location(Self.location())
    #expect(json["latitude"] == .double(48.5))
    #expect(json["longitude"] == .double(11.25))
    #expect(json["horizontalAccuracy"] == .double(3))
    for name in ["altitude", "ellipsoidalAltitude", "verticalAccuracy", "speed", "course", "isSimulated"] {
      #expect(json[name] == nil, "\(name) is not known")
    }
  }

  @Test("The words of a demand have every distance that a program can set")
  func words() {
    for metres in [1, 1e18, 0x1p63, 1e300, Double.greatestFiniteMagnitude] {
      let demand = Demand(updates: .init(accuracy: .metres(metres), distanceFilterMetres: metres))
      #expect(demand.words.count == 1 && demand.words[0].hasPrefix("updates "), "\(metres)")
    }
  }

  @Test(
    "An optional number of a call is an integer, a fraction, null or absent; another type is a mistake of the caller")
  func numbers() {
    let parameters: JSON = ["a": .integer(5), "b": .double(2.5), "c": .null, "d": .string("5"), "e": .bool(true)]
    #expect(parameters.metres("a") == (5, true))
    #expect(parameters.metres("b") == (2.5, true))
    #expect(parameters.metres("c") == (nil, true))
    #expect(parameters.metres("missing") == (nil, true))
    #expect(parameters.metres("d") == (nil, false))
    #expect(parameters.metres("e") == (nil, false))
    for (value, isValid) in [
      (JSON.double(1e9), true), (.double(1.1e9), false), (.integer(.max), false), (.integer(.min), false),
      (.double(1e300), false), (.double(-1e300), false), (.double(-2), true), (.double(.leastNonzeroMagnitude), true),
    ] {
      #expect((["a": value] as JSON).metres("a").isValid == isValid, "\(value)")
    }
  }
}
