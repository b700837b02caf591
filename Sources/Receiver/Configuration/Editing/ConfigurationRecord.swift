import UBX

/// A CFG message as a receiver keeps it; one of several where a selector says which: `CFG-NAV5`, `CFG-PRT[1]`,
/// `CFG-MSG[NAV-PVT]`.
public struct ConfigurationRecord: Sendable, Hashable {
  var identity: MessageIdentity
  /// What the question for it carries.
  var selector: [UInt8]

  init(_ identity: MessageIdentity, _ selector: [UInt8] = []) {
    self.identity = identity
    self.selector = selector
  }

  /// How the answers of a CFG message are told apart.
  private enum Selector { case none, number, message }

  private static func selector(_ identity: MessageIdentity) -> Selector {
    switch identity {
    case .cfgMSG: .message
    case .cfgPRT, .cfgINF, .cfgTP5: .number
    default: .none
    }
  }

  /// The CFG messages that hold settings, by the order of their ids. Left out are those that act (RST, CFG, PWR, NVS), the
  /// items, and what is written once or secret (OTP, FIXSEED, DYNSEED).
  static let declared: [(name: String, identity: MessageIdentity)] = {
    let left: Set<UInt8> = [0x04, 0x09, 0x22, 0x41, 0x57, 0x84, 0x85, 0x8A, 0x8B, 0x8C]
    var all: [(String, MessageIdentity)] = []
    for layout in MessageLayout.all where layout.identity.messageClass == 0x06 {
      guard !left.contains(layout.identity.messageID), all.last?.1 != layout.identity else { continue }
      all.append((layout.name.description, layout.identity))
    }
    return all
  }()

  /// All records that a receiver may have. Each that it has not is refused and costs nothing more.
  static let all: [ConfigurationRecord] = declared.flatMap { _, identity in
    switch identity {
    case .cfgMSG:
      MessageNames.all.map { ConfigurationRecord(identity, [$0.identity.messageClass, $0.identity.messageID]) }
    case .cfgPRT: (0...4 as ClosedRange<UInt8>).map { ConfigurationRecord(identity, [$0]) }
    case .cfgINF, .cfgTP5: (0...1 as ClosedRange<UInt8>).map { ConfigurationRecord(identity, [$0]) }
    default: [ConfigurationRecord(identity)]
    }
  }

  /// The record's name.
  var name: String {
    let message = Self.declared.first { $0.identity == identity }?.name ?? "CFG-0x" + hexadecimal(identity.messageID)
    switch Self.selector(identity) {
    case .message where selector.count == 2:
      return message + "[" + MessageNames.name(MessageIdentity(selector[0], selector[1])) + "]"
    case .number where selector.count == 1: return message + "[\(selector[0])]"
    default: return message
    }
  }

  /// Reads a record's name, whatever its case; nil when there is no such message, or it needs to be said which one.
  init?(named text: some StringProtocol) {
    let parts = text.split(separator: "[", maxSplits: 1)
    guard let first = parts.first, let message = Self.declared.first(where: { $0.name == first.uppercased() }) else {
      return nil
    }
    identity = message.identity
    guard parts.count == 2 else {
      guard ![.cfgMSG, .cfgINF].contains(identity) else { return nil }
      selector = []
      return
    }
    guard parts[1].last == "]" else { return nil }
    let which = parts[1].dropLast()
    switch Self.selector(identity) {
    case .none: return nil
    case .number:
      guard let number = UInt8(which) else { return nil }
      selector = [number]
    case .message:
      guard let message = MessageNames.message(which) else { return nil }
      selector = [message.messageClass, message.messageID]
    }
  }
}

/// A field of a record by its name, such as `dynModel`, `groups[2].flags` or `rate[1]`, and one of its values.
public struct FieldPath: Sendable, Hashable {
  var path: String
  var element: Int?

  /// Reads a path: `[n]` at the end names one of several values.
  init?(_ text: some StringProtocol) {
    guard !text.isEmpty else { return nil }
    guard text.last == "]", let open = text.lastIndex(of: "[") else {
      path = String(text)
      return
    }
    guard let element = Int(text[text.index(after: open)...].dropLast()), element >= 0 else { return nil }
    path = String(text[..<open])
    self.element = element
  }

  var text: String { element.map { "\(path)[\($0)]" } ?? path }
}

/// What makes a receiver apply the fields of a CFG message that has masks (interface descriptions, CFG-NAV5 mask, CFG-NAVX5
/// mask1 and mask2).
enum ApplicationMask {
  /// CFG-NAV5 mask: the bit of each field's group.
  private static let nav5: [(fields: [String], bit: UInt16)] = [
    (["dynmodel"], 0), (["minelev"], 1), (["fixmode", "fixedalt", "fixedaltvar"], 2), (["drlimit"], 3),
    (["pdop", "pacc"], 4), (["tdop", "tacc"], 5), (["staticholdthresh", "staticholdmaxdist"], 6), (["dgnsstimeout"], 7),
    (["cnothreshnumsvs", "cnothresh"], 8), (["utcstandard"], 10),
  ]
  /// CFG-NAVX5 mask1.
  private static let navx5: [(fields: [String], bit: UInt16)] = [
    (["minsvs", "maxsvs"], 2), (["mincno"], 3), (["inifix3d"], 6), (["wknrollover"], 9), (["ackaiding"], 10),
    (["useppp"], 13), (["aopcfg", "aoporbmaxerr"], 14),
  ]
  /// CFG-NAVX5 mask2.
  private static let navx5Second: [(fields: [String], bit: UInt16)] = [(["useadr"], 6), (["sigattencompmode"], 7)]

  /// Sets the masks so that these fields, and no others, are applied.
  static func set(_ identity: MessageIdentity, for fields: [String], in payload: inout [UInt8]) {
    switch identity {
    case .cfgNAV5 where payload.count >= 2: payload.set(u2: mask(nav5, fields), at: 0)
    case .cfgNAVX5 where payload.count >= 8:
      payload.set(u2: mask(navx5, fields), at: 2)
      payload.set(u4: UInt32(mask(navx5Second, fields)), at: 4)
    default: break
    }
  }

  /// Whether a field is a mask, which is no setting.
  static func isMask(_ identity: MessageIdentity, _ path: String) -> Bool {
    identity == .cfgNAV5 && path == "mask" || identity == .cfgNAVX5 && (path == "mask1" || path == "mask2")
  }

  private static func mask(_ table: [(fields: [String], bit: UInt16)], _ fields: [String]) -> UInt16 {
    let fields = fields.map { $0.lowercased() }
    return table.reduce(0) { mask, row in row.fields.contains { fields.contains($0) } ? mask | 1 << row.bit : mask }
  }
}
