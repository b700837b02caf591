// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Receiver
import ReceiverRuntime
import ReceiverStream
import TestSupport
import Testing

@Suite("The stored state of a batch between two runs")
struct BatchStoreTests {
  private static func description(_ id: [UInt8]?) throws -> ReceiverDescription {
    var description = try #require(ReceiverDescription(monVER: [UInt8](repeating: 0, count: 40)))
    description.uniqueID = id
    return description
  }

  private static func journal(_ delivered: Int) -> BatchJournal {
    var journal = BatchJournal()
    journal.lastNumber = 7
    journal.delivered = delivered
    return journal
  }

  @Test("A run without a batch leaves no file behind")
  func noBatch() throws {
    let folder = try TemporaryFolder()
    do { _ = try BatchStore(folder: folder.path, line: "/dev/pts/7") }
    #expect(FileLookup.names(in: folder.path).isEmpty)
  }

  @Test("Received bytes are stored from the start of a retrieval to its end, journal and place also after it")
  func wholeLife() throws {
    let folder = try TemporaryFolder()
    let place = OutputPosition(device: 1, inode: 2, size: 3)
    do {
      var store = try BatchStore(folder: folder.path, line: "/dev/ttyACM0")
      let unfinished = store.unfinishedFrame
      #expect(unfinished == nil)
      // No retrieval has begun, so nothing is stored.
      try Self.receive([1, 2, 3], &store)
      let earlier = try store.begin(try Self.description([0x4A, 0x01]), line: "/dev/ttyACM0")
      #expect(earlier.isEmpty)
      try Self.receive([0xB5, 0x62, 0x21], &store)
      try store.save(Self.journal(4), at: place)
    }
    do {
      var store = try BatchStore(folder: folder.path, line: "/dev/ttyACM0")
      let (found, unfinished, undelivered) = (store.found, store.unfinishedFrame, store.undelivered)
      #expect(found.receiver == "4a01" && unfinished == [0xB5, 0x62, 0x21] && undelivered == 0)
      // Bytes before the receiver is identified belong to the same retrieval.
      try Self.receive([0x11, 100], &store)
      _ = try store.begin(try Self.description([0x4A, 0x01]), line: "/dev/ttyACM0")
      let (journal, kept) = (store.journal, store.place)
      #expect(journal == Self.journal(4) && kept == place)
      try store.save(Self.journal(5))
    }
    do {
      var store = try BatchStore(folder: folder.path, line: "/dev/ttyACM0")
      let unfinished = store.unfinishedFrame
      #expect(unfinished == [0xB5, 0x62, 0x21, 0x11, 100])
      _ = try store.begin(try Self.description([0x4A, 0x01]), line: "/dev/ttyACM0")
      let (journal, kept) = (store.journal, store.place)
      #expect(journal == Self.journal(5) && kept == nil)
      try store.finish()
    }
    let store = try BatchStore(folder: folder.path, line: "/dev/ttyACM0")
    let (found, unfinished) = (store.found, store.unfinishedFrame)
    #expect(unfinished == nil && found == BatchLog([]))
  }

  @Test("The stored bytes of another receiver at the same line are discarded")
  func anotherReceiver() throws {
    let folder = try TemporaryFolder()
    do {
      var store = try BatchStore(folder: folder.path, line: "/dev/ttyACM0")
      _ = try store.begin(try Self.description([1]), line: "/dev/ttyACM0")
      try Self.receive([0xB5], &store)
      try store.save(Self.journal(9))
    }
    do {
      var store = try BatchStore(folder: folder.path, line: "/dev/ttyACM0")
      let earlier = try store.begin(try Self.description([2]), line: "/dev/ttyACM0")
      let journal = store.journal
      #expect(earlier.isEmpty && journal == BatchJournal())
    }
    let store = try BatchStore(folder: folder.path, line: "/dev/ttyACM0")
    let (found, unfinished) = (store.found, store.unfinishedFrame)
    #expect(found.receiver == "02" && unfinished?.isEmpty == true)
  }

  @Test("An incomplete journal is treated as empty, and a folder that cannot be created is reported with its path")
  func faults() throws {
    let folder = try TemporaryFolder()
    try UserFile.replace(folder.path + "/_dev_x.txt", with: "batch 1 7 - 0")
    var store = try BatchStore(folder: folder.path, line: "/dev/x")
    _ = try store.begin(try Self.description(nil), line: "/dev/x")
    let journal = store.journal
    #expect(journal == BatchJournal())
    do throws(FileError) {
      _ = try BatchStore(folder: folder.path + "/_dev_x.txt/more", line: "/dev/x")
      Issue.record("a file is not a folder")
    } catch {
      #expect(error.path == folder.path + "/_dev_x.txt/more")
    }
  }

  private static func receive(_ bytes: [UInt8], _ store: inout BatchStore) throws {
    try unsafe store.receive(bytes.span.bytes)
  }
}
