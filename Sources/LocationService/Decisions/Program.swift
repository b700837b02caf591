// SPDX-License-Identifier: Apache-2.0

import Positioning
import ReceiverStream

/// The number of a program that the service serves, from 0. Numbers are not reused.
package struct ProgramID: Hashable, Comparable, Sendable {
  package let number: UInt32

  package init(_ number: UInt32) { self.number = number }

  /// The program of a service that runs in the program itself.
  package static let own = ProgramID(0)

  package static func < (a: ProgramID, b: ProgramID) -> Bool { a.number < b.number }
}

/// A manager of a program; managers of different programs may have the same number.
package struct ManagerID: Hashable, Sendable {
  var program: ProgramID
  var client: ClientID

  package init(program: ProgramID, client: ClientID) {
    self.program = program
    self.client = client
  }
}

/// The state of one program in ``ServiceCore``.
package struct Program: Sendable {
  let id: ProgramID
  var engine: PositioningEngine
  var authorization: AuthorizationFile
  /// The diagnostic that was last sent to the readers of sessions.
  var reportedSessions: Diagnostic
  /// The time of the newest location that was delivered since the receiver began to collect.
  var delivered: UTCTime?
  /// Whether its events are stored, before its other state, because the program does not run.
  var isAbsent = false
  /// Whether its state is stored only with a permission, so that programs without one leave no files.
  var storesOnlyPermitted = false
  /// The parts of the program's state to store once it has a permission.
  private var withheld: Set<StoredState> = []
  /// Whether the receiver stays on for a while after its last demand, because the program may send another request.
  var lingers = true

  /// - Parameters:
  ///   - undecided: the permission without a decision.
  ///   - storedAuthorization: the text that the engine was made with.
  package init(
    _ id: ProgramID, _ engine: PositioningEngine, undecided: Authorization.Record = .init(),
    storedAuthorization: String? = nil
  ) {
    self.id = id
    self.engine = engine
    authorization = AuthorizationFile(undecided: undecided, text: storedAuthorization)
    reportedSessions = engine.sessionDiagnostic
  }

  var isAuthorized: Bool { engine.authorization.status.isAuthorized }

  /// Whether a manager has fixes kept for later.
  var isDeferring: Bool {
    engine.demandsOfManagers.contains(where: \.demand.isDeferring)
  }

  /// Returns the engine's outputs, and the outputs for state that was withheld until now. Each state is stored once, as it
  /// is after all of them: a write waits for the disk, and programs may register regions faster than that.
  mutating func takeOutputs() -> [PositioningOutput] {
    var outputs = engine.outputs
    if !outputs.isEmpty { engine.outputs = [] }
    if isAuthorized, !withheld.isEmpty {
      outputs += withheld.map(PositioningOutput.store)
      withheld = []
    }
    var stored: Set<StoredState> = []
    outputs.removeAll { output in
      if case .store(let state) = output { !stored.insert(state).inserted } else { false }
    }
    return outputs
  }

  /// Returns the action for an output of the engine; nil for state that is already stored, or is not to be stored.
  mutating func action(for output: PositioningOutput) -> ProgramAction? {
    if storesOnlyPermitted, case .store(let state) = output {
      let isDecided = engine.authorization.record.status != .notDetermined
      if state == .authorization ? !isDecided : !isAuthorized {
        withheld.insert(state)
        return nil
      }
    }
    return switch output {
    case .store(.regions): .store(.regions, StateText.text(of: engine.regions.records))
    case .store(.visits): .store(.visits, StateText.text(of: engine.visits.record))
    case .store(.authorization): authorization.store(engine.authorization.record).map { .store(.authorization, $0) }
    case .store(.monitor(let name)):
      .store(.monitor(name), StateText.text(ofMonitor: engine.monitor(name)?.records ?? []))
    case .event, .prompt, .temporaryAccuracy, .showCalibration, .hideCalibration, .live, .monitorHasEvent, .advice:
      .output(output)
    }
  }
}

/// The text of the program's permission as it was read or stored last. The program and `sextant authorize` write the file.
struct AuthorizationFile: Sendable {
  /// The permission if there is no file.
  let undecided: Authorization.Record
  private(set) var text: String?

  /// Handles the current text of the file, nil if there is none. Returns the permission that was decided outside the
  /// program; nil for a text that the program itself has stored, which must not undo a later answer, and for an
  /// unreadable text.
  mutating func receive(_ text: String?) -> Authorization.Record? {
    guard text != self.text else { return nil }
    self.text = text
    guard let text else { return undecided }
    return StateText.authorization(in: text)
  }

  /// Returns the text to store for a permission; nil if the file already has it. A removed file is not written again
  /// without a decision.
  mutating func store(_ record: Authorization.Record) -> String? {
    let text = StateText.text(of: record)
    guard text != self.text, self.text != nil || record != undecided else { return nil }
    self.text = text
    return text
  }
}
