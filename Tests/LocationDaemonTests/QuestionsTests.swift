// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import Testing
import WireBytes

@testable import LinuxIO
@testable import LocationService
@testable import sextantd

@Suite("Questions for permission that wait for an agent")
struct QuestionsTests {
  private static let prompt = Authorization.Prompt(request: .always, text: "to log the trip", isUpgrade: false)
  private static let other = Authorization.Prompt(request: .whenInUse, text: "to show a map", isUpgrade: false)
  private static let hike = PermissionQuestions.Program(
    name: "hike@/home/ada/hike", user: 1000, process: 70, executable: "/home/ada/hike")

  private static func asker(_ number: UInt32) -> PermissionQuestions.Asker { .program(ProgramID(number)) }

  private static func answerer(
    _ user: UInt32, _ process: Int32 = 90, _ executable: ExactText? = "/usr/bin/sextant", ancestors: [Int32] = [1]
  ) -> PermissionQuestions.Answerer {
    PermissionQuestions.Answerer(user: user, process: process, executable: executable, ancestors: ancestors)
  }

  @Test("A question is open until the program's engine has its answer, and the users see their own")
  func open() throws {
    var questions = PermissionQuestions()
    questions.set(Self.prompt, of: Self.asker(0), Self.hike)
    let question = try #require(questions.questions(of: 1000).first)
    #expect(question.prompt == Self.prompt && questions[question.id] == question)
    #expect(questions.questions(of: 1001).isEmpty && questions.questions(of: 0).isEmpty)
    questions.set(nil, of: Self.asker(0), Self.hike)
    #expect(questions.all.isEmpty && questions[question.id] == nil)
  }

  @Test("An agent gets the questions anew only if its user's questions have changed")
  func revisions() {
    var questions = PermissionQuestions()
    questions.set(nil, of: Self.asker(0), Self.hike)
    #expect(questions.revision(of: 1000) == 0)
    questions.set(Self.prompt, of: Self.asker(0), Self.hike)
    let revision = questions.revision(of: 1000)
    #expect(revision != 0 && questions.revision(of: 1001) == 0)
    questions.set(Self.prompt, of: Self.asker(0), Self.hike)
    #expect(questions.revision(of: 1000) == revision)
    // Another prompt of the same program has another number: an answer to the first prompt does not answer it.
    let first = questions.all[0].id
    questions.set(Self.other, of: Self.asker(0), Self.hike)
    #expect(questions.revision(of: 1000) != revision && questions.all.map(\.prompt) == [Self.other])
    #expect(questions[first] == nil)
  }

  @Test("Names that a user makes up do not fill the list")
  func limit() {
    var questions = PermissionQuestions()
    for number in 0..<100 {
      let name: ExactText = "program-\(number)@/usr/bin/python3"
      questions.set(Self.prompt, of: .refused(name: name, user: 1000), .init(name: name, user: 1000, process: 5))
    }
    #expect(questions.questions(of: 1000).count == PermissionQuestions.refusedLimit)
    questions.set(Self.prompt, of: .refused(name: "x@/x", user: 1001), .init(name: "x@/x", user: 1001, process: 6))
    questions.set(Self.prompt, of: Self.asker(3), Self.hike)
    #expect(questions.questions(of: 1001).count == 1)
    #expect(questions.questions(of: 1000).last?.program == Self.hike)
  }

  @Test("The user of a program and root answer for it, and no other user")
  func users() {
    #expect(PermissionQuestions.refusal(of: Self.answerer(1000), for: Self.hike) == nil)
    #expect(PermissionQuestions.refusal(of: Self.answerer(0), for: Self.hike) == nil)
    #expect(PermissionQuestions.refusal(of: Self.answerer(1001), for: Self.hike) == .ofOtherUser)
  }

  @Test("A program does not answer its own question: neither its executable, nor a process that it has started")
  func own() {
    #expect(PermissionQuestions.refusal(of: Self.answerer(1000, 70), for: Self.hike) == .own)
    #expect(PermissionQuestions.refusal(of: Self.answerer(1000, 90, "/home/ada/hike"), for: Self.hike) == .own)
    #expect(PermissionQuestions.refusal(of: Self.answerer(1000, ancestors: [80, 70, 1]), for: Self.hike) == .own)
    // Root's programs are not exempt.
    let service = PermissionQuestions.Program(name: "s@/s", user: 0, process: 70, executable: "/s")
    #expect(PermissionQuestions.refusal(of: Self.answerer(0, 70, "/s"), for: service) == .own)
    #expect(PermissionQuestions.refusal(of: Self.answerer(0), for: service) == nil)
  }

  @Test("A process whose executable is unknown, as in a sandbox, answers nothing")
  func sandbox() {
    #expect(PermissionQuestions.refusal(of: Self.answerer(1000, 90, nil), for: Self.hike) == .unknownExecutable)
  }

  @Test("The processes that have started a program are known from /proc/PID/stat (proc(5))")
  func ancestors() {
    #expect(Peer.field(4, ofStat: "812 (a) b) S 700 812 700 34816 900 4194304") == 700)
    #expect(Peer.field(7, ofStat: "812 (hike) S 1 812 812 0 -1 4194304") == 0)
    #expect(Peer.field(9, ofStat: "812 (hike) S 1") == nil)
    let own = Peer(PeerCredentials(process: System.processID, user: 0, group: 0))
    #expect(own.ancestors.last == 1 || own.ancestors.last.map { $0 > 1 } == true)
    #expect(!own.ancestors.contains(System.processID))
  }
}
