// SPDX-License-Identifier: Apache-2.0
import EventLoop
import LivePage
import MonotonicTime
import Receiver
import ReceiverRuntime
import ReceiverStream

/// The page of `sextant view` from its start to its end, over all sessions with the receiver.
final class ViewPage {
  let sockets: PageSockets
  var live = LiveState()
  var power = PowerTimeline()
  /// Whether the times of fixes can be compared with the clock of this computer.
  private(set) var isLive = false
  /// Whether the session ends when no page is open.
  private(set) var endsWithoutPage = false
  var isRecording: Bool { !endsWithoutPage }
  private let address: String
  private let opensBrowser: Bool
  private var isAnnounced = false
  private let tiles: String?
  private let allowsControl: Bool
  private let end: Instant?

  /// - Parameters:
  ///   - address: the address of the page.
  ///   - opensBrowser: whether the page is opened in a browser of this computer.
  ///   - tiles: the address of map tiles; nil for none.
  ///   - end: when the command ends; nil for no limit.
  init(
    _ sockets: PageSockets, address: String, opensBrowser: Bool, tiles: String?, allowsControl: Bool, end: Instant?
  ) {
    self.sockets = sockets
    self.address = address
    self.opensBrowser = opensBrowser
    self.tiles = tiles
    self.allowsControl = allowsControl
    self.end = end
  }

  /// The rest of the command's time; nil for no limit.
  var secondsLeft: Double? { end.map { max(0, $0.seconds(since: SystemClock.monotonic)) } }

  /// The time of day.
  static var utc: UTCTime { UTCTime(nanosecondsSince1970: SystemClock.utcNanoseconds) }

  /// Prints the address of the page once, and opens it.
  func announce() {
    guard !isAnnounced else { return }
    isAnnounced = true
    printNotice("the page is at \(address)")
    if opensBrowser { openBrowser(address) }
  }

  /// A source is shown from now on.
  ///
  /// - Parameter isFile: whether it is a file of the command line, which is read to its end.
  func begin(_ name: String, _ kind: LiveEvent.SourceKind, isFile: Bool) {
    isLive = kind == .receiver || kind == .service
    endsWithoutPage = !isFile
    // A recording has its own counts; those of a receiver go on.
    if isRecording { live = LiveState() } else { live.restart() }
    sockets.publish(
      .hello(
        source: name, kind: kind, version: SextantVersion.text, allowsControl: allowsControl, tiles: tiles,
        started: Self.utc))
  }

  /// The source has ended, or was closed.
  func end(_ reason: String) {
    power.pause(at: SystemClock.monotonic)
    power.end(utc: Self.utc)
    sockets.publish(.end(reason))
  }

  /// Sends the events that wait.
  func publish(at now: Instant) {
    for event in live.takeEvents() { sockets.publish(event) }
    live.opened = sockets.openedMessages
  }

  /// The load of a line with a rate, for a change of the time between epochs; nil before it is known.
  func measuredLine(_ connection: ReceiverConnection) -> MeasuredLine? {
    guard let rate = connection.rate, let bytes = live.bytesPerSecond else { return nil }
    return MeasuredLine(rate: rate, bytesPerSecond: bytes)
  }

  /// Waits until a page is open. Returns false at a signal, and at the end of the command's time.
  func waitForPage() throws -> Bool { try serve { self.sockets.pages > 0 } }

  /// Serves the page until a signal, or the end of the command's time.
  func serveUntilEnd() throws { _ = try serve { false } }

  private func serve(until isOver: () -> Bool) throws -> Bool {
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    try sockets.attach(&poller)
    while !isOver() {
      for event in try poller.wait(deadline: Instant.earlier(sockets.deadline, end)?.nanoseconds) {
        if case .signal = event { return false }
        sockets.handle(event, &poller, at: SystemClock.monotonic)
      }
      let now = SystemClock.monotonic
      if let end, now >= end { return false }
      for request in sockets.takeRequests() {
        sockets.answer(request, .conflict, "no receiver is open; wait until the page shows one", at: now)
      }
      sockets.finishRound(&poller, at: now)
    }
    return true
  }
}
