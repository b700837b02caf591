// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import GPSD
import LinuxIO
import LocationService
import Messages
import Positioning
import SystemPackage
import WireBytes

/// `sextant authorize --agent`: shows the questions of a user's programs on the terminal, one after another, and sends the
/// answers, until the end of the input or a signal.
struct AuthorizationAgent: ~Copyable {
  private static let service = Poller.Token(rawValue: 1)
  private static let input = Poller.Token(rawValue: 2)

  private let path: String
  private let user: UInt32?
  private let socket: UnixSocket
  private var varlink = VarlinkClientConnection()
  /// The open questions, the oldest first.
  private var questions: [OpenQuestion] = []
  /// The question on the terminal.
  private var shown: OpenQuestion?
  private var input = InputLines()

  init(path: String, user: UInt32?) throws {
    self.path = path
    self.user = user
    do throws(Errno) { socket = try UnixSocket(connectingTo: path) } catch {
      throw CommandFailure(
        .unavailable, "\(path): \(error); start the location service with `systemctl start sextantd`")
    }
  }

  mutating func run() throws {
    guard isInputATerminal() else {
      throw CommandFailure(.unavailable, "--agent asks on a terminal, and the input is none")
    }
    let parameters: JSON = user.map { ["user": .integer(Int64($0))] } ?? .empty
    _ = try varlink.call(VarlinkCall("org.sextant.Authorization.Watch", parameters, .more))
    var poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
    try poller.add(socket.descriptor, token: Self.service, interest: [.readable, .writable])
    try poller.add(InputLines.descriptor, token: Self.input)
    printNotice("waiting for questions of programs; end with ^C")
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      for event in try poller.wait(deadline: nil) {
        switch event {
        case .readable(Self.input):
          guard try readInput() else { return }
        case .signal: return
        case .writable:
          guard varlink.outputBytesWaiting > 0, case .bytes(let count) = socket.write(varlink.output) else { break }
          varlink.didWrite(count)
          if varlink.outputBytesWaiting == 0 {
            try poller.change(socket.descriptor, token: Self.service, interest: .readable)
          }
        case .readable, .hangUp, .woken, .timeout: break
        }
      }
      switch socket.read(into: &buffer) {
      case .bytes(let count): varlink.receive(buffer.span.extracting(0..<count))
      case .wouldWait: break
      case .ended:
        throw CommandFailure(.unavailable, "\(path): the location service has ended; start it and this agent again")
      }
      while let event = varlink.nextEvent() { try take(event) }
      show()
    }
  }

  private mutating func take(_ event: VarlinkClientConnection.Event) throws {
    switch event {
    case .reply(_, .success(let parameters, _)): questions = OpenQuestion.list(parameters["questions"])
    case .reply(_, .failure(let error)):
      let isForbidden = error.name == "org.sextant.Authorization.NotPermitted"
      throw CommandFailure(
        isForbidden ? .noPermission : .unavailable,
        isForbidden ? "the questions of another user are for root; use sudo" : "\(path): \(error.name); update sextantd"
      )
    case .failed(let error): throw CommandFailure(.badData, "\(path): \(error); is this the socket of sextantd?")
    case .message: break
    }
  }

  /// Shows the oldest question, unless it is shown already.
  private mutating func show() {
    if let shown, !questions.contains(shown) {
      printRaw("\n")
      printNotice("\(shown.app) no longer asks")
      self.shown = nil
    }
    guard shown == nil, let next = questions.first else { return }
    shown = next
    printRaw(PromptQuestion(identifier: next.app.text, prompt: next.prompt).text)
  }

  /// Reads what was typed. Returns false at the end of the input.
  private mutating func readInput() throws -> Bool {
    guard let lines = input.read() else { return false }
    for line in lines { try answer(String(line)) }
    return true
  }

  private mutating func answer(_ text: String) throws {
    guard let question = shown else { return }
    let prompt = PromptQuestion(identifier: question.app.text, prompt: question.prompt)
    guard let answer = prompt.answer(text) else { return printRaw(prompt.text) }
    shown = nil
    questions.removeAll { $0 == question }
    var permissions = try ServicePermissions(path: path, user: user)
    do { try permissions.answer(question, answer) } catch let failure as CommandFailure {
      // It may have been withdrawn meanwhile.
      printNotice(failure.description)
    }
  }
}
