// SPDX-License-Identifier: Apache-2.0
import LinuxIO
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
  private let addresses: [String]
  private let hasToken: Bool
  private let opensBrowser: Bool
  /// The file that the browser opens; nil before that, and without a token. It is removed with the page.
  private var redirect: RedirectPage?
  private var isAnnounced = false
  private let tiles: String?
  private let allowsControl: Bool
  private let end: Instant?

  /// - Parameters:
  ///   - addresses: the addresses of the page; the last one is for a browser of this computer.
  ///   - hasToken: whether the addresses have the token, which other users must not see.
  ///   - opensBrowser: whether the page is opened in a browser of this computer.
  ///   - tiles: the address of map tiles; nil for none.
  ///   - end: when the command ends; nil for no limit.
  init(
    _ sockets: PageSockets, addresses: [String], hasToken: Bool, opensBrowser: Bool, tiles: String?,
    allowsControl: Bool,
    end: Instant?
  ) {
    self.hasToken = hasToken
    self.sockets = sockets
    self.addresses = addresses
    self.opensBrowser = opensBrowser
    self.tiles = tiles
    self.allowsControl = allowsControl
    self.end = end
  }

  /// The rest of the command's time; nil for no limit.
  var secondsLeft: Double? { end.map { max(0, $0.seconds(since: SystemClock.monotonic)) } }

  /// The time of day.
  static var utc: UTCTime { UTCTime(nanosecondsSince1970: SystemClock.utcNanoseconds) }

  /// Prints the addresses of the page once, and opens it.
  func announce() {
    guard !isAnnounced else { return }
    isAnnounced = true
    printNotice("the page is at \(addresses.joined(separator: " and "))")
    guard opensBrowser, let address = addresses.last else { return }
    guard hasToken else { return openBrowser(address) }
    do {
      let page = try RedirectPage(to: address)
      redirect = page
      openBrowser(page.path)
    } catch {
      printNotice("\(error); open the address in a browser yourself")
    }
  }

  /// A source is shown from now on.
  ///
  /// - Parameter isFile: whether it is a file of the command line, which is read to its end.
  func begin(_ name: String, _ kind: LiveEvent.SourceKind, isFile: Bool) {
    isLive = kind == .receiver || kind == .service
    endsWithoutPage = !isFile
    // A recording starts new counts; a receiver's counts continue.
    if isRecording { live = LiveState() } else { live.restart() }
    sockets.begin(
      .hello(
        source: name, kind: kind, version: SextantVersion.text, allowsControl: allowsControl, tiles: tiles,
        started: Self.utc), of: name)
  }

  /// The recording is over: its last events and the end stay on the page.
  func end(_ reason: String) {
    stopPower()
    sockets.publish(.end(reason))
  }

  /// The receiver was closed, and is opened again for the next page.
  func leave() {
    stopPower()
    sockets.leave()
  }

  private func stopPower() {
    power.pause(at: SystemClock.monotonic)
    power.end(utc: Self.utc)
  }

  /// Sends the events that wait.
  func publish(at now: Instant) {
    for event in live.takeEvents() { sockets.publish(event) }
    live.opened = sockets.openedMessages
  }

  /// The load of a line with a rate, for a change of the time between epochs; nil before it is known.
  func measuredLine(_ connection: ReceiverConnection) -> MeasuredLine? {
    guard let rate = connection.rate, let bytes = live.bytesPerSecond else { return nil }
    return MeasuredLine(rate: rate, restoredRate: connection.configuredRate, bytesPerSecond: bytes)
  }

  /// Waits until a page is open. Returns false at a signal, and at the end of the command's time.
  func waitForPage() throws -> Bool { try serve { self.sockets.pages > 0 } }

  /// Waits until no page is open. Returns false at a signal, and at the end of the command's time.
  func waitForNoPage() throws -> Bool { try serve { self.sockets.pages == 0 } }

  /// Serves the page until a signal, or the end of the command's time.
  func serveUntilEnd() throws { _ = try serve { false } }

  /// Shows why the receiver cannot be opened, and serves the page for a time. Returns false at a signal, and at the end of the
  /// command's time.
  func showFailure(_ text: String, isNew: Bool) throws -> Bool {
    if isNew { printNotice(text) }
    sockets.publish(.notice(text))
    let due = SystemClock.monotonic + Self.retryInterval
    return try serve(deadline: due) { SystemClock.monotonic >= due }
  }

  private static let retryInterval = Milliseconds(2000)

  private func serve(deadline: Instant? = nil, until isOver: () -> Bool) throws -> Bool {
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    try sockets.attach(&poller)
    while !isOver() {
      let due = Instant.earlier(.earlier(sockets.deadline, end), deadline)
      for event in try poller.wait(deadline: due?.nanoseconds) {
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
