// SPDX-License-Identifier: Apache-2.0

// Answers of AssistNow: HTTP, its body, and the stored file. The first byte of the input chooses. Only messages of class MGA with the
// right size come out, only those of near days are given, and what is stored is read again unchanged.
import Receiver
import ReceiverStream

func fuzzAssistNow(_ input: [UInt8]) {
  guard let kind = input.first else { return }
  let bytes = Array(input[1...])
  let now = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000)
  var body = bytes
  var orbits = PredictedOrbits()
  switch kind % 4 {
  case 0:
    guard let answer = try? HTTPAnswer(bytes) else { return }
    if answer.body.count > bytes.count || !(100...599).contains(answer.status) { fatalError("\(answer)") }
    body = answer.body
  case 1:
    guard let read = PredictedOrbits(String(decoding: bytes, as: UTF8.self), at: now) else { return }
    orbits = read
  case 2:
    guard let source = AssistNow(String(decoding: bytes, as: UTF8.self)) else { return }
    let request = source.request(to: "host", version: "1")
    // The account cannot add lines or parameters.
    if request.count(where: { $0 == 0x0A }) != 6 || request.contains(where: { $0 > 0x7E }) { fatalError("\(request)") }
    return
  default: break
  }
  if kind % 4 != 1 {
    guard let answer = try? unsafe AssistNowAnswer(body.span.bytes) else { return }
    orbits = PredictedOrbits(answer, at: now)
    var stock = EphemerisStock()
    _ = stock.receive(answer, at: now)
    if EphemerisStock(stock.text(at: now)) != stock { fatalError("\(stock.text(at: now)) cannot be read") }
  }
  let written = orbits.text(at: now)
  guard let again = PredictedOrbits(written, at: now), again.text(at: now) == written else {
    fatalError("\(written) cannot be read")
  }
  guard again.usableSeconds(at: now) == orbits.usableSeconds(at: now), orbits.usableSeconds(at: now) <= 37 * 86_400
  else {
    fatalError("\(written)")
  }
}
