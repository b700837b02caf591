// SPDX-License-Identifier: Apache-2.0

// The files that a program reads again: crash-recovery records and settings, assistance, batch logs, configurations of a
// receiver, scenarios. The first byte of the input chooses the kind. A value that is read is written, and read again
// unchanged.
import Receiver
import ReceiverSimulator

func fuzzState(_ input: [UInt8]) {
  guard input.count > 0, input.count <= 16_384 else { return }
  let bytes = Array(input[1...])
  let text = String(decoding: bytes, as: UTF8.self)
  switch input[0] % 6 {
  case 0: repeated(text, CrashRecoveryRecord.init) { $0.text }
  case 1: repeated(text, CrashRecoverySettings.init) { $0.text }
  case 2: repeated(text, AssistanceRecord.init) { $0.text }
  case 3:
    let log = BatchLog(bytes)
    guard log.unfinishedFrame.count <= bytes.count, log.payloads.allSatisfy({ $0.count <= bytes.count }) else {
      fatalError("\(log)")
    }
  case 4: _ = try? ConfigurationFile(text)
  default: _ = try? Scenario(parsing: text)
  }
}

/// Reads a text, writes the value, and reads that: the same text is written again.
private func repeated<Value>(_ text: String, _ read: (String) -> Value?, _ write: (Value) -> String) {
  guard let value = read(text) else { return }
  let written = write(value)
  guard let again = read(written) else { fatalError("\(written) cannot be read") }
  guard write(again) == written else { fatalError("\(write(again)) and not \(written)") }
}
