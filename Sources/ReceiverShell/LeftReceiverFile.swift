import Receiver

/// Where a program notes how it has a receiver while it rests (`LeftReceiver`). It is written when that changes, which is once
/// or twice in a program's life, and removed when the receiver is as it was found.
public final class LeftReceiverFile {
  private let folder: String
  private let path: String
  private var kept: LeftReceiver?

  /// - Parameters:
  ///   - stateFolder: where state is kept from one run to the next; it is made when there is something to keep.
  ///   - line: the name of the device.
  public init(stateFolder: String, line: String) {
    folder = "\(stateFolder)/receivers"
    path = "\(folder)/" + String(line.map { $0.isLetter || $0.isNumber ? $0 : "_" }) + ".txt"
    // What is not whole is none.
    kept = (try? WholeFile.read(path, limit: 4096)).flatMap { LeftReceiver($0) }
  }

  /// What an earlier program has left, or this one has kept.
  public var left: LeftReceiver? { kept }

  public func keep(_ left: LeftReceiver) throws(FileProblem) {
    guard left != kept else { return }
    kept = left
    try WholeFile.makeFolder(folder)
    try WholeFile.replace(path, with: left.text + "\n", mode: 0o600)
  }

  public func forget() {
    guard kept != nil else { return }
    kept = nil
    WholeFile.remove(path)
  }
}
