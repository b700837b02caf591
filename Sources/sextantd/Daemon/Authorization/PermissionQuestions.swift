// SPDX-License-Identifier: Apache-2.0
import LocationService
import Positioning
import WireBytes

/// The pending permission prompts of all programs, and the programs that may answer them.
struct PermissionQuestions: Equatable, Sendable {
  /// The program that requests permission.
  enum Asker: Hashable, Sendable {
    /// A connected program of module CoreLocation.
    case program(ProgramID)
    /// A program of org.sextant.Location that was refused because nothing is stored for its executable yet.
    case refused(name: ExactText, user: UInt32)
  }

  /// The program, according to the kernel.
  struct Program: Equatable, Sendable {
    /// The name in the authorization store, NAME@EXECUTABLE.
    var name: ExactText
    var user: UInt32
    var process: Int32
    /// Nil if it is unknown.
    var executable: ExactText?
    /// The name that the program declares (``ProgramLabel``); nil if it declares none.
    var label: String?
    /// The start of the process and its control group; nil if they are unknown.
    var start: UInt64?
    var group: ControlGroup?
  }

  struct Question: Equatable, Sendable {
    let id: Int
    let asker: Asker
    let program: Program
    let prompt: Authorization.Prompt
  }

  /// The program that answers.
  struct Answerer: Equatable, Sendable {
    var user: UInt32
    var process: Int32
    var executable: ExactText?
    /// Its ancestor processes, the nearest first.
    var ancestors: [Int32] = []
    /// The executables of those ancestors that belong to the same user.
    var ancestorExecutables: [ExactText] = []
    /// The start time of the process, among this one and its ancestors, that is a child of process 1 or of a user's
    /// service manager: such a process may be an orphan. Nil without one; the largest number if the ancestors are not
    /// all known.
    var detachedStart: UInt64?
    /// Its control group; nil if it is unknown.
    var group: ControlGroup?

    /// Whether the program may be an orphaned descendant of a process, as after a double fork(2). A process that is older
    /// than the program is not its descendant, nor is one that the system's service manager has put under another unit,
    /// such as another login session. Below its own service manager (user@UID.service) a user makes control groups, and
    /// moves processes between them.
    func mayBeDetached(from program: Program) -> Bool {
      guard let detachedStart, let start = program.start else { return false }
      return detachedStart >= start && group?.ofSystem == program.group?.ofSystem
    }
  }

  /// The largest number of open prompts for one user's refused programs; programs choose their names themselves.
  static let refusedLimit = 32

  /// In the order of the requests.
  private(set) var all: [Question] = []
  /// Counts the changes of each user's prompts.
  private var revisions: [UInt32: Int] = [:]
  private var lastID = 0

  init() {}

  func questions(of user: UInt32) -> [Question] { all.filter { $0.program.user == user } }

  /// A number that changes with the prompts of a user.
  func revision(of user: UInt32) -> Int { revisions[user] ?? 0 }

  subscript(id: Int) -> Question? { all.first { $0.id == id } }

  /// Records the current request of a program; nil if there is none.
  mutating func set(_ prompt: Authorization.Prompt?, of asker: Asker, _ program: @autoclosure () -> Program) {
    if let index = all.firstIndex(where: { $0.asker == asker }) {
      if all[index].prompt == prompt { return }
      changed(all[index].program.user)
      all.remove(at: index)
    }
    guard let prompt else { return }
    let program = program()
    if case .refused = asker {
      let open = all.count { if case .refused(_, program.user) = $0.asker { true } else { false } }
      guard open < Self.refusedLimit else { return }
    }
    lastID += 1
    all.append(Question(id: lastID, asker: asker, program: program, prompt: prompt))
    changed(program.user)
  }

  private mutating func changed(_ user: UInt32) { revisions[user, default: 0] += 1 }

  /// The reason why a program may not answer; the text is sent to it.
  enum Refusal: String {
    case ofOtherUser = "only the program's user and root may answer; use sudo"
    case unknownExecutable = "the executable of the caller is unknown, as in a sandbox; answer outside of it"
    case own =
      "a program may not answer its own question, nor may a command that it has started; answer in another terminal"
    case mayBeOwn =
      "the caller is younger than the program that asks, which may have started it; answer in a terminal that is older than the program, in another login (ssh, console), or with sudo and --user"
  }

  /// Returns the reason why a program may not answer for another one; nil if it may, as the same user or as root. A
  /// program may answer neither its own prompt nor the prompt of an ancestor, even if the processes between them have
  /// ended or the ancestor no longer asks. A program without a known executable, as in the sandbox of Flatpak, may not
  /// answer.
  static func refusal(of answerer: Answerer, for program: Program) -> Refusal? {
    if answerer.user == 0, program.user != 0 { return nil }
    if answerer.user != program.user { return .ofOtherUser }
    guard let executable = answerer.executable else { return .unknownExecutable }
    let isOther =
      executable != program.executable && answerer.process != program.process
      && !answerer.ancestors.contains(program.process)
      && !answerer.ancestorExecutables.contains { $0 == program.executable }
    guard isOther else { return .own }
    return answerer.mayBeDetached(from: program) ? .mayBeOwn : nil
  }
}
