// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import Testing

@testable import LocationService

@Suite("Who uses a receiver's line")
struct LineLendingTests {
  private let now = Instant.zero + Milliseconds(1000)
  private var lending = LineLending()

  @Test("The service's session ends before a program gets the line, and the service opens it after that program")
  mutating func lentAndReturned() {
    #expect(lending.use == .served && lending.mayOpen)
    _ = lending.lend()
    #expect(lending.use == .ending && lending.isEnding && !lending.mayOpen)
    lending.released(at: now)
    #expect(lending.use == .lent && !lending.mayOpen)
    lending.takeBack(at: now)
    #expect(lending.use == .returning && lending.mayOpen)
    lending.opened()
    #expect(lending.use == .served)
  }

  @Test("One program at a time has the line or waits for it")
  mutating func exclusive() {
    var answers = [lending.lend(), lending.lend()]
    lending.released(at: now)
    answers.append(lending.lend())
    lending.takeBack(at: now)
    // The service has not opened it yet.
    answers.append(lending.lend())
    #expect(answers == [true, false, false, true])
  }

  @Test(
    "If the program ends before it has the line, the session ends all the same and the service opens the line again")
  mutating func takenBackEarly() {
    _ = lending.lend()
    lending.takeBack(at: now)
    #expect(lending.use == .ending && !lending.mayOpen)
    lending.released(at: now)
    #expect(lending.use == .returning)
  }

  @Test(
    "A line that the ending program still holds is tried again in silence for a while, and then is held as any other")
  mutating func heldForAMoment() {
    var isSilent = [lending.held(at: now)]
    _ = lending.lend()
    lending.released(at: now)
    lending.takeBack(at: now)
    for milliseconds in [0, LineLending.timeout.count - 1, LineLending.timeout.count] {
      isSilent.append(lending.held(at: now + Milliseconds(milliseconds)))
    }
    #expect(isSilent == [false, true, true, false])
    #expect(lending.use == .served)
  }

  @Test("Events out of turn change nothing")
  mutating func outOfTurn() {
    lending.released(at: now)
    lending.takeBack(at: now)
    lending.opened()
    #expect(lending == LineLending())
    _ = lending.lend()
    lending.opened()
    #expect(lending.use == .ending)
  }
}

@Suite("The first receiver's memory before its line is lent")
struct LendingReadOutTests {
  private let now = Instant.zero + Milliseconds(1000)
  private var use = ReceiverUse()

  @Test("Without fixes that are owed the line is lent at once, and once; a program that never had it returns nothing")
  mutating func atOnce() {
    var isLent = [use.lendNow(isReadingOut: false, at: now)]
    use.lend(readsOut: false, at: now)
    isLent += [use.lendNow(isReadingOut: false, at: now), use.lendNow(isReadingOut: false, at: now)]
    #expect(isLent == [false, true, false])
    #expect(use.lendingDeadline == nil)
    let isReturned = [use.takeBack(), use.takeBack()]
    #expect(isReturned == [true, false])
  }

  @Test("Fixes that are owed are read out before, for two seconds at most")
  mutating func readOut() {
    use.lend(readsOut: true, at: now)
    #expect(use.lendingDeadline == now + ReceiverUse.lastRead)
    var isLent = [use.lendNow(isReadingOut: true, at: now), use.lendNow(isReadingOut: false, at: now)]
    _ = use.takeBack()
    use.lend(readsOut: true, at: now)
    isLent.append(use.lendNow(isReadingOut: true, at: now + Milliseconds(ReceiverUse.lastRead.count - 1)))
    isLent.append(use.lendNow(isReadingOut: true, at: now + ReceiverUse.lastRead))
    #expect(isLent == [false, true, false, true])
  }

  @Test("If the program ends during the read-out, the service's session goes on")
  mutating func endsEarly() {
    use.lend(readsOut: true, at: now)
    let isReturned = use.takeBack()
    let isLent = use.lendNow(isReadingOut: false, at: now)
    #expect(!isReturned && !isLent)
  }

  @Test("A receiver that nobody needs can be lent, and is opened and released as before")
  mutating func independent() {
    use.lend(readsOut: false, at: now)
    let isLent = use.lendNow(isReadingOut: false, at: now)
    let opened = use.open(isNeeded: true, isResting: false)
    use.finish(readsOut: false, at: now)
    let released = use.release(isReadingOut: false, isResting: false, at: now)
    #expect(isLent && opened == [.openReceiver] && released == [.releaseReceiver])
  }
}

@Suite("Lines that the service lends")
struct LendingCoreTests {
  private let now = ServiceLog.moment(.zero + Milliseconds(1000))
  private var core = ServiceCore(
    hostCapabilities: HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false),
    coordinator: PowerCoordinator(at: .zero))

  @Test("The line of any receiver is lent and taken back in the order of the programs", arguments: [0, 2])
  mutating func order(receiver: Int) {
    core.receive(.lend(receiver: receiver), at: now)
    let first = core.actions(at: now)
    // The first program ends, and another one is waiting.
    core.receive(.takeBack(receiver: receiver), at: now)
    core.receive(.lend(receiver: receiver), at: now)
    let second = core.actions(at: now)
    #expect(first == [.lend(receiver: receiver)])
    #expect(second == [.takeBack(receiver: receiver), .lend(receiver: receiver)])
    let later = core.actions(at: now)
    #expect(later.isEmpty)
  }
}
