// SPDX-License-Identifier: Apache-2.0

import MonotonicTime
import Positioning
import ReceiverStream

/// The programs of the service, and what is computed from all of them after a change.
///
/// ``change(_:_:)`` counts as a change of what the programs need. The functions that take a program's outputs do not: they change
/// neither its demands nor its deadlines.
struct Programs: Sendable {
  /// Accessed by index: an iterator would return a copy, of a kilobyte.
  private(set) var list: [Program] = []
  /// Incremented with each change.
  private(set) var revision: UInt64 = 0
  /// The revision whose outputs were taken.
  private var takenRevision: UInt64 = 0
  /// The combined decisions of the present revision; nil until they are needed.
  private var combined: ProgramsSummary?

  var indices: Range<Int> { list.indices }

  /// Changes a program.
  mutating func change<Result>(_ index: Int, _ body: (inout Program) -> Result) -> Result {
    defer { noteChange() }
    return body(&list[index])
  }

  func index(of id: ProgramID) -> Int? { list.indices.first { list[$0].id == id } }

  mutating func append(_ program: Program) {
    list.append(program)
    noteChange()
  }

  mutating func remove(at index: Int) {
    list.remove(at: index)
    noteChange()
  }

  private mutating func noteChange() {
    revision += 1
    combined = nil
  }

  // MARK: Needs

  /// The combined decisions for all programs.
  var summary: ProgramsSummary { combined ?? ProgramsSummary(list) }

  /// Keeps the summary until the next change.
  mutating func summarize() { if combined == nil { combined = ProgramsSummary(list) } }

  /// When the first program's newest location was measured.
  var newestMeasured: Instant? { list.isEmpty ? nil : list[0].engine.newestMeasured }

  // MARK: Outputs

  /// Whether a program has changed since the outputs were last taken.
  var mayHaveOutputs: Bool { takenRevision != revision }

  mutating func noteOutputsTaken() { takenRevision = revision }

  mutating func takeOutputs(of index: Int) -> [PositioningOutput] { list[index].takeOutputs() }

  /// Returns the action for an output of a program's engine; nil for state that is already stored, or is not to be stored.
  mutating func action(for output: PositioningOutput, of index: Int) -> ProgramAction? {
    list[index].action(for: output)
  }

  /// The diagnostic of sessions, if it has changed since it was last taken.
  mutating func takeSessions(of index: Int) -> Diagnostic? {
    let diagnostic = list[index].engine.sessionDiagnostic
    guard diagnostic != list[index].reportedSessions else { return nil }
    list[index].reportedSessions = diagnostic
    return diagnostic
  }

  /// Records the newest location that a program has received since the receiver began to collect.
  mutating func noteDelivered(_ newest: UTCTime, to index: Int) {
    list[index].delivered = max(list[index].delivered ?? newest, newest)
  }

  mutating func forgetDelivered() { for index in list.indices { list[index].delivered = nil } }

  /// The newest locations that the programs with a deferral have received; nil for one that has received none.
  var deliveredToDeferring: [UTCTime?] { list.filter(\.isDeferring).map(\.delivered) }
}

/// The combined decisions for all programs. They are computed after a change, not in each round of the service: most
/// rounds read a part of an epoch, which changes nothing.
struct ProgramsSummary: Sendable {
  private(set) var demands: [ProgramDemand] = []
  private(set) var needsPosition = false
  /// Whether a manager needs positions of the best accuracy now.
  private(set) var needsBestAccuracy = false
  /// Whether a manager receives headings now.
  private(set) var asksForHeading = false
  /// The smallest turn to report to a client of headings; nil if there is no client.
  private(set) var headingFilterDegrees: Double?
  private(set) var needsBeacons = false
  /// The earliest time at which an engine's `wake` is due.
  private(set) var deadline: Instant?

  init(_ programs: borrowing [Program]) {
    demands.reserveCapacity(programs.count)
    // Accessed by index: an iterator would return a copy, of a kilobyte.
    for index in programs.indices {
      let demand = ProgramDemand(
        program: programs[index].id, lingers: programs[index].lingers,
        managers: programs[index].engine.demandsOfManagers, shared: programs[index].engine.sharedDemand)
      for manager in demand.managers { note(manager.demand) }
      note(demand.shared)
      demands.append(demand)
      asksForHeading = asksForHeading || programs[index].engine.asksForHeading
      deadline = .earlier(deadline, programs[index].engine.deadline)
    }
  }

  private mutating func note(_ demand: Demand) {
    needsPosition = needsPosition || demand.needsPosition
    needsBestAccuracy = needsBestAccuracy || demand.needsBestAccuracy
    needsBeacons = needsBeacons || demand.beacons
    if let degrees = demand.headingFilterDegrees {
      headingFilterDegrees = min(headingFilterDegrees ?? .infinity, max(0, degrees))
    }
  }

  /// The programs' demands on the receiver.
  ///
  /// - Parameter isAwakeForHeading: whether a client of headings gets the receiver's own, which must then be awake all
  ///   the time.
  func demands(isAwakeForHeading: Bool) -> [ProgramDemand] {
    guard isAwakeForHeading else { return demands }
    return demands.map { demand in
      var demand = demand
      for manager in demand.managers.indices where demand.managers[manager].demand.headingFilterDegrees != nil {
        demand.managers[manager].demand.updates = Demand.Updates(.stream)
      }
      return demand
    }
  }
}
