import Receiver

/// Where a program notes how it has a receiver while it rests (`LeftReceiver`). It is written when that changes, which is once
/// or twice in a program's life, and removed when the receiver is as it was found.
public final class LeftReceiverFile {
  private let folder: String
  private let path: String
  private var kept: LeftReceiver?
  private var keptSettings: LeftSettings?

  /// - Parameters:
  ///   - stateFolder: where state is kept from one run to the next; it is made when there is something to keep.
  ///   - line: the name of the device.
  public init(stateFolder: String, line: String) {
    folder = "\(stateFolder)/receivers"
    path = "\(folder)/" + String(line.map { $0.isLetter || $0.isNumber ? $0 : "_" }) + ".txt"
    // What is not whole is none.
    guard let text = try? WholeFile.read(path, limit: 65_536) else { return }
    let line = text.prefix { !$0.isNewline }
    kept = LeftReceiver(line)
    if kept != nil { keptSettings = LeftSettings(text.dropFirst(line.count)) }
  }

  /// What an earlier program has left, or this one has kept.
  public var left: LeftReceiver? { kept }
  /// What it had changed.
  public var settings: LeftSettings? { keptSettings }

  public func keep(_ left: LeftReceiver, _ settings: LeftSettings? = nil) throws(FileProblem) {
    guard left != kept || settings != keptSettings else { return }
    (kept, keptSettings) = (left, settings)
    try WholeFile.makeFolder(folder)
    let text = ([left.text] + [settings?.text].compactMap(\.self)).joined(separator: "\n")
    try WholeFile.replace(path, with: text + "\n", mode: 0o600)
  }

  public func forget() {
    guard kept != nil else { return }
    (kept, keptSettings) = (nil, nil)
    WholeFile.remove(path)
  }
}
