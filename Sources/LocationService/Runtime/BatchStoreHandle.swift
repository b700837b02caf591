// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Receiver
import ReceiverRuntime
import ReceiverStream

/// The files of a batch (`BatchStore`). Write failures are logged once; batching continues without persistence.
final class BatchStoreHandle {
  private let line: String
  private var store: BatchStore
  private var hasBegun = false
  private var isFailureLogged = false

  /// - Parameters:
  ///   - folder: the folder of batches.
  ///   - line: the name of the device.
  init(folder: String, line: String) throws(FileError) {
    self.line = line
    store = try BatchStore(folder: folder, line: line)
    hasBegun = store.unfinishedFrame == nil
  }

  /// The frame that an earlier process was receiving when it was killed; nil if there is no batch of an earlier process.
  var unfinishedFrame: [UInt8]? { store.unfinishedFrame }

  /// Returns the batch of an earlier process with this receiver, once: its journal, and received entries that may not
  /// have been delivered.
  func takeLeftover(_ receiver: ReceiverDescription?) -> (BatchJournal?, [[UInt8]])? {
    guard !hasBegun, let receiver else { return nil }
    hasBegun = true
    do throws(FileError) {
      let earlier = try store.begin(receiver, line: line)
      return (store.journal, earlier)
    } catch {
      complain(error)
      return nil
    }
  }

  func begin(_ receiver: ReceiverDescription?, _ journal: BatchJournal) {
    guard let receiver else { return }
    hasBegun = true
    attempt { (store: inout BatchStore) throws(FileError) in
      _ = try store.begin(receiver, line: line)
      try store.save(journal)
    }
  }

  func receive(_ bytes: RawSpan) {
    do throws(FileError) { try store.receive(bytes) } catch { complain(error) }
  }

  func note(_ journal: BatchJournal) {
    attempt { (store: inout BatchStore) throws(FileError) in try store.save(journal) }
  }

  /// Clears the delivered batch, and starts a new one if the receiver continues to collect.
  func discard(collects: Bool, _ receiver: ReceiverDescription?) {
    let journal = store.journal
    attempt { (store: inout BatchStore) throws(FileError) in try store.finish() }
    if collects { begin(receiver, journal) }
  }

  private func attempt(_ body: (inout BatchStore) throws(FileError) -> Void) {
    do throws(FileError) { try body(&store) } catch { complain(error) }
  }

  private func complain(_ problem: FileError) {
    if !isFailureLogged {
      System.log("fixes of the receiver's memory cannot be stored: \(problem) (SEXTANT_STATE_DIR names the folder)")
    }
    isFailureLogged = true
  }
}
