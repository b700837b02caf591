// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import Positioning
import Power
import ReceiverStream
import Testing

@testable import LocationService

@Suite("Several receivers")
struct ReceiverChoiceTests {
  private static func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  /// Processes the epochs of each second, given as the accuracy of each receiver's fix or nil. Returns the chosen
  /// receivers.
  private static func taken(_ seconds: [[Double?]], _ choice: inout ReceiverChoice, from start: Int = 0) -> [[Int]] {
    seconds.enumerated().map { second, epochs in
      epochs.indices.filter { receiver in
        guard let accuracy = epochs[receiver] else { return false }
        let now = instant(Double(start + second) + Double(receiver) / 10)
        return choice.takes(accuracyMetres: accuracy, of: receiver, at: now)
      }
    }
  }

  @Test("SU-19 the first receiver with a fix is taken, and an equally good one does not replace it")
  func first() {
    var choice = ReceiverChoice()
    #expect(Self.taken([[nil, 3], [3, 3], [2.5, 3], [2.2, 3]], &choice) == [[1], [1], [1], [1]])
  }

  @Test("SU-19 a clearly better receiver is chosen after five seconds, not before, and stays chosen")
  func better() {
    var choice = ReceiverChoice()
    let taken = Self.taken(Array(repeating: [5, 2], count: 10), &choice).map { $0.last }
    #expect(taken == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    // A single bad epoch is not a reason.
    #expect(Self.taken([[5, 2], [2, 9], [5, 2], [5, 2]], &choice, from: 10).map(\.last) == [1, 1, 1, 1])
  }

  @Test("SU-19 a receiver that is silent or lost is replaced by the next fix of another")
  func handover() {
    var choice = ReceiverChoice()
    #expect(Self.taken([[2, 9], [nil, 9], [nil, 9], [nil, 9]], &choice) == [[0], [], [], [1]])
    #expect(Self.taken([[2, 9], [2, 9]], &choice, from: 4) == [[1], [1]])
    choice.lost(1)
    #expect(Self.taken([[2, nil]], &choice, from: 6) == [[0]])
    choice.lost(0)
    #expect(Self.taken([[nil, 9]], &choice, from: 7) == [[1]])
  }

  @Test("An unknown accuracy is worse than any, and is taken where there is no other")
  func unknownAccuracy() {
    var choice = ReceiverChoice()
    let isFirstTaken = choice.takes(accuracyMetres: nil, of: 0, at: Self.instant(0))
    #expect(isFirstTaken)
    for second in 0..<6 {
      let isTaken = choice.takes(accuracyMetres: 30, of: 1, at: Self.instant(Double(second) + 0.5))
      #expect(isTaken == (second == 5))
      _ = choice.takes(accuracyMetres: nil, of: 0, at: Self.instant(Double(second + 1)))
    }
  }

  // MARK: In the service

  private static func fix(_ second: Int, accuracy: Double) -> Fix {
    var fix = Fix()
    fix.time = moment(second).utc
    fix.kind = .threeD
    fix.latitudeDegrees = 48
    fix.longitudeDegrees = 11
    fix.horizontalAccuracyMetres = accuracy
    return fix
  }

  private static func moment(_ second: Int) -> Moment {
    Moment(
      instant(Double(second)), utc: UTCTime(nanosecondsSince1970: (1_780_000_000 + Int64(second)) * 1_000_000_000))
  }

  @Test("SU-19 another receiver replaces an unplugged one without an outage, and each epoch is delivered once")
  func service() {
    let all = HostCapabilities(
      hasSatelliteReceiver: true, hasSignificantChanges: true, hasCompass: false, hasBluetooth: false)
    var engine = PositioningEngine(
      keys: UsageKeys(), hostCapabilities: all, application: .foreground, authorizationOverride: .authorizedAlways,
      at: .zero)
    let client = ClientID(0)
    engine.add(client)
    engine.call(.setDelegate([.takesLocations, .takesErrors]), by: client, at: .zero)
    var core = ServiceCore(engine: engine, coordinator: PowerCoordinator(at: .zero))
    core.receive(.standbyFound, at: Self.moment(0))
    core.call(.startUpdatingLocation, by: client, at: .zero)
    #expect(
      Array(core.actions(at: Self.moment(0)).filter { [.openReceiver, .openStandby].contains($0) }) == [
        .openReceiver, .openStandby,
      ])
    var delivered: [Double] = []
    for second in 1..<90 {
      let now = Self.moment(second)
      if second == 30 { core.receive(.receiver(.lost), at: now) }
      if second < 30 {
        core.receive(Self.fix(second, accuracy: 2), sky: Sky(), isUpdate: false, source: nil, at: now)
      }
      core.receive(Self.fix(second, accuracy: 6), ofStandby: 1, source: nil, at: now)
      core.wake(at: now)
      for case .program(_, .output(.event(_, let event, _))) in core.actions(at: now) {
        switch event {
        case .didUpdateLocations(let locations): delivered += locations.map(\.horizontalAccuracyMetres)
        case .didFail(let error): Issue.record("\(second): \(error)")
        default: break
        }
      }
    }
    #expect(delivered == Array(repeating: 2, count: 29) + Array(repeating: 6, count: 60))
  }
}
