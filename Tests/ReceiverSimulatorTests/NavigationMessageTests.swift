// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReceiverSimulator
import TestSupport
import Testing

/// Messages of a solution that are off until they are requested, compared with NAV-PVT of the same epoch by their bytes.
@Suite("Messages of one solution agree")
struct NavigationMessageTests {
  private static let identities: [UInt16] = [0x0107, 0x0101, 0x0111, 0x0114, 0x0120, 0x0126, 0x0122, 0x0136, 0x0109]

  /// The payloads of the last whole epoch, by identity.
  private static func epoch() throws -> [UInt16: [UInt8]] {
    var host = Host(.f9p)
    host.run(seconds: 60)
    for identity in identities {
      #expect(host.configure(0x0601, [1, UInt8(identity & 0xFF), 1]) == true, "\(identity)")
    }
    host.run(seconds: 5)
    var epochs: [Int: [UInt16: [UInt8]]] = [:]
    for message in host.messages where identities.contains(message.identity) {
      // In these two messages the time of week follows a version.
      let place = [0x0114, 0x0109].contains(message.identity) ? 4 : 0
      epochs[message.payload.unsigned4(place), default: [:]][message.identity] = message.payload
    }
    return try #require(epochs.filter { $0.value.count == identities.count }.max { $0.key < $1.key }?.value)
  }

  private static func float(_ payload: [UInt8], _ at: Int) -> Float { Float(bitPattern: UInt32(payload.unsigned4(at))) }

  @Test("Position and velocity in earth-centred coordinates and with more digits")
  func position() throws {
    let epoch = try Self.epoch()
    let (pvt, ecef) = try (#require(epoch[0x0107]), #require(epoch[0x0101]))
    let (latitude, longitude) = (Double(pvt.signed4(28)) * 1e-7 * .pi / 180, Double(pvt.signed4(24)) * 1e-7 * .pi / 180)
    let height = Double(pvt.signed4(32)) / 1000
    let squared = 2 / 298.257223563 - 1 / (298.257223563 * 298.257223563)
    let radius = 6_378_137 / (1 - squared * sin(latitude) * sin(latitude)).squareRoot()
    let across = (radius + height) * cos(latitude)
    let expected = [
      across * cos(longitude), across * sin(longitude), (radius * (1 - squared) + height) * sin(latitude),
    ]
    for (axis, value) in expected.enumerated() { #expect(abs(Double(ecef.signed4(4 + 4 * axis)) / 100 - value) < 0.03) }

    let velocity = try #require(epoch[0x0111])
    let squares = { (payload: [UInt8], at: Int) in
      (0..<3).reduce(0) { $0 + pow(Double(payload.signed4(at + 4 * $1)), 2) }
    }
    #expect(abs(squares(velocity, 4).squareRoot() * 10 - squares(pvt, 48).squareRoot()) < 20)

    let precise = try #require(epoch[0x0114])
    #expect(precise[3] == 0 && precise.signed4(8) == pvt.signed4(24) && precise.signed4(12) == pvt.signed4(28))
    #expect(precise.signed4(16) == pvt.signed4(32) && precise.signed4(20) == pvt.signed4(36))
    #expect(abs(Int(Int8(bitPattern: precise[24]))) <= 99 && abs(Int(Int8(bitPattern: precise[25]))) <= 99)
  }

  @Test("Corrections of a station make a float solution, then a fixed one, for as long as they arrive")
  func corrections() {
    func frame(_ number: Int) -> [UInt8] {
      Wire.rtcm3([UInt8(number >> 4), UInt8(number & 15) << 4] + [UInt8](repeating: 0, count: 22))
    }
    var host = Host(.f9p)
    host.run(seconds: 60)
    #expect(host.configure(0x0601, [1, 7, 1]) == true)
    host.run(seconds: 2)
    func carrier() -> UInt8 { host.messages.last { $0.identity == 0x0107 }.map { $0.payload[21] >> 6 } ?? 9 }
    func accuracy() -> Int { host.messages.last { $0.identity == 0x0107 }?.payload.unsigned4(40) ?? 0 }
    #expect(carrier() == 0)
    var found: [UInt8] = []
    for _ in 0..<15 {
      host.send(bytes: frame(1077))
      host.run(seconds: 1)
      found.append(carrier())
    }
    #expect(found.allSatisfy { $0 == 0 }, "without a station there is no solution")
    for _ in 0..<15 {
      host.send(bytes: frame(1005) + frame(1077))
      host.run(seconds: 1)
      found.append(carrier())
    }
    #expect(found.last == 2 && accuracy() < 30)
    host.run(seconds: 40)
    #expect(carrier() == 2)
    host.run(seconds: 25)
    #expect(carrier() == 0)
    host.send(bytes: frame(1005) + frame(1077))
    host.run(seconds: 2)
    #expect(carrier() == 1)
  }

  @Test("Time, leap seconds, clock, odometer and covariances")
  func others() throws {
    let epoch = try Self.epoch()
    let (gps, leap) = try (#require(epoch[0x0120]), #require(epoch[0x0126]))
    // The start is 2026-05-28: GPS week 2420, 18 leap seconds since 2017.
    #expect(gps.unsigned2(8) == 2420 && gps[10] == 18 && gps[11] == 7)
    #expect(leap[9] == 18 && leap[23] & 1 == 1)
    #expect(try #require(epoch[0x0122]).count == 20)
    let odometer = try #require(epoch[0x0109])
    #expect(odometer.unsigned4(12) >= odometer.unsigned4(8))
    let (covariance, pvt) = try (#require(epoch[0x0136]), #require(epoch[0x0107]))
    #expect(covariance[5] == 1 && covariance[6] == 1)
    let horizontal = Double(Self.float(covariance, 16) + Self.float(covariance, 28)).squareRoot()
    #expect(abs(horizontal - Double(pvt.unsigned4(40)) / 1000) < 0.01)
    #expect(abs(Double(Self.float(covariance, 36)).squareRoot() - Double(pvt.unsigned4(44)) / 1000) < 0.01)
  }
}
