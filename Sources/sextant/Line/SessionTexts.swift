import Receiver
import ReceiverRuntime

/// What happened, for people: one line, with the cure where there is one. Nil for what needs no telling.
func text(of event: ReceiverConnection.Event, path: String, baud: UInt32?) -> String? {
  switch event {
  case .opened, .rate, .ended, .finished, .batch, .lost: nil
  case .told(let text): text
  case .session(let report): text(of: report, path: path, baud: baud)
  }
}

private func text(of report: SessionReport, path: String, baud: UInt32?) -> String? {
  switch report {
  case .rateFound: nil
  case .identified(let description): "\(path): \(name(of: description))"
  case .notIdentified(let isOtherVendor):
    isOtherVendor ? nil : "\(path): the receiver does not say who it is; what it sends is used"
  case .configured(let refused):
    refused == 0 ? nil : "\(path): the receiver refused \(refused) setting\(refused == 1 ? "" : "s"); the rest is set"
  case .configurationFailed:
    "\(path): the receiver refuses to be configured; what it sends is used (is its configuration locked?)"
  case .assisted(let given, _):
    given == 0 ? nil : "\(path): the receiver has just started; it was given what is known from the last run"
  case .wasReset: "\(path): the receiver was reset; it has its configuration again"
  case .silent: "\(path): the receiver is silent; waiting for it (power, cable?)"
  case .notUnderstood:
    baud.map { "\(path): nothing is understood any more at \($0) baud; leave --baud out to have the rate found" }
      ?? "\(path): nothing is understood any more; looking for the baud rate again"
  case .back: "\(path): the receiver is back"
  case .rateNotChanged(let rate): "\(path): the receiver was not heard at \(rate) baud; the old rate stays"
  case .asleep, .awake(.requested), .awake(.time), .batching: nil
  case .awake(.unrequested): "\(path): the receiver woke although nobody woke it"
  case .doesNotSleep: "\(path): the receiver was asked to sleep and goes on"
  case .cannotSleep: "\(path): this receiver cannot be put to sleep at this port"
  case .resetToWake: "\(path): the receiver does not wake; resetting it"
  case .doesNotWake: "\(path): the receiver does not wake; trying again from time to time"
  case .notPutBack:
    "\(path): the receiver did not take back all that was changed; switch it off and on, or look with sextant configure show"
  case .adviseOnSilence:
    baud.map { "\(path): nothing understood at \($0) baud for 5 s; leave --baud out to have the rate found" }
      ?? "\(path): nothing understood for 5 s; still listening (is it a receiver, and is it wired RX to TX?)"
  }
}

/// Such as "u-blox NEO-M9N, firmware SPG 4.04, protocol 32.01".
func name(of description: ReceiverDescription) -> String {
  var words = "u-blox " + (description.model ?? description.generation?.rawValue ?? "receiver")
  if let firmware = description.firmware { words += ", firmware \(firmware)" }
  if let version = description.protocolVersionText { words += ", protocol \(version)" }
  return words
}
