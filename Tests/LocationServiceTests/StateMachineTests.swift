// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import ReceiverStream
import Testing

@testable import LocationService

@Suite("The state machines of the service, edge by edge")
struct StateMachineTests {
  private static func instant(_ seconds: Double) -> Instant { .zero + Milliseconds(seconds: seconds) }

  private static func location(_ seconds: Int64) -> Location {
    Location(
      Coordinate(latitudeDegrees: 48, longitudeDegrees: 11), horizontalAccuracyMetres: 3,
      timestamp: UTCTime(nanosecondsSince1970: seconds * 1_000_000_000))
  }

  @Test("LC-2 none, pending, unstored, stored: the newest location is published with its event, or without a deferral")
  func newestLocation() {
    let (first, second) = (Self.location(1), Self.location(2))
    var newest = NewestLocation(restored: Self.location(0))
    #expect(newest.known == Self.location(0))
    #expect(newest.publish(delivered: nil, isDeferring: false) == nil)
    #expect(newest.storeDue(isEnd: true, at: .zero) == nil)
    newest.receive(first)
    #expect(newest.isNewest(first.timestamp) && !newest.isNewest(Self.location(0).timestamp))
    #expect(newest.publish(delivered: nil, isDeferring: true) == nil && newest.known == Self.location(0))
    #expect(newest.storeNow() == nil)
    #expect(newest.publish(delivered: first.timestamp, isDeferring: true) == first && newest.known == first)
    #expect(newest.publish(delivered: first.timestamp, isDeferring: true) == nil)
    #expect(newest.storeFirst(at: .zero) == nil)
    #expect(newest.storeDue(isEnd: false, at: Self.instant(1)) == first)
    #expect(newest.storeDue(isEnd: true, at: Self.instant(1)) == nil)
    newest.receive(second)
    #expect(newest.publish(delivered: nil, isDeferring: false) == second)
    #expect(newest.storeDue(isEnd: false, at: Self.instant(60)) == nil)
    #expect(newest.storeDue(isEnd: false, at: Self.instant(61)) == second)
  }

  @Test("LC-3 the first location of an empty disk is stored before its event, and any at the end")
  func firstLocation() {
    let (first, second) = (Self.location(1), Self.location(2))
    var newest = NewestLocation()
    newest.receive(first)
    #expect(newest.storeFirst(at: .zero) == nil)
    _ = newest.publish(delivered: nil, isDeferring: false)
    #expect(newest.storeFirst(at: .zero) == first)
    newest.receive(second)
    _ = newest.publish(delivered: nil, isDeferring: false)
    #expect(newest.storeFirst(at: .zero) == nil)
    #expect(newest.storeDue(isEnd: true, at: .zero) == second)
  }

  @Test("Unused, in use, ending, released: receivers are opened at the first need and released at the end")
  func receivers() {
    var use = ReceiverUse()
    use.standbyFound()
    #expect(use.open(isNeeded: false, isResting: false) == [])
    #expect(use.open(isNeeded: true, isResting: false) == [.openReceiver, .openStandby])
    #expect(use.open(isNeeded: true, isResting: false) == [] && use.isOpen && !use.isFinished)
    #expect(use.release(isReadingOut: false, isResting: true, at: .zero) == [.releaseStandby])
    #expect(use.open(isNeeded: true, isResting: true) == [])
    #expect(use.open(isNeeded: true, isResting: false) == [.openStandby])
    use.finish(readsOut: true, at: .zero)
    #expect(use.isOpen && use.isFinished && use.deadline == Self.instant(2))
    #expect(use.release(isReadingOut: true, isResting: false, at: Self.instant(1)) == [.releaseStandby])
    #expect(use.release(isReadingOut: true, isResting: false, at: Self.instant(2)) == [.releaseReceiver])
    #expect(use.open(isNeeded: true, isResting: false) == [] && !use.isOpen)
  }

  @Test("A program that ends without a receiver opens none, and a receiver that is read out is released at once")
  func ends() {
    var unused = ReceiverUse()
    unused.finish(readsOut: false, at: .zero)
    #expect(unused.isFinished && unused.open(isNeeded: true, isResting: false) == [])
    var read = ReceiverUse()
    _ = read.open(isNeeded: true, isResting: false)
    read.finish(readsOut: true, at: .zero)
    #expect(read.release(isReadingOut: false, isResting: false, at: .zero) == [.releaseReceiver])
  }

  @Test("Absent, working, faulty: a faulty sensor stays so until it answers or goes")
  func sensors() {
    var sensing = HostSensing()
    func list(_ isListed: Bool) {
      sensing.list(magnetometer: isListed, accelerometer: isListed, bluetoothAdapter: isListed)
    }
    #expect(sensing.magnetometer == .absent && !sensing.hasBluetooth)
    list(true)
    #expect(sensing.magnetometer == .working && sensing.accelerometer == .working && sensing.hasBluetooth)
    sensing.magnetometerFailed()
    sensing.accelerometerFailed()
    list(true)
    #expect(sensing.magnetometer == .faulty && sensing.accelerometer == .faulty && !sensing.hasCompass)
    sensing.magnetometerAnswered()
    #expect(sensing.magnetometer == .working && sensing.accelerometer == .faulty)
    sensing.setCanReceiveBeacons(false)
    list(true)
    #expect(!sensing.hasBluetooth)
    list(false)
    list(true)
    #expect(sensing.accelerometer == .working && sensing.hasBluetooth)
  }
}
