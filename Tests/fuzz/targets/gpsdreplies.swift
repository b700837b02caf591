// SPDX-License-Identifier: Apache-2.0

// The replies of a hostile gpsd to the request for a receiver's bytes. The first byte of the input is the length of the pieces in
// which the rest arrives; in one piece it has the same result. The stored data is bounded, a message for the user has
// no control characters, and each request is one line.
import ReceiverRuntime

private struct Result: Equatable {
  var sent: [[UInt8]] = []
  var received: [UInt8] = []
  var refusal: String?
}

private func result(_ bytes: [UInt8], pieces: Int, device: String?) -> Result {
  var request = GPSDRequest(device: device)
  var result = Result()
  for start in stride(from: 0, to: bytes.count, by: pieces) {
    let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
    do {
      result.received += try request.receive(piece.span)
    } catch {
      result.refusal = error.text
    }
    while let next = request.nextRequest() { result.sent.append(next) }
    if result.refusal != nil { break }
  }
  guard result.received.isEmpty || request.isGranted else { fatalError("bytes before the reply") }
  return result
}

func fuzzGPSDReplies(_ input: [UInt8]) {
  guard input.count > 1 else { return }
  let bytes = Array(input.dropFirst())
  let device = input[0] & 1 == 0 ? nil : "/dev/ttyACM0"
  let whole = result(bytes, pieces: bytes.count, device: device)
  let cut = result(bytes, pieces: 1 + Int(input[0] >> 1), device: device)
  guard whole == cut else { fatalError("the result depends on the pieces: \(whole) \(cut)") }
  guard whole.received.count <= bytes.count, whole.sent.count <= 2 else { fatalError("too much is kept") }
  for request in whole.sent where request.last != 10 || request.dropLast().contains(where: { $0 < 0x20 }) {
    fatalError("a request is not a line: \(request)")
  }
  if let text = whole.refusal, text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
    fatalError("a message has control characters: \(text)")
  }
}
