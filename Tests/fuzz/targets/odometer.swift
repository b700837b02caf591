// SPDX-License-Identifier: Apache-2.0

// Measurements of an odometer: a JSON object of a line, and a frame of SocketCAN with a signal. The first byte of the input chooses. Only
// whole ESF-MEAS with the right number of measurements come out, and values of signals are finite.
import Messages
import Receiver
import UBX

func fuzzOdometer(_ input: [UInt8]) {
  guard let kind = input.first else { return }
  let bytes = Array(input[1...])
  if kind % 2 == 0 {
    guard case .object(let members)? = try? JSON(parsing: bytes) else { return }
    let values = Dictionary(members.map { ($0.name, $0.value) }) { $1 }
    check(values.keys.map(\.self)) { values[$0]?.numberOrFlag }
  } else {
    guard let frame = CANFrame(Array(bytes.prefix(CANFrame.size))),
      let signal = CANSignal(String(decoding: bytes.dropFirst(CANFrame.size), as: UTF8.self))
    else { return }
    guard frame.id < 1 << 29, frame.data.count <= 8 else { fatalError("\(frame)") }
    guard let value = signal.value(in: frame.data) else { return }
    check(["speed"]) { _ in value }
  }
}

private func check(_ names: [String], _ value: (String) -> Double?) {
  guard let measurement = try? OdometerMeasurement(names, value) else { return }
  let frame = measurement.frame(at: 1 << 40)
  guard case .frame(frame.count) = unsafe UBXFrame.scan(frame.span.bytes) else { fatalError("\(frame)") }
  let count = Int(frame[11] >> 3)
  guard (1...6).contains(count), frame.count == 16 + 4 * count else { fatalError("\(frame)") }
  for index in 0..<count where !(6...11).contains(frame[17 + 4 * index]) { fatalError("\(frame)") }
}
