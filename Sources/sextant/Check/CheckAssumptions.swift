// SPDX-License-Identifier: Apache-2.0
import Messages
import MonotonicTime
import Power
import Receiver

/// The assumptions of Sextant about a receiver: the data of its family or model, and the times of its session.
struct CheckAssumptions {
  /// How far a measurement may be off: a data sheet has typical times at an open sky, and a busy computer reads late.
  enum Tolerance {
    static let start = 2.0
    static let period = 0.2
    /// The largest share of requests that are sent again, because a full line lost them.
    static let repeatedShare = 0.5
  }

  /// The time for a reply to the first of several requests, without the time of the bytes on the line; seconds.
  var replySeconds: Double
  /// The time after which a receiver counts as silent: the reply waits behind the sentences of an epoch.
  var longestReplySeconds: Double
  var identificationSeconds: Double
  /// From the wake-up until the receiver reads.
  var wakeSeconds: Double
  var latenessSeconds: Double
  var hotStartSeconds: Double
  var warmStartSeconds: Double
  /// The silence of a restart by command, where it was recorded.
  var restartSeconds: Double
  var restoringSeconds: Double
  /// The number of fixes that it stores; nil without batching.
  var batchEpochs: Int?
  /// Whether the host wakes it at any time.
  var isWokenByHost: Bool

  /// - Parameters:
  ///   - port: its port of the line; nil for a UART.
  ///   - poll: the poll of the identity.
  init(_ receiver: ReceiverDescription, port: ReceiverPortNumber?, poll: Command) {
    let (capabilities, policy) = (ReceiverCapabilities(receiver, port: port), PowerPolicy())
    replySeconds = Self.seconds(poll.timeout)
    longestReplySeconds = Self.seconds(poll.longestWait)
    identificationSeconds = Self.seconds(SearchLimit.length)
    wakeSeconds = Self.seconds(SessionTimes.wakeUp)
    latenessSeconds = Self.seconds(SessionTimes.lateness)
    restoringSeconds = Self.seconds(SessionTimes.restoring)
    let more = policy.wakeSeconds + policy.marginSeconds
    hotStartSeconds = capabilities.startTimes.hotSeconds + more
    restartSeconds = Self.seconds(receiver.baseRestartTime)
    // Not slower than a cold start.
    warmStartSeconds = capabilities.startTimes.coldSeconds + more
    batchEpochs = capabilities.batching?.plainEpochs
    isWokenByHost = receiver.isWoken(at: port)
  }

  static func seconds(_ time: Milliseconds) -> Double { Double(time.count) / 1000 }
}

/// A reply to a poll.
struct CheckReply: Equatable {
  /// From the request to the reply.
  var seconds: Double
  /// The time of the bytes that were received meanwhile.
  var secondsOnLine: Double

  var latencySeconds: Double { max(seconds - secondsOnLine, 0) }
}

// The comparison: measured values in, a finding out.
extension CheckReport {
  mutating func judgeIdentification(_ seconds: Double, _ assumed: CheckAssumptions) {
    let isLate = seconds > assumed.identificationSeconds
    add(
      "identification", ["seconds": Self.json(seconds)], assumed: ["seconds": Self.json(assumed.identificationSeconds)],
      deviation: isLate ? "it took \(Self.text(seconds)) s, \(Self.assumed(assumed.identificationSeconds))" : nil)
  }

  /// - Parameter replies: the replies to `polls` polls.
  mutating func judgeReplies(_ replies: [CheckReply], of polls: Int, _ assumed: CheckAssumptions) {
    let times = replies.map(\.seconds).sorted()
    let (median, longest) = (times.isEmpty ? 0 : times[times.count / 2], times.last ?? 0)
    // A busy computer delays some of them.
    let isLate = times.dropLast().last.map { $0 > assumed.longestReplySeconds } ?? false
    let latencies = replies.map(\.latencySeconds).sorted()
    let latency = latencies.isEmpty ? 0 : latencies[latencies.count / 4]
    let silent = polls - replies.count
    var deviation: String?
    if silent > 0 {
      deviation = "\(silent) of \(polls) polls had no reply within \(Self.text(assumed.longestReplySeconds)) s"
    } else if latency > assumed.replySeconds {
      deviation =
        "a reply takes \(Self.text(latency)) s, without the time of the line, \(Self.assumed(assumed.replySeconds))"
    } else if isLate {
      deviation = "the longest reply took \(Self.text(longest)) s, \(Self.assumed(assumed.longestReplySeconds))"
    }
    add(
      "replies",
      [
        "polls": .integer(Int64(polls)), "silent": .integer(Int64(silent)), "latencySeconds": Self.json(latency),
        "medianSeconds": Self.json(median), "longestSeconds": Self.json(longest),
      ],
      assumed: [
        "silent": 0, "latencySeconds": Self.json(assumed.replySeconds),
        "longestSeconds": Self.json(assumed.longestReplySeconds),
      ], deviation: deviation)
  }

  /// Compares the time between fixes that the receiver reports with the time between those that it sends, in seconds.
  mutating func judgeState(reported: Double, sent: Double) {
    let isSame = abs(reported - sent) <= reported * CheckAssumptions.Tolerance.period
    add(
      "state", ["reportedSeconds": Self.json(reported), "sentSeconds": Self.json(sent)],
      assumed: ["sentSeconds": Self.json(reported)],
      deviation: isSame
        ? nil : "the receiver reports \(Self.text(reported)) s between fixes, and sends one every \(Self.text(sent)) s")
  }

  /// - Parameter after: the measured time between fixes, seconds; nil if the receiver refused the wanted one, or sent too few.
  mutating func judgeRate(before: Double, wanted: Double, after: Double?, isRefused: Bool) {
    let isSame = after.map { abs($0 - wanted) <= wanted * CheckAssumptions.Tolerance.period } ?? false
    let sent = after.map { "one every \(Self.text($0)) s" } ?? "too few"
    let deviation: String? =
      isRefused
      ? "the receiver refused \(Self.text(wanted)) s between fixes, did not acknowledge it, or has another"
      : isSame ? nil : "the receiver accepted \(Self.text(wanted)) s between fixes, and sends \(sent)"
    add(
      "rate", ["secondsBefore": Self.json(before), "secondsAfter": after.map(Self.json) ?? .null],
      assumed: ["secondsAfter": Self.json(wanted)], deviation: deviation)
  }

  /// - Parameter isSilent: whether the receiver sent nothing after the change.
  mutating func judgeMessages(
    _ message: CheckedMessage, on isOn: Bool, isSeen: Bool, isRefused: Bool, isSilent: Bool = false
  ) {
    let sent = isSilent ? "sends nothing any more" : isOn ? "does not send it" : "goes on sending it"
    let request = "\(message.name) \(isOn ? "on" : "off")"
    let deviation: String? =
      isRefused
      ? "the receiver refused \(request), did not acknowledge it, or has another"
      : isSeen ? nil : "the receiver accepted \(request), and \(sent)"
    add(
      "messages", ["request": .string(request), "done": .bool(!isRefused && isSeen)], assumed: ["done": true],
      deviation: deviation)
  }

  mutating func judgeConstellations(_ seconds: Double, isRefused: Bool) {
    add(
      "constellations", ["seconds": Self.json(seconds), "done": .bool(!isRefused)], assumed: ["done": true],
      deviation: isRefused ? "the receiver refused fewer constellations, or did not acknowledge them" : nil)
  }

  /// - Parameter seconds: until the receiver was found at the rate; nil if it was not.
  mutating func judgeBaud(_ rate: UInt32, _ seconds: Double?, _ assumed: CheckAssumptions) {
    var deviation: String?
    if seconds == nil { deviation = "the receiver was not found at \(rate) baud" }
    if let seconds, seconds > assumed.restoringSeconds {
      deviation = "the change took \(Self.text(seconds)) s, \(Self.assumed(assumed.restoringSeconds))"
    }
    add(
      "baud", ["rate": .integer(Int64(rate)), "seconds": seconds.map(Self.json) ?? .null],
      assumed: ["seconds": Self.json(assumed.restoringSeconds)], deviation: deviation)
  }

  /// - Parameter repeated: the requests that were sent again, because no acknowledgement came.
  mutating func judgeAcknowledgements(requests: Int, repeated: Int) {
    guard requests > 0 else { return }
    let share = CheckAssumptions.Tolerance.repeatedShare
    add(
      "acknowledgements", ["requests": .integer(Int64(requests)), "repeated": .integer(Int64(repeated))],
      assumed: ["repeatedShare": .double(share)],
      deviation: requests > 2 && Double(repeated) > Double(requests) * share
        ? "\(repeated) of \(requests) requests were sent again: no acknowledgement came" : nil)
  }

  /// - Parameters:
  ///   - seconds: from the wake-up to the first frame.
  ///   - period: the time between epochs, seconds: without a reply the first frame comes with one.
  mutating func judgeWake(_ seconds: Double, period: Double, _ assumed: CheckAssumptions) {
    let limit = assumed.wakeSeconds + assumed.replySeconds + period
    add(
      "wake", ["seconds": Self.json(seconds)], assumed: ["seconds": Self.json(limit)],
      deviation: seconds > limit
        ? "the first frame came \(Self.text(seconds)) s after the wake-up, \(Self.assumed(limit))" : nil)
  }

  /// - Parameter late: the time of the first frame after the end of a timed sleep, seconds; negative before it.
  mutating func judgeTimedWake(_ late: Double, period: Double, _ assumed: CheckAssumptions) {
    let limit = assumed.latenessSeconds + period
    add(
      "wake", ["lateSeconds": Self.json(late)], assumed: ["lateSeconds": Self.json(limit)],
      deviation: abs(late) > limit
        ? "it woke \(Self.text(abs(late))) s \(late < 0 ? "early" : "late"), \(Self.assumed(limit))" : nil)
  }

  /// - Parameters:
  ///   - seconds: until the first fix; nil if none came.
  ///   - isRestart: whether the receiver was restarted; else it was woken.
  mutating func judgeStart(
    _ start: StartKind, _ seconds: Double?, period: Double, isRestart: Bool = false, _ assumed: CheckAssumptions
  ) {
    let usual = start == .hot ? assumed.hotStartSeconds : assumed.warmStartSeconds
    let limit = usual * CheckAssumptions.Tolerance.start + period + (isRestart ? assumed.restartSeconds : 0)
    add(
      "\(start.rawValue) start", ["seconds": seconds.map(Self.json) ?? .null],
      assumed: ["seconds": Self.json(usual), "atMostSeconds": Self.json(limit)],
      deviation: seconds.map { $0 <= limit } ?? false
        ? nil
        : "the first fix came \(seconds.map { "after \(Self.text($0)) s" } ?? "not at all"), \(Self.assumed(usual))")
  }

  /// Compares the number of fixes that the receiver accepted to store, and of those that it stored meanwhile.
  mutating func judgeBatch(epochs: Int, fixes: Int, _ assumed: CheckAssumptions) {
    let wanted = assumed.batchEpochs ?? 0
    var deviation: String?
    if epochs < wanted { deviation = "the receiver stores \(epochs) fixes, assumed \(wanted)" }
    if epochs > 0, fixes == 0 { deviation = "the receiver accepted to store fixes, and stored none" }
    add(
      "batch", ["epochs": .integer(Int64(epochs)), "fixes": .integer(Int64(fixes))],
      assumed: ["epochs": .integer(Int64(wanted))], deviation: deviation)
  }

  /// - Parameters:
  ///   - seconds: the time in which everything that the check changed was restored.
  ///   - lost: the differences from the receiver as it was found, in words.
  ///   - uncompared: the settings and sentences that could not be compared.
  mutating func judgeRestoring(_ seconds: Double, lost: [String], uncompared: [String], _ assumed: CheckAssumptions) {
    let isLate = seconds > assumed.restoringSeconds
    add(
      "restoring",
      JSON(omittingNil: [
        "seconds": Self.json(seconds), "restored": lost.isEmpty,
        "notCompared": uncompared.isEmpty ? nil : JSON.array(uncompared.map { .string($0) }),
      ]),
      assumed: ["seconds": Self.json(assumed.restoringSeconds), "restored": true],
      deviation: lost.isEmpty
        ? isLate ? "it took \(Self.text(seconds)) s, \(Self.assumed(assumed.restoringSeconds))" : nil
        : "not as it was found: " + lost.joined(separator: "; "))
  }

  private static func json(_ seconds: Double) -> JSON { .double((seconds * 1000).rounded() / 1000) }
  private static func text(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10)" }
  private static func assumed(_ seconds: Double) -> String { "assumed \(text(seconds)) s" }
}
