// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import MonotonicTime
import Receiver
import ReceiverRuntime

/// Reads the settings of the receiver for the page, and changes them at its requests, one dialogue at a time.
struct SettingsControl {
  private enum Work {
    case none
    case reading(ScriptDialogue<SettingsReading>, SessionTicket)
    case changing(ScriptDialogue<SettingsEdit>, SessionTicket)
  }

  private let isReadOnly: Bool
  private var work = Work.none
  private var events: [LiveEvent] = []
  /// When the settings are read next; nil if they are known.
  private(set) var readsAt: Instant? = .zero

  init(isReadOnly: Bool) { self.isReadOnly = isReadOnly }

  /// Whether a change is being made.
  var isBusy: Bool { if case .changing = work { true } else { false } }
  var deadline: Instant? { nil }

  /// Returns the events since the last call.
  mutating func takeEvents() -> [LiveEvent] {
    defer { events = [] }
    return events
  }

  // MARK: Requests

  /// Takes a request, and answers it. The result of the change follows as a notice.
  mutating func take(
    _ request: ControlRequest, _ page: ViewPage, _ connection: ReceiverConnection, _ poller: inout Poller,
    at now: Instant
  ) {
    func answer(_ status: HTTPStatus, _ text: String) { page.sockets.answer(request, status, text, at: now) }
    if isReadOnly { return answer(.conflict, "nothing is sent to this source; show a receiver without --read-only") }
    guard let description = connection.description, connection.isSteady else {
      return answer(.conflict, "the receiver is not ready; try again when the page shows its model")
    }
    do {
      let words = try ControlBody(request.body).words.map { word throws(SettingProblem) in try SettingWord(word) }
      if words.contains(where: { $0.lineRate != nil }) {
        return answer(.badRequest, "baud: the rate of the line is not changed here; use `sextant configure set baud=`")
      }
      if isBusy { return answer(.conflict, "another change is being made; try again in a second") }
      let line = words.contains(where: \.changesEpochPeriod) ? page.measuredLine(connection) : nil
      let edit = try SettingsEdit(
        words, of: description, port: connection.port, hasRate: connection.rate != nil, line: line)
      var dialogue = ScriptDialogue(edit, at: now)
      switch dialogue.next(at: now) {
      case .send(let command):
        guard let ticket = connection.submit(command, &poller, at: now) else {
          return answer(.conflict, "the receiver is disconnected; check the cable")
        }
        work = .changing(dialogue, ticket)
      case .over, .noReply, .endless: break
      }
      answer(.accepted, "sent to the receiver; the result is shown on the page")
    } catch {
      answer(.badRequest, "\(error)")
    }
  }

  /// Reads the settings if they are not known.
  mutating func readSettings(_ connection: ReceiverConnection, _ poller: inout Poller, at now: Instant) {
    guard case .none = work, let due = readsAt, now >= due, connection.isSteady,
      let description = connection.description
    else { return }
    readsAt = nil
    var dialogue = ScriptDialogue(SettingsReading(pattern: nil, of: description, readsStandards: false), at: now)
    guard case .send(let command) = dialogue.next(at: now),
      let ticket = connection.submit(command, &poller, at: now)
    else { return }
    work = .reading(dialogue, ticket)
  }

  // MARK: Dialogue

  mutating func finished(
    _ ticket: SessionTicket, _ outcome: Outcome, _ connection: ReceiverConnection, _ poller: inout Poller,
    at now: Instant
  ) {
    switch work {
    case .reading(var dialogue, ticket):
      dialogue.receive(outcome)
      work = .none
      if case .send(let command) = dialogue.next(at: now), let next = connection.submit(command, &poller, at: now) {
        work = .reading(dialogue, next)
      } else {
        let values = dialogue.script.values
        if !values.isEmpty {
          events.append(.settings(values.map { (name: $0.name, value: $0.text, unit: $0.unit) }))
        }
      }
    case .changing(var dialogue, ticket):
      dialogue.receive(outcome)
      work = .none
      switch dialogue.next(at: now) {
      case .send(let command):
        if let next = connection.submit(command, &poller, at: now) {
          work = .changing(dialogue, next)
          return
        }
        events.append(.notice("the receiver was disconnected during a change of settings; check them"))
      case .over: events += Self.results(of: dialogue.script)
      case .noReply, .endless:
        events.append(.notice("the receiver did not reply to a change of settings; check them"))
      }
      // The page shows the values that the receiver has now.
      readsAt = now
    case .none, .reading, .changing: break
    }
  }

  private static func results(of edit: SettingsEdit) -> [LiveEvent] {
    let texts: [(SettingsEdit.Result, String)] = [
      (.changed, "set"), (.unchanged, "had this value before"), (.missing, "the receiver does not have the setting"),
      (.refused, "the receiver refuses the value"), (.notVerified, "another value was read back"),
      (.silent, "no reply; the value is unknown"), (.withdrawn, "not set, because another setting was not"),
      (.notRestored, "set and not restored, although another setting was refused"),
    ]
    let parts = texts.compactMap { result, text in
      let names = edit.names(of: result)
      return names.isEmpty ? nil : "\(names.joined(separator: ", ")): \(text)"
    }
    return [
      .notice(parts.isEmpty ? (edit.problem?.description ?? "nothing was changed") : parts.joined(separator: "; "))
    ]
  }
}
