// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import Synchronization

/// The sources of addresses of this process: the server of the configuration, else an extract of GeoNames. If the server
/// cannot be reached, the extract answers. One request runs at a time, on a thread that ends with the last one: after
/// the first use of a global queue, libdispatch would wake the process every second.
final class GeocodingService: Sendable {
  static let shared = GeocodingService(.ofThisProcess())

  private struct State: Sendable {
    var pacing = RequestPacing<Result<[Place], GeocodingError>>()
    var extract: GeoNamesExtract?
    /// Lines that were logged; each is logged once.
    var logged: Set<String> = []
  }

  private let settings: GeocodingSettings
  private let log: @Sendable (String) -> Void
  /// Waits for a number of seconds before a request is sent.
  private let pause: @Sendable (TimeInterval) -> Void
  /// The queued work; nil while no thread runs.
  private let queue = Mutex<[@Sendable () -> Void]?>(nil)
  private let state = Mutex(State())

  init(
    _ settings: GeocodingSettings, log: @escaping @Sendable (String) -> Void = System.programLog,
    pause: @escaping @Sendable (TimeInterval) -> Void = { Thread.sleep(forTimeInterval: $0) }
  ) {
    self.settings = settings
    self.log = log
    self.pause = pause
  }

  /// Runs a request.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - locale: the locale of the answer; nil for the current one.
  ///   - isWanted: whether the caller still waits for the outcome.
  ///   - completion: receives the outcome, on the service's thread.
  func run(
    _ request: GeocodingRequest, _ locale: Locale?, isWanted: @escaping @Sendable () -> Bool,
    _ completion: @escaping @Sendable (Result<[CLPlacemark], CLError>) -> Void
  ) {
    let locale = locale ?? .current
    let isStarted = enqueue { [self] in
      do throws(GeocodingError) {
        let places = try places(request, locale, isWanted)
        completion(
          .success(
            places.map { place in
              CLPlacemark(place, country: place.isoCountryCode.flatMap { locale.localizedString(forRegionCode: $0) })
            }))
      } catch {
        completion(.failure(CLError(error)))
      }
    }
    if !isStarted { completion(.failure(CLError(GeocodingError.network("the system has no thread left")))) }
  }

  /// Queues work after the pending work. Returns false if the system cannot start a thread.
  private func enqueue(_ work: @escaping @Sendable () -> Void) -> Bool {
    // Under the lock, so that no other work is added for a thread that does not start.
    queue.withLock { queue in
      if queue == nil, !BackgroundWork.start({ self.runWork() }) { return false }
      queue = (queue ?? []) + [work]
      return true
    }
  }

  private func runWork() {
    while let work = queue.withLock({ queue in
      guard let first = queue?.first else {
        queue = nil
        return nil as (@Sendable () -> Void)?
      }
      queue?.removeFirst()
      return first
    }) {
      work()
    }
  }

  /// Delays the next requests by `body`, for tests.
  func hold(_ body: @escaping @Sendable () -> Void) { _ = enqueue(body) }

  private func places(
    _ request: GeocodingRequest, _ locale: Locale, _ isWanted: () -> Bool
  ) throws(GeocodingError) -> [Place] {
    guard isWanted() else { throw Self.cancelled }
    if let problem = settings.problem { logOnce(problem) }
    guard request.isPossible else { throw .noResult }
    if let server = settings.server {
      do throws(GeocodingError) {
        return try ask(server, request, locale, isWanted)
      } catch {
        guard case .network(let reason) = error, isWanted() else { throw error }
        logOnce("the geocoder \(server) does not answer: \(reason)")
        if settings.extract == nil { throw error }
      }
    }
    guard let path = settings.extract else {
      let text =
        "geocoding has no source: name a Nominatim server (`geocoder URL` in ~/.config/sextant/config), or put an extract "
        + "of GeoNames, such as cities500.txt, into \(GeocodingSettings.folder)"
      logOnce(text)
      throw .network(text)
    }
    // It may be overwritten during the request.
    for _ in 0..<3 {
      let extract = try extract(at: path)
      let places = Result { () throws(GeocodingError) in try extract.places(request, locale) }
      if extract.isCurrent { return try places.get() }
    }
    throw .network("\(path) is being replaced; try again")
  }

  /// The error of a cancelled request, whose caller has its outcome.
  private static var cancelled: GeocodingError { .network("cancelled") }

  private func logOnce(_ text: String) {
    if state.withLock({ $0.logged.insert(text).inserted }) { log(text) }
  }

  // MARK: The server

  private func ask(
    _ text: String, _ request: GeocodingRequest, _ locale: Locale, _ isWanted: () -> Bool
  ) throws(GeocodingError) -> [Place] {
    guard let server = NominatimServer(text) else {
      throw .network("its address is none of http:// or https://; correct `geocoder` in the configuration")
    }
    let address = server.address(of: request, language: Self.languages(locale))
    if let answer = state.withLock({ $0.pacing.answer(of: address) }) { return try answer.get() }
    let time = state.withLock { $0.pacing.nextStart(at: SystemClock.monotonic) }
    pause(max(0, time.seconds(since: SystemClock.monotonic)))
    // A request that was cancelled meanwhile is not sent, and does not delay the next one.
    guard isWanted() else { throw Self.cancelled }
    state.withLock { $0.pacing.noteStart(at: SystemClock.monotonic) }
    let body = try WebRequest.get(address, limit: NominatimAnswer.maximumBytes, isWanted)
    do throws(GeocodingError) {
      let places = try NominatimAnswer.places(in: body)
      state.withLock { $0.pacing.keep(.success(places), of: address) }
      return places
    } catch {
      if error == .noResult { state.withLock { $0.pacing.keep(.failure(error), of: address) } }
      throw error
    }
  }

  /// The languages in the form of HTTP's Accept-Language; nil if there is none.
  private static func languages(_ locale: Locale) -> String? {
    guard let language = locale.language.languageCode?.identifier else { return nil }
    return locale.language.region.map { "\(language)-\($0.identifier),\(language)" } ?? language
  }

  // MARK: The extract

  private func extract(at path: String) throws(GeocodingError) -> GeoNamesExtract {
    if let extract = state.withLock({ $0.extract }), extract.isCurrent { return extract }
    guard let extract = GeoNamesExtract(path) else {
      let text = "\(path): cannot be read, or has no place of GeoNames; check its permission and content"
      logOnce(text)
      throw .network(text)
    }
    state.withLock { $0.extract = extract }
    return extract
  }
}

extension CLError {
  fileprivate init(_ error: GeocodingError) {
    switch error {
    case .noResult: self.init(.geocodeFoundNoResult)
    case .partialResult: self.init(.geocodeFoundPartialResult)
    case .network(let reason): self.init(.network, userInfo: [NSLocalizedDescriptionKey: reason])
    }
  }
}

/// An extract of GeoNames in a file, with its index.
struct GeoNamesExtract: Sendable {
  private let file: RegularFile
  private let index: GeoNamesIndex
  private let names: GeoNamesNames
  /// The marks of the files from which it was made, keyed by path.
  private let marks: [String: FileLookup.Mark?]

  /// - Parameter path: the extract. `admin1CodesASCII.txt` and `admin2Codes.txt` next to it have the names of states
  ///   and counties; without them these are nil.
  /// - Returns: nil if the file cannot be read, or contains no places.
  init?(_ path: String) {
    guard let file = try? RegularFile(opening: path) else { return nil }
    self.file = file
    index = GeoNamesIndex(Self.text(of: file))
    if index.count == 0 { return nil }
    let folder = (path as NSString).deletingLastPathComponent
    var names = GeoNamesNames()
    var marks: [String: FileLookup.Mark?] = [path: file.mark]
    for name in ["\(folder)/admin1CodesASCII.txt", "\(folder)/admin2Codes.txt"] {
      marks.updateValue(FileLookup.mark(name), forKey: name)
      if let file = try? RegularFile(opening: name) { names.add(Self.text(of: file)) }
    }
    (self.names, self.marks) = (names, marks)
  }

  private static func text(of file: RegularFile) -> GeoNamesText {
    GeoNamesText { file.read(count: 65_536, at: $0) }
  }

  /// Whether its files have not been changed or replaced.
  var isCurrent: Bool { marks.allSatisfy { FileLookup.mark($0.key) == $0.value } }

  /// Returns the places of a request.
  ///
  /// - Parameter locale: the language in which the address may name its country, in addition to English.
  func places(_ request: GeocodingRequest, _ locale: Locale) throws(GeocodingError) -> [Place] {
    switch request {
    case .reverse(let coordinate):
      guard let found = index.nearest(to: coordinate, in: Self.text(of: file)) else { throw .noResult }
      return [Place(found.place, section: found.section, names)]
    case .forward(let address, let circle):
      let countries = Self.countries(locale)
      let search = GeoNamesSearch(names) { countries[$0] }
      return try search.places(address, near: circle, in: Self.text(of: file)).map { Place($0, names) }
    }
  }

  /// Country codes, keyed by country name in lower case.
  private static func countries(_ locale: Locale) -> [String: String] {
    var codes: [String: String] = [:]
    for region in Locale.Region.isoRegions {
      for language in [Locale(identifier: "en"), locale] {
        guard let name = language.localizedString(forRegionCode: region.identifier) else { continue }
        codes[name.lowercased()] = region.identifier
      }
    }
    return codes
  }
}

/// A request over HTTP or HTTPS, which the program `curl` performs.
///
/// FoundationNetworking would make every client of the module depend on libcurl and its thirty libraries, and a statically
/// linked one would not link without their development files, even if it never requests an address.
enum WebRequest {
  /// Time limits for the connection and for the complete answer, seconds.
  private static let connectSeconds = 10
  private static let seconds = 20

  /// Returns the body of an answer with status 200. Blocks the calling thread.
  ///
  /// - Parameter isWanted: the request ends once it returns false.
  /// - Throws: `network` with the reason.
  static func get(
    _ address: String, limit: Int, _ isWanted: () -> Bool
  ) throws(GeocodingError) -> [UInt8] {
    guard let curl = program else { throw .network("the program curl is missing; install it") }
    let child: ChildProcess
    do throws(ChildProcessError) {
      // The address is in the input, not among the arguments, which every user of the machine can read.
      child = try ChildProcess(
        curl, ["--disable", "--config", "-"], input: Array(configuration(address, limit: limit).utf8))
    } catch { throw .network(error.description) }
    let output = withoutActuallyEscaping(isWanted) { child.readToEnd(limit: limit + 16, isWanted: $0) }
    guard let body = output else {
      throw .network(isWanted() ? "the answer is too long" : "cancelled")
    }
    let (code, errors) = child.end()
    // A program that ignores SIGCHLD gets no exit code; curl writes the reason of a failure.
    guard code == 0 || code == nil && errors.isEmpty else {
      let reason = errors.trimmingCharacters(in: .whitespacesAndNewlines)
      throw .network(reason.isEmpty ? "curl ended with code \(code ?? -1)" : reason)
    }
    return try content(of: body)
  }

  /// The body without the status line at its end.
  private static func content(of answer: [UInt8]) throws(GeocodingError) -> [UInt8] {
    guard let end = answer.lastIndex(of: 0x0A) else { throw .network("the answer is incomplete") }
    let status = String(decoding: answer[(end + 1)...], as: UTF8.self)
    guard status == "200" else { throw .network("HTTP status \(status)") }
    return Array(answer[..<end])
  }

  /// The options of curl (curl(1), "--config"). The address has neither quotes nor backslashes.
  private static func configuration(_ address: String, limit: Int) -> String {
    """
    url = "\(address)"
    user-agent = "\(userAgent)"
    header = "Accept: application/json"
    write-out = "\\n%{http_code}"
    silent
    show-error
    location
    max-redirs = 3
    proto = "=http,https"
    proto-redir = "=http,https"
    connect-timeout = \(connectSeconds)
    max-time = \(seconds)
    max-filesize = \(limit)

    """
  }

  /// The program's name and the library's: servers require a name that identifies the program.
  private static var userAgent: String {
    let name = ProcessInfo.processInfo.processName.unicodeScalars.filter {
      $0.isASCII && (CharacterSet.alphanumerics.contains($0) || "-_.".unicodeScalars.contains($0))
    }
    return "\(String(String.UnicodeScalarView(name))) (Sextant CoreLocation)"
  }

  private static var program: String? {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init) ?? []
    return (folders + ["/usr/bin", "/bin"]).map { $0 + "/curl" }.first(where: FileManager.default.isExecutableFile)
  }
}
