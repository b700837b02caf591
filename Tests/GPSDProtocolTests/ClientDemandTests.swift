// SPDX-License-Identifier: Apache-2.0
import GPSD
import MonotonicTime
import Testing

@Suite("The demand of gpsd's clients")
struct ClientDemandTests {
  private static func at(_ seconds: Double) -> Instant { Instant.zero.moved(by: seconds) }

  /// A client that has watched, whose searches take two seconds.
  private struct Polling {
    var scene = Scene.greeted()
    /// The times of its searches, seconds.
    var searches: [Double] = []

    init(_ watch: String = #"?WATCH={"enable":true};"#, limit: DemandLimit = DemandLimit()) {
      scene.client.limit = limit
      scene.send(watch)
      scene.client.began(scene.client.demand, at: at(0))
    }

    /// Advances the time, and performs the searches that are due.
    mutating func pass(to end: Double) {
      while let due = scene.client.deadline, due <= at(end) {
        let before = scene.client.demand
        scene.client.wake(at: due)
        if scene.client.demand != before { scene.client.began(scene.client.demand, at: due) }
        guard scene.client.isSearchDue(at: due) else { continue }
        searches.append(due.seconds(since: .zero))
        scene.client.requested(at: due)
        scene.client.answered(at: due.moved(by: 2))
      }
    }

    mutating func poll(at seconds: Double) {
      pass(to: seconds)
      let before = scene.client.demand
      scene.send("?POLL;")
      scene.client.didPoll(at: at(seconds))
      if scene.client.demand != before { scene.client.began(scene.client.demand, at: at(seconds)) }
      pass(to: seconds)
    }
  }

  @Test(
    "A client that polls regularly has one search before each poll, and none after its last one",
    arguments: [20.0, 60, 600])
  func regular(interval: Double) {
    var polling = Polling()
    for number in 1...10 { polling.poll(at: Double(number) * interval) }
    polling.pass(to: 100 * interval)
    // The first search is due to the watch, the second to the first poll, whose location is old.
    #expect(polling.searches.prefix(2) == [0, interval])
    let later = polling.searches.dropFirst(2)
    // The second poll has the location of the first one; from then on the next poll is expected.
    #expect(later.count == 10)
    for (search, number) in zip(later.dropFirst(), 3...11) {
      #expect(search > Double(number) * interval - 10 && search <= Double(number) * interval - 4, "\(polling.searches)")
    }
    #expect(polling.scene.client.deadline == nil)
  }

  @Test("Polls that come close together keep the receiver on until they end; a repeated poll counts once")
  func dense() {
    var polling = Polling()
    for second in 0..<30 { polling.poll(at: Double(second)) }
    #expect(polling.scene.client.demand == .continuous(accuracyMetres: nil))
    let count = polling.searches.count
    polling.pass(to: 100)
    #expect(polling.scene.client.demand == .polled(accuracyMetres: nil))
    #expect(polling.searches.count == count)
    var repeating = Polling()
    for minute in 1...5 {
      repeating.poll(at: Double(minute) * 60)
      repeating.poll(at: Double(minute) * 60 + 0.5)
      #expect(repeating.scene.client.demand == .polled(accuracyMetres: nil))
    }
  }

  @Test("A poll at an unexpected time is answered with what is known, and begins a search")
  func unexpected() {
    var polling = Polling()
    for time in [60.0, 120, 150] { polling.poll(at: time) }
    #expect(polling.searches.last == 150)
  }

  @Test("The administrator limits what clients require; a client may require less")
  func limit() {
    let limit = DemandLimit(everySeconds: 60, accuracyMetres: 100)
    for (watch, expected) in [
      (#"?WATCH={"json":true};"#, GPSDClient.Demand.every(seconds: 60, accuracyMetres: 100)),
      (#"?WATCH={"nmea":true,"sextant":{"accuracy":5,"interval":10}};"#, .every(seconds: 60, accuracyMetres: 100)),
      (#"?WATCH={"raw":1,"sextant":{"accuracy":500,"interval":300}};"#, .every(seconds: 300, accuracyMetres: 500)),
      (#"?WATCH={"enable":true};"#, .polled(accuracyMetres: 100)), (#"?WATCH={"enable":false};"#, .none),
    ] {
      #expect(Polling(watch, limit: limit).scene.client.demand == expected, "\(watch)")
    }
    var polling = Polling(limit: limit)
    for second in 0..<300 { polling.poll(at: Double(second)) }
    #expect(polling.searches.count <= 6, "\(polling.searches)")
    #expect(
      Polling(#"?WATCH={"json":true};"#, limit: DemandLimit(accuracyMetres: 50)).scene.client.demand
        == .continuous(accuracyMetres: 50))
  }

  @Test("Under the administrator's interval a client gets the reports of its searches alone")
  func limitedReports() {
    let polling = Polling(#"?WATCH={"json":true};"#, limit: DemandLimit(everySeconds: 60))
    var client = polling.scene.client
    let epoch = EpochReports(device: "/dev/ttyACM0", json: Array("J\r\n".utf8))
    let delivered = client.delivered
    client.deliver(epoch, at: Self.at(1))
    #expect(client.delivered == delivered)
    client.requested(at: Self.at(2))
    client.deliver(epoch, at: Self.at(3))
    #expect(client.delivered == delivered + 1)
  }

  @Test("A search of one client also serves another whose next one is near")
  func join() {
    var polling = Polling(#"?WATCH={"json":true};"#, limit: DemandLimit(everySeconds: 60))
    polling.pass(to: 10)
    #expect(polling.searches == [0])
    polling.scene.client.joinSearch(at: Self.at(20))
    #expect(!polling.scene.client.isSearchDue(at: Self.at(20)))
    polling.scene.client.joinSearch(at: Self.at(40))
    #expect(polling.scene.client.isSearchDue(at: Self.at(40)))
  }

  @Test("A client that leaves its reports unread needs nothing until it reads again")
  func unread() {
    var scene = Scene.greeted()
    scene.send(#"?WATCH={"json":true};"#)
    _ = scene.read()
    let wanted = scene.client.demand
    let epoch = EpochReports(device: "/dev/ttyACM0", json: Array("J\r\n".utf8))
    scene.client.deliver(epoch, at: Self.at(0))
    scene.client.didBlock(at: Self.at(0))
    scene.client.wake(at: Self.at(9))
    #expect(scene.client.demand == wanted)
    #expect(scene.client.deadline == Self.at(10))
    scene.client.didBlock(at: Self.at(9.5))
    scene.client.wake(at: Self.at(10))
    #expect(scene.client.demand == .none && scene.client.deadline == nil)
    _ = scene.read()
    #expect(scene.client.demand == wanted)
  }
}
