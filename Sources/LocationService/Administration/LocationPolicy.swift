// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Messages
import Positioning
import Receiver
import ReceiverRuntime
import WireBytes

/// The decisions of the machine's administrator for all users, from /etc/sextant/policy.
///
/// A line is one of
///
///     services off            no program gets locations
///     restrict PATH           the program of that executable gets none, and its user cannot change it
///     restrict NAME           the same for all executables with that file name, and programs that state that name
///     grant UNIT always       the daemon serves the programs of that systemd unit, or of that executable (a path), without
///     grant PATH whenInUse    a question, as on a board without a user
///     launch UNIT             the daemon starts that unit at its regions, as it does one that has `always`
///     gpsd = on               the daemon serves clients of gpsd's protocol on this machine, or does not (off);
///                             `on, every 60 s, accuracy 100 m` limits what they require of the receiver
///     time = continuous       the first receiver serves the computer's clock: always, `every 10 min`, or not (off)
///     pps = carrier           its pulse is at the carrier line of its port, or at that source (`/dev/pps0`)
///
/// A `#` begins a comment. A program is named as `sextant authorize` shows it. A path may lead over symbolic links: the program is then
/// named by its file, too. With a line that cannot be read, and may deny locations, no program gets any; with one that begins with `gpsd`,
/// no client of gpsd does.
package struct LocationPolicy: Sendable, Equatable {
  package static let path = "/etc/sextant/policy"

  package private(set) var servicesAreOff = false
  package private(set) var restricted: Set<ExactText> = []
  /// The permissions, keyed by unit name or executable path.
  package private(set) var grants: [ExactText: AuthorizationStatus] = [:]
  /// The units that the daemon may start for their events.
  package private(set) var launches: Set<ExactText> = []
  /// Whether clients of gpsd are served, and what they may require; nil if the policy does not decide it.
  package private(set) var gpsd: GPSDSetting?
  /// How the first receiver serves the computer's clock.
  package private(set) var clock = ClockPolicy.off
  /// The source of its pulses.
  package private(set) var pulses = PulsePolicy.ofPort
  /// The numbers of lines that cannot be read, from 1.
  package private(set) var mistakes: [Int] = []
  /// The first one of those that deny the most.
  private var gravestMistake: Mistake?
  /// Why the file cannot be read; nil if it was read, or does not exist.
  private var fault: String?

  /// Reads the lines. Without a file the policy has no effect.
  package init(parsing text: String?) {
    let text = text ?? ""
    for (index, line) in (text.after("\u{FEFF}") ?? text[...]).lines.enumerated() {
      switch Line(line) {
      case .nothing: break
      case .servicesOff: servicesAreOff = true
      case .restrict(let app): restricted.insert(app)
      case .grant(let program, let status): grants[program] = status
      case .launch(let unit): launches.insert(unit)
      case .gpsd(let setting): gpsd = setting
      case .time(let policy): clock = policy
      case .pulses(let policy): pulses = policy
      case .mistake(let denial):
        mistakes.append(index + 1)
        if gravestMistake.map({ $0.denial < denial }) ?? true {
          gravestMistake = Mistake(line: index + 1, denial: denial)
        }
        switch denial {
        case .nothing: break
        case .gpsd: gpsd = GPSDSetting("off")
        case .everything: servicesAreOff = true
        }
      }
    }
  }

  /// A policy that cannot be read may deny anything: no program gets locations.
  init(unreadable fault: String) {
    self.fault = fault
    servicesAreOff = true
  }

  /// The policy of this machine.
  package static func installed() -> LocationPolicy {
    do throws(FileError) {
      var policy = LocationPolicy(parsing: try UserFile.read(path))
      policy.addTargets(FileLookup.resolved)
      return policy
    } catch {
      return error.isAbsent ? LocationPolicy(parsing: nil) : LocationPolicy(unreadable: error.reason)
    }
  }

  /// Adds the files that the paths of programs lead to.
  ///
  /// - Parameter target: returns the path of a file without symbolic links; nil if there is none.
  mutating func addTargets(_ target: (String) -> String?) {
    func added(_ program: ExactText) -> ExactText? {
      let path = Self.path(of: program)
      guard path.text.begins(with: "/"), let file = target(path.text).map({ ExactText($0) }) else { return nil }
      return file == path ? nil : file
    }
    restricted.formUnion(restricted.compactMap(added))
    for (program, status) in grants {
      if let file = added(program), grants[file] == nil { grants[file] = status }
    }
  }

  /// Whether locations are denied to a program. A line names its executable by the path, as PATH or NAME@PATH, or by the name of its
  /// file; then the name that the program states has no effect. A line with only a stated name is for programs that state it.
  package func restricts(_ app: AppDescription) -> Bool {
    let executable = app.executable.map { ExactText($0) }
    let names = [app.identifier, app.label, app.executable?.parts(at: "/").last.map(String.init)].compactMap(\.self)
      .map { ExactText($0) }
    return restricted.contains { names.contains($0) || Self.path(of: $0) == executable }
  }

  /// The path in a name such as PATH or NAME@PATH, else the whole name.
  private static func path(of program: ExactText) -> ExactText {
    let text = program.text
    guard let at = text.utf8.occurrence(of: "@/".utf8) else { return program }
    return ExactText(text[text.utf8.index(after: at.lowerBound)...])
  }

  /// The decision that a line which cannot be read may be.
  private enum Denial: Int, Comparable {
    case nothing, gpsd, everything

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    var consequence: String {
      switch self {
      case .nothing: ""
      case .gpsd: ", so that no client of gpsd gets locations"
      case .everything: ", so that no program gets locations"
      }
    }
  }

  private struct Mistake: Equatable {
    var line: Int
    var denial: Denial
  }

  private enum Line: Equatable {
    case nothing, servicesOff, restrict(ExactText), grant(ExactText, AuthorizationStatus), launch(ExactText)
    case mistake(Denial)
    case gpsd(GPSDSetting), time(ClockPolicy), pulses(PulsePolicy)

    init(_ line: Substring) {
      let words = line.before("#").words
      func name() -> ExactText { ExactText(StateText.unescape(words[1])) }
      switch words.first {
      case nil: self = .nothing
      case "services" where words.count == 2 && words[1] == "off": self = .servicesOff
      case "services" where words.count == 2 && words[1] == "on": self = .nothing
      case "restrict" where words.count == 2: self = .restrict(name())
      case "grant" where words.count == 3 && words[2] == "always":
        self = .grant(name(), .authorizedAlways)
      case "grant" where words.count == 3 && words[2] == "whenInUse":
        self = .grant(name(), .authorizedWhenInUse)
      case "launch" where words.count == 2: self = .launch(name())
      case "gpsd" where words.count > 1 && words[1] == "=":
        self = GPSDSetting(words.dropFirst(2).joined(separator: " ")).map { .gpsd($0) } ?? .mistake(.gpsd)
      case "time" where words.count > 1 && words[1] == "=":
        self = ClockPolicy(words: words.dropFirst(2)).map { .time($0) } ?? .mistake(.nothing)
      case "pps" where words.count == 3 && words[1] == "=":
        self = PulsePolicy(String(words[2])).map { .pulses($0) } ?? .mistake(.nothing)
      case "gpsd": self = .mistake(.gpsd)
      case "grant", "launch", "time", "pps": self = .mistake(.nothing)
      default: self = .mistake(.everything)
      }
    }
  }

  /// The message about the first line that cannot be read, with the next step; nil if there is none.
  package var problem: String? {
    if let fault {
      return
        "\(Self.path) cannot be read (\(fault)), and counts as `services off`; make it a file that all users may read"
    }
    guard let mistake = gravestMistake else { return nil }
    return
      "\(Self.path):\(mistake.line): not understood\(mistake.denial.consequence); a line is `services off`, `restrict PATH`, `grant UNIT always`"
      + ", `launch UNIT`, `gpsd = on`, `time = continuous` or `pps = /dev/pps0`"
  }

  /// Returns the text with services switched. Its other lines are unchanged.
  package static func text(_ text: String?, servicesOff: Bool) -> String {
    edited(text, without: .servicesOff, adding: servicesOff ? "services off" : nil)
  }

  /// Returns the text with a program restricted or not. Its other lines are unchanged.
  package static func text(_ text: String?, restricting app: String, _ isRestricted: Bool) -> String {
    let word = StateText.escape(app) { $0 > 0x20 && $0 != 0x7F && $0 != 0x23 }
    return edited(text, without: .restrict(ExactText(app)), adding: isRestricted ? "restrict \(word)" : nil)
  }

  private static func edited(_ text: String?, without line: Line, adding new: String?) -> String {
    var lines = (text ?? "").lines
    if lines.last?.isEmpty == true { lines.removeLast() }
    lines.removeAll { Line($0) == line }
    if let new { lines.append(new[...]) }
    return lines.map { $0 + "\n" }.joined()
  }
}
