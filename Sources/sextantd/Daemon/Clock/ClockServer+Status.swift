// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import Receiver
import ReceiverStream

// The state of the time service, in the form of org.sextant.Time.
extension ClockServer {
  func json(at now: Moment) -> JSON {
    func fresh(_ sample: TimeSample?) -> TimeSample? {
      guard isServing, let sample else { return nil }
      let age = Double(now.utc.nanosecondsSince1970 &- sample.system.nanosecondsSince1970) / 1e9
      return abs(age) < Self.freshSeconds ? sample : nil
    }
    let (pulse, messages) = (fresh(reference.newestPulse), fresh(reference.newestMessages))
    let state =
      if schedule.policy == .off { "off" } else if !schedule.needsReceiver { "resting" } else if pulse != nil {
        "pulses"
      } else if messages != nil { "messages" } else { "searching" }
    var members = [JSON.Member("policy", .string(schedule.policy.text)), JSON.Member("state", .string(state))]
    if let receiver {
      members.append(JSON.Member("receiver", .string(receiver.device)))
      members.append(JSON.Member("isProgram", .bool(Self.isProgram(receiver))))
    }
    if let pulses { members.append(JSON.Member("pulseDevice", .string(pulses.path))) }
    if let pulse { members.append(JSON.Member("pulse", json(of: pulse))) }
    if let messages { members.append(JSON.Member("messages", json(of: messages))) }
    if let delay = reference.delaySeconds { members.append(JSON.Member("messageDelay", .double(delay))) }
    let refusals = ClockReference.Refusal.allCases.compactMap { reason -> JSON? in
      reference.refusals[reason].map { ["reason": .string(reason.rawValue), "count": .integer(Int64($0))] }
    }
    members += [
      JSON.Member("pulses", .integer(Int64(reference.pulses))), JSON.Member("refusals", .array(refusals)),
      JSON.Member(
        "outputs",
        .array(
          (outputs?.states ?? []).map { state -> JSON in
            [
              "name": .string(state.name), "source": .string(state.source.rawValue), "isRead": .bool(state.readers > 0),
            ]
          })),
    ]
    return .object(members)
  }

  /// Whether a receiver is a program on a pseudo-terminal: a simulator, or a bridge to an unknown receiver.
  private static func isProgram(_ receiver: ReceiverStatus) -> Bool {
    FileLookup.resolved(receiver.line ?? receiver.device)?.hasPrefix("/dev/pts/") == true
  }

  private func json(of sample: TimeSample) -> JSON {
    var members = [
      JSON.Member("timestamp", .string(sample.real.iso8601)), JSON.Member("offset", .double(sample.offsetSeconds)),
    ]
    if let jitter = reference.jitterSeconds(of: sample.source) {
      members.append(JSON.Member("jitter", .double(jitter)))
    }
    members += [
      JSON.Member("precision", .integer(Int64(sample.precision))), JSON.Member("leap", .string("\(sample.leap)")),
    ]
    return .object(members)
  }
}
