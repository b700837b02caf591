// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import UBX

/// Reads the orbits of a receiver, for its next start: the navigation database (MGA-DBD), or ephemerides, almanacs
/// and health (AID) of older generations.
struct DatabaseReading: Sendable {
  private enum Step: Sendable { case database, ephemerides, almanacs, health, over }

  private var step: Step
  private(set) var messages: [AssistanceRecord.Message] = []

  init(of receiver: ReceiverDescription) {
    step = receiver.generation == .m6 || receiver.generation == .m7 ? .ephemerides : .database
  }

  func next() -> Command? {
    switch step {
    case .database: return poll(.mgaDBD, .list(.mgaDBD, .assistanceAcknowledgement))
    // One message for each GPS satellite, with or without content.
    case .ephemerides: return poll(.aidEPH, .list(.aidEPH, .count(32)))
    case .almanacs: return poll(.aidALM, .list(.aidALM, .count(32)))
    case .health: return poll(.aidHUI, .message(.aidHUI))
    case .over: return nil
    }
  }

  mutating func receive(_ outcome: Outcome) {
    switch (step, outcome) {
    case (.database, .listed(let list)): keep(list, .mgaDBD, from: 13)
    // Eight bytes are a satellite without an orbit.
    case (.ephemerides, .listed(let list)): keep(list, .aidEPH, from: 104)
    case (.almanacs, .listed(let list)): keep(list, .aidALM, from: 40)
    case (.health, .answered(let payload)): keep([payload], .aidHUI, from: 72)
    default: break
    }
    switch step {
    case .ephemerides: step = outcome == .silent ? .over : .almanacs
    case .almanacs: step = .health
    case .database, .health, .over: step = .over
    }
  }

  /// Keeps the messages that are long enough to have content.
  private mutating func keep(_ payloads: [[UInt8]], _ identity: MessageIdentity, from length: Int) {
    for payload in payloads where payload.count >= length && payload.count <= 512 {
      messages.append(AssistanceRecord.Message(identity: identity, payload: payload))
    }
  }

  private func poll(_ identity: MessageIdentity, _ answer: Command.Answer) -> Command {
    Command(identity, [], answer: answer).with(attempts: 2, timeout: Milliseconds(500))
  }
}
