// SPDX-License-Identifier: Apache-2.0
import RTCM3

/// The reply of a receiver of another maker to a command.
public struct FamilyAnswer: Sendable, Equatable {
  /// A frame with data.
  enum Content: Sendable, Equatable {
    /// A sentence with this beginning.
    case text(String)
    /// A sentence that contains this.
    case textWith(String)
    case binary(FrameLayout, UInt16)
    /// Several sentences with the first beginning; one with the second ends them.
    case lines(String, end: String)
  }

  /// The form of acknowledgements.
  enum Acknowledgement: Sendable, Equatable {
    /// `$PMTK001,<command>,<0 invalid, 1 unsupported, 2 failed, 3 done>`.
    case mediaTek(String)
    /// `$PAIR001,<command>,<0 done, 1 in progress, 2 failed, 3 unsupported, 4 parameter, 5 busy>`.
    case airoha(String)
    /// A text with the first beginning for done, with the second for a refusal; the first has precedence.
    case texts(done: String, refused: String)
    /// The same of a receiver that names no command: a text counts after the receiver's text that repeats the command. Before that it can be
    /// about an earlier command.
    case unnamed(done: String, refused: String)
    /// `$<name>,OK`, or `$<name>,ERROR,<n>`. A reply to a query has further fields: it can be about an earlier command.
    case quectel(String)
    /// `$command,<text>,response: OK`.
    case nebulas(String)
    /// `$R: <command>`, or `$R? ` with the name of the command and the reason of the refusal.
    case septentrio(String)
    /// 05 01 and 05 00 with class and id.
    case binary(FrameLayout, UInt16)
    /// 83 and 84 with the id.
    case skyTraq(UInt8)
  }

  var content: Content?
  var acknowledgement: Acknowledgement?

  init(_ content: Content?, _ acknowledgement: Acknowledgement? = nil) {
    self.content = content
    self.acknowledgement = acknowledgement
  }

  enum Verdict: Equatable {
    case over(Outcome)
    /// The receiver is busy: send it again.
    case again
    /// The receiver works on it: a second acknowledgement follows.
    case wait
    /// One sentence of several.
    case line([UInt8])
  }

  /// Whether a sentence is a reply, by its text without `$` and checksum.
  public func isReply(toSentence body: [UInt8]) -> Bool { judge(.text(body)) != nil }

  /// Judges a frame; nil if it is not about the command.
  func judge(_ frame: FamilyFrame) -> Verdict? {
    let verdict = acknowledgement?.judge(frame)
    // A refusal can begin as the data do.
    if case .over(.refused)? = verdict { return verdict }
    if case .lines(let start, let end)? = content, case .text(let body) = frame {
      if body.starts(with: end.utf8) { return .over(.listed([])) }
      if body.starts(with: start.utf8) { return .line(body) }
      guard verdict == .over(.acknowledged) else { return verdict }
      switch acknowledgement {
      // These acknowledge before the data. Others after the sentences: without one before it there are none.
      case .nebulas?, .septentrio?: return .wait
      default: return .over(.listed([]))
      }
    }
    if let payload = data(of: frame) { return .over(.answered(payload)) }
    // The data of a query follow its acknowledgement.
    return content != nil && verdict == .over(.acknowledged) ? .wait : verdict
  }

  /// Whether each list has a line. An end before the first line then belongs to an earlier reply: Septentrio sends its prompt after the
  /// acknowledgement.
  var alwaysHasLines: Bool { if case .septentrio? = acknowledgement { true } else { false } }

  /// Whether a frame is an acknowledgement that counts only after the receiver has repeated the command.
  func needsRepetition(_ frame: FamilyFrame) -> Bool {
    guard case .unnamed? = acknowledgement else { return false }
    return acknowledgement?.judge(frame) != nil
  }

  private func data(of frame: FamilyFrame) -> [UInt8]? {
    switch (content, frame) {
    case (.text(let start)?, .text(let body)): body.starts(with: start.utf8) ? body : nil
    case (.textWith(let part)?, .text(let body)): String(decoding: body, as: UTF8.self).includes(part) ? body : nil
    case (.binary(let layout, let identity)?, .binary(let other, let found, let payload)):
      layout == other && identity == found && !payload.isEmpty ? payload : nil
    default: nil
    }
  }
}

extension FamilyAnswer.Acknowledgement {
  func judge(_ frame: FamilyFrame) -> FamilyAnswer.Verdict? {
    switch (self, frame) {
    case (.binary(let layout, let identity), .binary(let other, let found, let payload)):
      guard layout == other, found >> 8 == 0x05, payload.count >= 2,
        identity == UInt16(payload[0]) << 8 | UInt16(payload[1])
      else { return nil }
      return found == 0x0501 ? .over(.acknowledged) : .over(.refused(.unspecified))
    case (.skyTraq(let id), .binary(.skyTraq, let found, let payload)):
      guard payload.first == id else { return nil }
      return found == 0x83 ? .over(.acknowledged) : found == 0x84 ? .over(.refused(.unspecified)) : nil
    case (_, .binary): return nil
    case (_, .text(let body)): return judge(String(decoding: body, as: UTF8.self))
    }
  }

  private func judge(_ text: String) -> FamilyAnswer.Verdict? {
    switch self {
    case .mediaTek(let command):
      switch Self.result(text, "PMTK001", command) {
      case 0?: return .over(.refused(.invalid))
      case 1?: return .over(.refused(.unsupported))
      case 2?: return .over(.refused(.failed))
      case 3?: return .over(.acknowledged)
      default: return nil
      }
    case .airoha(let command):
      switch Self.result(text, "PAIR001", command) {
      case 0?: return .over(.acknowledged)
      // The logger refuses the state that it has.
      case 2? where command == "900": return .over(.acknowledged)
      case 1?: return .wait
      case 2?: return .over(.refused(.failed))
      case 3?: return .over(.refused(.unsupported))
      case 4?: return .over(.refused(.invalid))
      case 5?: return .again
      default: return nil
      }
    case .texts(let done, let refused), .unnamed(let done, let refused):
      if text.hasPrefix(done) { return .over(.acknowledged) }
      return text.hasPrefix(refused) ? .over(.refused(.failed)) : nil
    case .quectel(let name):
      if text == "\(name),OK" { return .over(.acknowledged) }
      return text.hasPrefix("\(name),ERROR") ? .over(.refused(.failed)) : nil
    case .nebulas(let command):
      guard text.hasPrefix("command,\(command),response:") else { return nil }
      return text.hasSuffix("OK") ? .over(.acknowledged) : .over(.refused(.failed))
    case .septentrio(let command):
      if text == "R: \(command)" { return .over(.acknowledged) }
      return text.hasPrefix("R? \(command.prefix { $0 != "," })") ? .over(.refused(.failed)) : nil
    case .binary, .skyTraq: return nil
    }
  }

  /// The result of `<address>,<command>,<result>`; some firmware writes the command without leading zeros.
  private static func result(_ text: String, _ address: String, _ command: String) -> Int? {
    let fields = text.split(separator: ",", omittingEmptySubsequences: false)
    guard fields.count >= 3, fields[0] == address, let found = Int(fields[1]), found == Int(command) else { return nil }
    return Int(fields[2])
  }
}

/// The fields of a reply in text, the address first.
struct SentenceFields {
  private let fields: [Substring]
  private let text: String

  init(_ reply: [UInt8]) {
    text = String(decoding: reply, as: UTF8.self)
    fields = text.split(separator: ",", omittingEmptySubsequences: false)
  }

  var count: Int { fields.count }

  /// A field without blanks around it; nil if it is missing or empty.
  subscript(_ index: Int) -> String? {
    guard index < fields.count else { return nil }
    var field = fields[index]
    while field.first == " " || field.first == "\"" { field.removeFirst() }
    while field.last == " " || field.last == "\"" { field.removeLast() }
    return field.isEmpty ? nil : String(field)
  }

  func number<Number: FixedWidthInteger>(_ index: Int, as: Number.Type = Number.self) -> Number? {
    self[index].flatMap { Number($0) }
  }
}
