// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import WireBytes

/// `sextant view`: shows a receiver or a recording live in a browser.
struct View: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view",
    abstract: "Show a receiver or a recording live in a browser.",
    discussion: """
      Serves one page with the sky, signals, position, messages and the power state of a receiver. The page is part of the \
      program and loads nothing from elsewhere.

      While a page is open, a u-blox receiver is configured as by watch. When no page has been open for 10 seconds, the \
      receiver is restored and its line is closed until a page is opened again. Recordings are replayed in their own time \
      from the first page on.

      Another address than one of this computer alone needs the token of the printed address. Press ^C to end.
      """)

  @OptionGroup var receiver: ReceiverOptions

  @Option(help: "The address and port of the page; * for all addresses of this computer.")
  var listen = "127.0.0.1:2950"

  private static let usualPort = 2950

  @Flag(help: "Open the page in the browser of the desktop, by xdg-open.")
  var open = false

  @Flag(
    help: """
      Let the page change settings of the receiver. The settings are kept in its volatile memory, and each request needs the \
      token of the printed address.
      """)
  var control = false

  @Option(
    help: """
      Show map tiles of this server, such as https://tile.example.org/{z}/{x}/{y}.png. The browser loads them; the server \
      sees the place.
      """)
  var tiles: String?

  @Option(help: "The speed of recordings: a number such as 10, or max.")
  var speed: String?

  @Option(help: "End after this many seconds.")
  var seconds: Double?

  @Flag(help: "Send no byte to the receiver.")
  var readOnly = false

  @Argument(
    help:
      "Recordings to replay, one after the other, in place of a receiver; or the device of a receiver, as of --device.")
  var files: [String] = []

  mutating func validate() throws {
    try ReceiverOptions.check(seconds: seconds)
    if InternetAddress.parse(listen) == nil { listen += ":\(Self.usualPort)" }
    if InternetAddress.parse(listen) == nil {
      throw ValidationError("--listen must be an address and a port, such as 127.0.0.1:2950, [::1]:2950 or *:2950.")
    }
    if let place = files.first, files.count == 1, Self.isDevice(place) {
      try receiver.use(place: place)
      files = []
    }
    if !files.isEmpty, receiver.device != nil || receiver.demo {
      throw ValidationError("A recording takes the place of a receiver; omit --device and --demo.")
    }
    if speed != nil, files.isEmpty { throw ValidationError("--speed is for recordings; name one.") }
    if let speed, speed != "max", !(Double(speed).map { $0 > 0 && $0.isFinite } ?? false) {
      throw ValidationError("--speed must be a number above 0, or max.")
    }
    if control, readOnly || !files.isEmpty {
      throw ValidationError("--control sends to a receiver; omit --read-only and recordings.")
    }
    if let tiles, Self.origin(ofTiles: tiles) == nil {
      throw ValidationError("--tiles must be like https://tile.example.org/{z}/{x}/{y}.png.")
    }
  }

  /// Whether a name does not belong to a recording.
  private static func isDevice(_ name: String) -> Bool {
    switch try? LineAddress(name) {
    case .port(let path)?: path.hasPrefix("/dev/") || exists(path) && !FileLookup.isRegularFile(path)
    case .i2c?, .network?, .replay?, .simulator?: true
    case nil: false
    }
  }

  /// The origin of an address of tiles, such as `https://tile.example.org`; nil for other text.
  static func origin(ofTiles text: String) -> String? {
    guard text.includes("{z}"), text.includes("{x}"), text.includes("{y}"),
      let scheme = ["https://", "http://"].first(where: text.hasPrefix)
    else { return nil }
    let host = text.dropFirst(scheme.utf8.count).prefix { $0 != "/" }
    let isHost = host.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-.:[]".utf8.contains(byte)
      }
    }
    return isHost && !host.isEmpty ? scheme + host : nil
  }

  func run() throws {
    let addresses = InternetAddress.parse(listen) ?? []
    let isLoopback = listen.hasPrefix("localhost:") || listen.hasPrefix("127.") || listen.hasPrefix("[::1]:")
    let token = Self.token()
    let server = PageServer(
      files: .own, access: PageAccess(isLoopback: isLoopback, allowsControl: control, token: token),
      tileOrigin: tiles.flatMap(Self.origin))
    let sockets = try PageSockets(server, at: addresses)
    let hasToken = !isLoopback || control
    let urls = Self.printed(listen).map { "http://\($0)/" + (hasToken ? "?token=\(token)" : "") }
    let end = seconds.map { SystemClock.monotonic + Milliseconds(seconds: $0) }
    let page = ViewPage(
      sockets, addresses: urls, hasToken: hasToken, opensBrowser: open, tiles: tiles, allowsControl: control, end: end)
    if files.isEmpty { return try viewReceiver(page) }
    let choices = try files.map { file in
      try Source.chosen(named: "replay:\(file)" + (speed.map { "@\($0)" } ?? ""), isDemo: false, for: .listening)
    }
    page.announce()
    for (choice, file) in zip(choices, files) {
      page.begin(file, .recording, isFile: true)
      guard try page.waitForPage() else { return }
      guard try run(choice, page, name: file) else { return }
    }
    try page.serveUntilEnd()
  }

  /// Opens the receiver while pages are open. The first failure ends the command. A receiver that was there is waited for: it may
  /// have been unplugged while no page was open.
  private func viewReceiver(_ page: ViewPage) throws {
    var rest = page.secondsLeft
    var continues = try viewSession(page, receiver.chooseOrWait(seconds: &rest, sends: control))
    var failure: String?
    while continues, try page.waitForPage() {
      do {
        continues = try viewSession(page, receiver.chooseAgain(sends: control))
        failure = nil
      } catch {
        guard let text = Self.text(error) else { throw error }
        // A failure that repeats is shown once.
        continues = try page.showFailure(text, isNew: text != failure)
        failure = text
      }
    }
  }

  /// The text of a failure of the receiver or of the service; nil for another one.
  private static func text(_ error: any Error) -> String? {
    switch error {
    case let failure as SerialPortError: failure.description
    case let failure as CommandFailure: failure.description
    default: nil
    }
  }

  /// Shows the receiver until no page is open. Its line, and the connection to a service, are closed with the function.
  private func viewSession(_ page: ViewPage, _ choice: Source.Choice) throws -> Bool {
    page.begin(choice.source.name, Self.kind(choice), isFile: false)
    defer { page.leave() }
    return try run(choice, page, name: choice.source.name)
  }

  private static func kind(_ choice: Source.Choice) -> LiveEvent.SourceKind {
    // Simulated and recorded positions are named as such, also if a service sends them.
    switch choice.source {
    case .simulator: return .simulated
    case .device(let name):
      switch try? LineAddress(name) {
      case .simulator?: return .simulated
      case .replay?: return .recording
      case .port?, .i2c?, .network?, nil: break
      }
    }
    if choice.source.isStandardInput { return .recording }
    return choice.service == nil ? .receiver : .service
  }

  /// Runs a session until its source or the command ends. Returns whether the command continues.
  private func run(_ choice: Source.Choice, _ page: ViewPage, name: String) throws -> Bool {
    let isReadOnly = readOnly || choice.isReadOnly || choice.service?.isServed == true || choice.source.isStandardInput
    let settings = SessionSettings(intent: isReadOnly ? .readOnly : .serve, line: .serial)
    var loop = try ReceiverLoop(
      choice, settings, seconds: page.secondsLeft, client: ViewClient(page, choice, name: name, isReadOnly: isReadOnly))
    page.announce()
    try loop.run()
    let isInterrupted = loop.isInterrupted
    let client = loop.takeClient()
    let continues = !isInterrupted && (page.secondsLeft.map { $0 > 0 } ?? true)
    if page.isRecording {
      page.end(client.endReason)
      if !isInterrupted { printNotice("\(name): \(client.endReason); ^C ends") }
    } else if continues, client.hasEnded {
      // Such as a replayed device: its end is shown until the page is closed, and the next page begins it again.
      page.end(client.endReason)
      return try page.waitForNoPage()
    }
    return continues
  }

  /// A secret of 128 bits.
  private static func token() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<4).map { _ in (generator.next() as UInt32).hexadecimalDigits }.joined()
  }

  /// The addresses for a browser. If all addresses are listened at, those that other machines can open come first.
  private static func printed(_ listen: String) -> [String] {
    for prefix in ["*:", "0.0.0.0:", "[::]:"] where listen.hasPrefix(prefix) {
      let port = listen.dropFirst(prefix.utf8.count)
      return (InternetInterfaces.reachableAddresses() + ["localhost"]).map { "\($0):\(port)" }
    }
    return [listen]
  }
}
