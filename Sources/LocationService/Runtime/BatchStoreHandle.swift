import FileSystem
import Receiver
import ReceiverRuntime
import ReceiverStream

/// The files of a batch (`BatchStore`) as the service uses them: what cannot be written is said once, and does without.
final class BatchStoreHandle {
  private let line: String
  private var store: BatchStore
  private var hasBegun = false
  private var left: (journal: BatchJournal, earlier: [[UInt8]])?
  private var isComplained = false

  /// - Parameters:
  ///   - folder: where batches are kept.
  ///   - line: the name of the device.
  init(folder: String, line: String) throws(FileError) {
    self.line = line
    store = try BatchStore(folder: folder, line: line)
    hasBegun = store.unfinishedFrame == nil
  }

  /// Where an earlier process was killed; nil when it left nothing.
  var unfinishedFrame: [UInt8]? { store.unfinishedFrame }

  /// What an earlier process left of this receiver, once: its journal, and entries that were received and perhaps not
  /// delivered.
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
      try store.keep(journal)
    }
  }

  func receive(_ bytes: RawSpan) {
    do throws(FileError) { try store.receive(bytes) } catch { complain(error) }
  }

  func note(_ journal: BatchJournal) {
    attempt { (store: inout BatchStore) throws(FileError) in try store.keep(journal) }
  }

  /// All is delivered; what a receiver collects further begins anew.
  func forget(collects: Bool, _ receiver: ReceiverDescription?) {
    let journal = store.journal
    attempt { (store: inout BatchStore) throws(FileError) in try store.finish() }
    if collects { begin(receiver, journal) }
  }

  private func attempt(_ body: (inout BatchStore) throws(FileError) -> Void) {
    do throws(FileError) { try body(&store) } catch { complain(error) }
  }

  private func complain(_ problem: FileError) {
    if !isComplained {
      System.log("fixes that the receiver keeps cannot be made safe: \(problem) (SEXTANT_STATE_DIR names it)")
    }
    isComplained = true
  }
}
