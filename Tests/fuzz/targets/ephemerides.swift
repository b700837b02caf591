// SPDX-License-Identifier: Apache-2.0

// Broadcast ephemerides: RINEX navigation files, RTCM 3 and the stored file. The first byte of the input chooses. Only usable
// messages of the right size come out, and what is stored is read again unchanged.
import Receiver
import ReceiverStream

func fuzzEphemerides(_ input: [UInt8]) {
  guard let kind = input.first else { return }
  let bytes = Array(input[1...])
  let now = UTCTime(nanosecondsSince1970: 1_780_000_000_000_000_000)
  var stock = EphemerisStock()
  switch kind % 3 {
  case 0:
    if unsafe stock.read(rinex: bytes.span.bytes, at: now) == nil, !stock.isEmpty { fatalError("no file, and used") }
  case 1:
    var stream = FrameStream()
    unsafe stream.receive(bytes.span.bytes) { if let frame = $0.rtcm3 { stock.receive(frame, at: now) } }
  default:
    guard let read = EphemerisStock(String(decoding: bytes, as: UTF8.self)) else { return }
    stock = read
  }
  let written = stock.text(at: now)
  guard let again = EphemerisStock(written), again.text(at: now) == written else {
    fatalError("\(written) cannot be read")
  }
  guard again.count(at: now) == stock.count(at: now), stock.usableSeconds(at: now) <= 100 * 3600 else {
    fatalError("\(written)")
  }
}
