// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverRuntime
import Testing

@Suite("The cost of a caster, and what it learns")
struct CasterTests {
  @Test("A flood is read up to its allowance in each second; corrections are never delayed")
  func flood() {
    var allowance = ReadAllowance()
    var (now, read) = (Instant.zero, 0)
    let end = now + Milliseconds(10_000)
    while now < end {
      read += 16_384
      now = allowance.read(16_384, at: now) ?? now
    }
    #expect(read == 10 * ReadAllowance.bytes)
    var ordinary = ReadAllowance()
    for second in 0..<10 as Range<UInt64> {
      #expect(ordinary.read(12_000, at: Instant.zero + Milliseconds(1000 * second)) == nil)
    }
  }

  @Test("A password comes to a user without one, and replaces none")
  func password() {
    #expect(CorrectionSource("ntrip://me@c/M")?.withPassword("p:@/") == CorrectionSource("ntrip://me:p:%40/@c/M"))
    for source in ["ntrip://c/M", "ntrip://me:own@c/M", "tcp:h:1"] {
      #expect(CorrectionSource(source)?.withPassword("other") == CorrectionSource(source))
    }
    #expect(CorrectionSource("ntrip://me:own@c/M")?.namesPassword == true)
    #expect(CorrectionSource("ntrip://me@c/M")?.namesPassword == false)
  }

  @Test("A caster with TLS has a scheme and a port of its own")
  func secured() {
    #expect(
      CorrectionSource("ntrips://me:p@caster.example/NEAR")
        == .ntrip(host: "caster.example", port: 2102, mount: "NEAR", credentials: "me:p", transport: .tls))
    #expect(
      CorrectionSource("ntrips://c:443/M")
        == .ntrip(host: "c", port: 443, mount: "M", credentials: nil, transport: .tls))
    #expect(CorrectionSource("ntrips://me@c/M")?.withPassword("p") == CorrectionSource("ntrips://me:p@c/M"))
    #expect(CorrectionSource("ntrips://me@c/M")?.name == "c:2102/M")
    #expect(CorrectionSource("ntrips://c") == nil)
  }
}
