// SPDX-License-Identifier: Apache-2.0
import GPSD
import LocationService
import MonotonicTime
import Receiver
import Testing

@testable import sextantd

@Suite("Changes of receivers by gpsd's clients")
struct DeviceChangesTests {
  private let start = Instant.zero
  private let ready = DeviceChanges.Receiver(readiness: .ready, bitsPerSecond: 115_200)

  private func change(
    bps: UInt32? = nil, native: Int? = nil, cycle: Double? = nil, bytes: [UInt8]? = nil
  ) -> DeviceChange {
    var change = DeviceChange()
    (change.bitsPerSecond, change.native, change.cycleSeconds, change.bytes) = (bps, native, cycle, bytes)
    return change
  }

  private func settings(bps: UInt32? = nil, cycle: UInt16? = nil) -> ReceiverUserSettings {
    var settings = ReceiverUserSettings()
    (settings.bitsPerSecond, settings.cycleMilliseconds) = (bps, cycle)
    return settings
  }

  /// The consequences of a change of a receiver.
  private func actions(_ change: DeviceChange, _ receiver: DeviceChanges.Receiver) -> [DeviceChanges.Action] {
    var changes = DeviceChanges()
    changes.request(change, of: 0, by: 7, at: start)
    changes.update(receiver, of: 0, at: start)
    return changes.takeActions()
  }

  private func isRefused(_ actions: [DeviceChanges.Action], _ word: String) -> Bool {
    guard actions.count == 1, case .reply(7, 0, let refusal?) = actions[0] else { return false }
    return refusal.contains(word)
  }

  @Test("Bytes are sent once the receiver takes commands, and then replied to")
  func bytes() {
    var changes = DeviceChanges()
    changes.request(change(bytes: [1, 2]), of: 0, by: 7, at: start)
    changes.update(DeviceChanges.Receiver(readiness: .waiting), of: 0, at: start)
    #expect(changes.takeActions() == [])
    #expect(changes.isAwaited(by: 7))
    changes.update(ready, of: 1, at: start)
    #expect(changes.takeActions() == [])
    changes.update(ready, of: 0, at: start)
    #expect(
      changes.takeActions() == [.send([1, 2], receiver: 0), .reply(client: 7, receiver: 0, refusal: nil)])
    #expect(changes.isIdle)
  }

  @Test("The changes of a removed receiver are refused, and the next receiver in its place does not get its settings")
  func removal() {
    var changes = DeviceChanges()
    changes.request(change(cycle: 0.5), of: 1, by: 7, at: start)
    changes.update(ready, of: 1, at: start)
    #expect(changes.settings[1] == settings(cycle: 500))
    changes.request(change(bytes: [1]), of: 1, by: 8, at: start)
    changes.request(change(bytes: [1]), of: 0, by: 9, at: start)
    _ = changes.takeActions()
    changes.forget(1)
    let refusal = "the receiver is removed"
    #expect(
      changes.takeActions() == [7, 8].map { .reply(client: $0, receiver: 1, refusal: refusal) })
    #expect(changes.settings[1] == nil)
    #expect(changes.isAwaited(by: 9))
  }

  @Test("A receiver that does not answer in seven seconds is reported, before gpsctl gives up")
  func timeout() throws {
    var changes = DeviceChanges()
    changes.request(change(bytes: [1]), of: 0, by: 7, at: start)
    let deadline = try #require(changes.deadline)
    #expect(deadline == start + Milliseconds(7000))
    changes.update(DeviceChanges.Receiver(readiness: .waiting), of: 0, at: deadline)
    #expect(isRefused(changes.takeActions(), "does not answer"))
    #expect(changes.deadline == nil)
  }

  @Test("A changed rate is the user's from then on, and the reply comes after the receiver has it")
  func rate() {
    var changes = DeviceChanges()
    changes.request(change(bps: 19_200), of: 0, by: 7, at: start)
    changes.update(ready, of: 0, at: start)
    #expect(changes.takeActions() == [.set(settings(bps: 19_200), receiver: 0)])
    changes.receive(.rateFound(115_200), of: 0)
    changes.receive(.rateFound(19_200), of: 1)
    #expect(changes.takeActions() == [])
    changes.receive(.rateFound(19_200), of: 0)
    #expect(changes.takeActions() == [.reply(client: 7, receiver: 0, refusal: nil)])
    #expect(changes.settings == [0: settings(bps: 19_200)])
  }

  @Test("If the receiver does not change its rate, the settings are those before")
  func rateNotChanged() {
    var changes = DeviceChanges()
    changes.request(change(bps: 19_200), of: 0, by: 7, at: start)
    changes.update(ready, of: 0, at: start)
    _ = changes.takeActions()
    changes.receive(.rateNotChanged(19_200), of: 0)
    let actions = changes.takeActions()
    #expect(actions.first == .set(settings(), receiver: 0))
    #expect(isRefused(Array(actions.dropFirst()), "rate"))
    #expect(changes.settings == [0: settings()])
  }

  @Test("A receiver that is lost at its new rate is reported after the timeout, with the settings before")
  func lostAtRate() throws {
    var changes = DeviceChanges()
    changes.request(change(bps: 19_200), of: 0, by: 7, at: start)
    changes.update(ready, of: 0, at: start)
    _ = changes.takeActions()
    changes.update(
      DeviceChanges.Receiver(readiness: .waiting), of: 0, at: start + Milliseconds(6999))
    #expect(changes.takeActions() == [])
    changes.update(DeviceChanges.Receiver(readiness: .waiting), of: 0, at: try #require(changes.deadline))
    #expect(changes.takeActions().first == .set(settings(), receiver: 0))
    #expect(changes.isIdle)
  }

  @Test("A cycle is set, and one that the receiver refuses is not; usual refusals do not count")
  func cycle() {
    var changes = DeviceChanges()
    changes.receive(.configured(refused: 1), of: 0)
    for (cycle, refused) in [(0.2, 1), (0.1, 2)] {
      changes.request(change(cycle: cycle), of: 0, by: 7, at: start)
      changes.update(ready, of: 0, at: start)
      #expect(changes.takeActions() == [.set(settings(cycle: UInt16(cycle * 1000)), receiver: 0)])
      changes.receive(.configured(refused: refused), of: 0)
      if refused == 1 {
        #expect(changes.takeActions() == [.reply(client: 7, receiver: 0, refusal: nil)])
      } else {
        let actions = changes.takeActions()
        #expect(actions.first == .set(settings(cycle: 200), receiver: 0))
        #expect(isRefused(Array(actions.dropFirst()), "refused the cycle"))
      }
    }
    #expect(changes.settings == [0: settings(cycle: 200)])
  }

  @Test("Changes of one receiver are applied one after the other, and keep each other's settings")
  func order() {
    var changes = DeviceChanges()
    changes.request(change(bps: 38_400), of: 0, by: 7, at: start)
    changes.request(change(cycle: 0.5), of: 0, by: 8, at: start)
    changes.update(ready, of: 0, at: start)
    #expect(changes.takeActions() == [.set(settings(bps: 38_400), receiver: 0)])
    changes.receive(.rateFound(38_400), of: 0)
    changes.update(ready, of: 0, at: start)
    #expect(
      changes.takeActions() == [
        .reply(client: 7, receiver: 0, refusal: nil), .set(settings(bps: 38_400, cycle: 500), receiver: 0),
      ])
  }

  @Test("UBX is the service's: NMEA is refused, and UBX changes nothing")
  func native() {
    #expect(isRefused(actions(change(native: 0), ready), "native"))
    #expect(actions(change(native: 1), ready) == [.reply(client: 7, receiver: 0, refusal: nil)])
  }

  @Test("A receiver without commands has the reply of gpsd, its settings as they are, and gets no bytes")
  func plain() {
    let plain = DeviceChanges.Receiver(readiness: .plain, bitsPerSecond: 9600)
    for one in [change(native: 0), change(native: 1), change(bps: 19_200), change(cycle: 0.5)] {
      #expect(actions(one, plain) == [.reply(client: 7, receiver: 0, refusal: nil)])
    }
    #expect(isRefused(actions(change(bytes: [1]), plain), "no commands"))
  }

  @Test("A receiver of NMEA that is not identified in time counts as one without commands")
  func unidentified() {
    var changes = DeviceChanges()
    var waiting = DeviceChanges.Receiver(readiness: .waiting, bitsPerSecond: 9600)
    waiting.sendsNMEA = true
    changes.request(change(bps: 19_200), of: 0, by: 7, at: start)
    changes.update(waiting, of: 0, at: start)
    #expect(changes.takeActions() == [])
    changes.update(waiting, of: 0, at: start + DeviceChanges.timeout)
    #expect(changes.takeActions() == [.reply(client: 7, receiver: 0, refusal: nil)])
  }

  @Test("Settings that the receiver or its line cannot have are refused, and change nothing")
  func refusals() {
    var odd = change(bps: 9600)
    odd.parity = "E"
    var long = change(bps: 9600)
    long.stopBits = 2
    var slow = ready
    slow.bitsPerSecond = 9600
    var fixed = ready
    fixed.isRateFixed = true
    let usb = DeviceChanges.Receiver(readiness: .ready)
    for (change, receiver, word) in [
      (odd, ready, "parity"), (long, ready, "stopbits"), (change(bps: 1200), ready, "bps"),
      (change(bps: 4_000_000), ready, "bps"), (change(bps: 9600), usb, "no rate"),
      (change(bps: 9600), fixed, "configuration file"),
      (change(cycle: 2), ready, "power control"), (change(cycle: 0.01), ready, "at least 0.05"),
      (change(cycle: 0.2), slow, "does not carry"),
      (change(bps: 9600, cycle: 0.2), ready, "does not carry"),
      (
        change(bytes: [1]), DeviceChanges.Receiver(readiness: .lent), "another program"
      ),
    ] {
      #expect(isRefused(actions(change, receiver), word), "\(word)")
    }
  }

  @Test("The defaults of gpsd's clients stand for no change")
  func defaults() {
    var change = change(bps: 0, cycle: 0)
    (change.parity, change.stopBits) = ("N", 0)
    #expect(actions(change, ready) == [.reply(client: 7, receiver: 0, refusal: nil)])
  }

  @Test("A client that ends leaves no request, but a change that was begun is completed")
  func end() {
    var changes = DeviceChanges()
    changes.request(change(bps: 38_400), of: 0, by: 7, at: start)
    changes.update(ready, of: 0, at: start)
    changes.request(change(bytes: [1]), of: 0, by: 8, at: start)
    changes.end(7)
    changes.end(8)
    _ = changes.takeActions()
    #expect(!changes.isAwaited(by: 8))
    changes.receive(.rateFound(38_400), of: 0)
    changes.update(ready, of: 0, at: start)
    #expect(changes.takeActions() == [.reply(client: 7, receiver: 0, refusal: nil)])
  }
}
