// SPDX-License-Identifier: Apache-2.0

/// The service manager systemd on a bus: it starts units, and reports those that were stopped on purpose.
///
/// A stop on purpose is a job of type `stop` (`systemctl stop`) that ends with the signal JobRemoved and an inactive unit. A program
/// that exits or crashes has no job; the start of a unit of type oneshot ends with its program, as a job of type
/// `start`. A shutdown of the computer stops all units and does not count as a stop on purpose
/// (org.freedesktop.systemd1(5)).
///
///     JobNew ──▶ its type is polled ──▶ JobRemoved ──another type──▶ no stop
///                      └──it ended before the answer──▶ a stop, which has nothing to do, if the unit is inactive
///     JobRemoved of a job that began before the unit was watched ──▶ a stop, but in a unit of type oneshot the start in which the
///                      program has registered
package struct UnitControl: Sendable {
  package enum Output: Equatable, Sendable {
    case call(BusCall)
    /// The start of a unit has ended; the reason if it has failed.
    case startEnded(unit: String, failure: String?)
    /// A user, or the administrator, has stopped the unit.
    case stopped(unit: String)
  }

  /// The purpose of the call that an answer belongs to.
  private enum Question: Equatable, Sendable {
    case subscribe, match
    case start(unit: String)
    /// The steps that recognise an ended job as a stop.
    case jobType(path: String)
    case path(unit: String, hasSeenJob: Bool)
    case serviceType(unit: String, path: String)
    case activity(unit: String)
    case manager(unit: String)
  }

  /// A job of a watched unit.
  private struct Job: Equatable, Sendable {
    var unit: String
    var type: String?
    var isTypePending = true
    /// Whether it has left its unit in the expected state, and the type is awaited.
    var isDone = false
  }

  private static let destination = "org.freedesktop.systemd1"
  private static let path = "/org/freedesktop/systemd1"
  private static let manager = "org.freedesktop.systemd1.Manager"

  private var isConnected = false
  private var watched: Set<String> = []
  private var questions: [Int: Question] = [:]
  /// The jobs of this program's starts, keyed by path.
  private var jobs: [String: String] = [:]
  /// The jobs of watched units, keyed by path.
  private var watchedJobs: [String: Job] = [:]
  /// Starts that wait for the connection.
  private var waiting: [String] = []
  private var lastNumber = 0
  private var outputs: [Output] = []

  package init() {}

  package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  /// Whether there is a reason to be connected.
  package var isNeeded: Bool { !watched.isEmpty || !waiting.isEmpty || !jobs.isEmpty }

  /// Whether a text is the name of a service unit (systemd.unit(5)), which may be sent.
  package static func isService(_ name: String) -> Bool {
    name.utf8.count <= 255 && name.hasSuffix(".service") && name != ".service"
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x3A, 0x2D, 0x5F, 0x2E, 0x5C, 0x40: true
        default: false
        }
      }
  }

  // MARK: Calls

  /// Starts a unit. Its end is an output; it does not wait for the unit's programs.
  package mutating func start(_ unit: String) {
    guard Self.isService(unit) else {
      return outputs.append(.startEnded(unit: unit, failure: "\(unit) is not the name of a service"))
    }
    guard isConnected else { return waiting.append(unit) }
    // A start that would replace a job of the administrator fails.
    call(.start(unit: unit), Self.manager, "StartUnit", [.text(unit), .text("fail")])
  }

  /// Sets the units whose stops are reported.
  package mutating func watch(_ units: Set<String>) {
    let units = units.filter(Self.isService)
    if isConnected {
      for unit in units.subtracting(watched).sorted() { match(unit, isWanted: true) }
      for unit in watched.subtracting(units).sorted() { match(unit, isWanted: false) }
    }
    watched = units
  }

  // MARK: The connection

  package mutating func connected() {
    isConnected = true
    // The manager sends signals only to subscribers.
    call(.subscribe, Self.manager, "Subscribe", [])
    for unit in watched.sorted() { match(unit, isWanted: true) }
    let starts = waiting
    waiting = []
    for unit in starts { start(unit) }
  }

  /// Handles a connection that has ended or could not be made: starts fail.
  package mutating func disconnected(_ reason: String) {
    isConnected = false
    var units = waiting + jobs.values.sorted()
    for case .start(let unit) in questions.values { units.append(unit) }
    questions = [:]
    jobs = [:]
    watchedJobs = [:]
    waiting = []
    for unit in units { outputs.append(.startEnded(unit: unit, failure: reason)) }
  }

  package mutating func receive(_ message: BusMessage) {
    switch message.kind {
    case .signal(_, Self.manager, "JobNew"): jobBegins(message.body)
    case .signal(_, Self.manager, "JobRemoved"): jobRemoved(message.body)
    case .signal: break
    case .reply(let token):
      if token.owner == .units, let question = questions.removeValue(forKey: token.number) {
        answered(question, message.body)
      }
    case .refusal(let token, _, let text):
      guard token.owner == .units, let question = questions.removeValue(forKey: token.number) else { return }
      switch question {
      case .start(let unit): outputs.append(.startEnded(unit: unit, failure: text))
      // Handles the end of a job.
      case .jobType(let path): jobTypeCame(nil, of: path)
      case .subscribe, .match, .path, .serviceType, .activity, .manager: break
      }
    }
  }

  /// The arguments are the job's number and path, and the unit.
  private mutating func jobBegins(_ body: [BusValue]) {
    guard body.count == 3, let path = body[1].text, let unit = body[2].text, watched.contains(unit) else { return }
    watchedJobs[path] = Job(unit: unit)
    get("JobType", of: "org.freedesktop.systemd1.Job", at: path, .jobType(path: path))
  }

  private mutating func jobTypeCame(_ type: String?, of path: String) {
    guard let job = watchedJobs[path] else { return }
    watchedJobs[path]?.type = type
    watchedJobs[path]?.isTypePending = false
    guard job.isDone else { return }
    watchedJobs[path] = nil
    jobIsDone(type, of: job.unit)
  }

  /// - Parameter type: nil for a job that ended at once.
  private mutating func jobIsDone(_ type: String?, of unit: String) {
    if type == nil || type == "stop" { examine(unit, hasSeenJob: true) }
  }

  /// Requests the properties that show whether a job has stopped the unit.
  private mutating func examine(_ unit: String, hasSeenJob: Bool) {
    call(.path(unit: unit, hasSeenJob: hasSeenJob), Self.manager, "LoadUnit", [.text(unit)])
  }

  /// The arguments are the job's number and path, the unit and the result.
  private mutating func jobRemoved(_ body: [BusValue]) {
    guard body.count == 4, let path = body[1].text, let unit = body[2].text, let result = body[3].text else { return }
    let job = watchedJobs.removeValue(forKey: path)
    if jobs.removeValue(forKey: path) != nil {
      let isDone = result == "done" || result == "skipped"
      outputs.append(.startEnded(unit: unit, failure: isDone ? nil : "systemd reports \(result) for \(unit)"))
    } else if watched.contains(unit), result == "done" {
      guard var job else { return examine(unit, hasSeenJob: false) }
      guard job.isTypePending else { return jobIsDone(job.type, of: unit) }
      job.isDone = true
      watchedJobs[path] = job
    }
  }

  private mutating func answered(_ question: Question, _ body: [BusValue]) {
    switch question {
    case .subscribe, .match: break
    case .start(let unit): if let path = body.first?.text { jobs[path] = unit }
    case .jobType(let path): jobTypeCame(body.first?.text, of: path)
    case .path(let unit, let hasSeenJob):
      guard let path = body.first?.text else { return }
      if hasSeenJob {
        getActivity(of: unit, at: path)
      } else {
        get("Type", of: "org.freedesktop.systemd1.Service", at: path, .serviceType(unit: unit, path: path))
      }
    case .serviceType(let unit, let path): if body.first?.text != "oneshot" { getActivity(of: unit, at: path) }
    case .activity(let unit):
      guard let state = body.first?.text, state == "inactive" || state == "failed" else { return }
      get("SystemState", of: Self.manager, at: Self.path, .manager(unit: unit))
    case .manager(let unit): if body.first?.text != "stopping" { outputs.append(.stopped(unit: unit)) }
    }
  }

  // MARK: Messages

  private mutating func token(_ question: Question) -> BusToken {
    lastNumber += 1
    questions[lastNumber] = question
    return BusToken(.units, lastNumber)
  }

  private mutating func call(
    _ question: Question, _ interface: String, _ member: String, _ arguments: [BusCall.Argument], at path: String = path
  ) {
    outputs.append(
      .call(BusCall(token(question), Self.destination, path, interface, member, arguments)))
  }

  private mutating func get(_ property: String, of interface: String, at path: String, _ question: Question) {
    call(question, "org.freedesktop.DBus.Properties", "Get", [.text(interface), .text(property)], at: path)
  }

  private mutating func getActivity(of unit: String, at path: String) {
    get("ActiveState", of: "org.freedesktop.systemd1.Unit", at: path, .activity(unit: unit))
  }

  private mutating func match(_ unit: String, isWanted: Bool) {
    // JobNew and JobRemoved have the name of the unit in this argument.
    let rule = "type='signal',sender='\(Self.destination)',interface='\(Self.manager)',arg2='\(unit)'"
    outputs.append(.call(.match(token(.match), rule, isWanted: isWanted)))
  }
}
