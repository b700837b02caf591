// SPDX-License-Identifier: Apache-2.0
import Receiver
import ReceiverStream
import Testing

@Suite("The file of what was delivered of a batch")
struct BatchJournalTests {
  @Test("A journal survives as text")
  func written() throws {
    var journal = BatchJournal()
    journal.lastNumber = 7
    journal.lastTime = UTCTime(nanosecondsSince1970: 1_795_000_000_000_000_000)
    (journal.drops, journal.delivered, journal.lost) = (1, 2, 3)
    #expect(BatchJournal(journal.text) == journal)
  }

  @Test(
    "Counts and times that nothing can have make it none",
    arguments: [
      "batch 1 - - 0 9223372036854775807 0 end", "batch 1 - - 0 0 9223372036854775807 end",
      "batch 1 - - -1 0 0 end", "batch 1 - 9223372036854775807 0 0 0 end", "batch 1 - 0 0 0 0 end",
      "batch 1 65536 - 0 0 0 end", "batch 1 - - 0 0 end", " ", "",
    ])
  func absurd(text: String) {
    #expect(BatchJournal(text) == nil)
  }
}
