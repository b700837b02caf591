// SPDX-License-Identifier: Apache-2.0
import MonotonicTime

/// Septentrio's text commands (as recorded: mosaic-G5).
struct Septentrio: FamilyLanguage {
  /// The command is repeated in the reply, whatever the receiver.
  var probes: [Command] {
    [
      Command(
        line: "getReceiverCapabilities", FamilyAnswer(.text("R: getReceiverCapabilities")), attempts: 2,
        patience: Milliseconds(400))
    ]
  }

  /// It sends nothing as found, at any of these.
  var usualRates: [UInt32] { [115_200, 230_400, 460_800, 921_600] }
  var otherRates: [UInt32] { [9600, 19_200, 38_400, 57_600] }

  func description(from outcome: Outcome, to probe: Command) -> ReceiverDescription? {
    guard case .answered = outcome else { return nil }
    return ReceiverDescription(
      family: .septentrio, model: nil, firmware: nil, hardware: "", capabilities: [.restart])
  }

  func commands(for action: ReceiverAction, on receiver: ReceiverDescription) -> [Command]? {
    let text =
      switch action {
      case .save: "exeCopyConfigFile, Current, Boot"
      case .hotRestart: "exeResetReceiver, soft, none"
      case .warmRestart: "exeResetReceiver, soft, PVTData"
      case .coldRestart: "exeResetReceiver, hard, SatData"
      case .factoryReset: ""
      }
    guard !text.isEmpty else { return nil }
    return [Command(line: text, FamilyAnswer(nil, .texts(done: "R: \(text)", refused: "R? \(text)")))]
  }

  var lackOfMeasurements: String { "it sends RTCM 3 as a static receiver only, and sextant does not decode SBF" }

  /// The first lines of replies; those behind them are left out.
  var publishableTexts: [String] {
    let commands = ["getReceiverCapabilities", "exeCopyConfigFile", "exeResetReceiver"]
    return commands + commands.flatMap { ["$R: \($0)", "$R? \($0)"] }
  }
}
