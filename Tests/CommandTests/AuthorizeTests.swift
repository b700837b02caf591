// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxIO
import Messages
import MonotonicTime
import Synchronization
import Testing

@testable import sextant

@Suite("sextant authorize with the location service")
struct AuthorizeTests {
  private static func question(_ request: String, isUpgrade: Bool) -> String {
    #"{"id":7,"name":"hike@/bin/hike","label":"hike","pid":70,"request":"\#(request)","isUpgrade":\#(isUpgrade),"text":"Turn"}"#
  }

  /// Runs a command with a service that has these questions. Returns its output, and the calls of the service.
  private static func run(_ words: [String], questions: String) throws -> (output: String, calls: [String]) {
    let folder = try CommandProgram.folder()
    defer { CommandProgram.remove(folder) }
    let service = try ScriptedService(at: "\(folder)/service", questions: questions)
    defer { service.end() }
    let result = try CommandProgram.run(
      ["authorize"] + words, in: folder, variables: ["SEXTANT_SERVICE": "\(folder)/service"])
    #expect(result.code == 0, "\(result.errors)")
    return (result.output, service.calls)
  }

  @Test("A change that the service refuses for some seconds is repeated then, and no other one")
  func limitedChanges() {
    func wait(_ name: String, _ parameters: JSON) -> Milliseconds? {
      ServicePermissions.wait(after: VarlinkError("org.sextant.Authorization.\(name)", parameters))
    }
    #expect(wait("NotStored", ["reason": "more than 16 changes in 10 s", "retrySeconds": 7]) == Milliseconds(7000))
    #expect(wait("NotStored", ["reason": "permissions of 256 programs are stored already"]) == nil)
    #expect(wait("NotStored", ["retrySeconds": 1_000_000]) == nil && wait("NotStored", ["retrySeconds": -1]) == nil)
    #expect(wait("NotPermitted", ["retrySeconds": 7]) == nil)
  }

  @Test(
    "AU-20 deny answers a question about more than the permission, which is kept",
    arguments: [("always", true), ("temporaryFullAccuracy", false)])
  func denyMore(request: String, isUpgrade: Bool) throws {
    let questions = Self.question(request, isUpgrade: isUpgrade)
    let calls = try Self.run(["deny", "hike"], questions: questions).calls
    let call = try #require(calls.last)
    #expect(call.contains(#""org.sextant.Authorization.Answer""#) && call.contains(#""id":7"#), "\(call)")
    #expect(call.contains(#""answer":"deny""#), "\(call)")
  }

  @Test(
    "deny stores the denial for a first question, and for a program without a question",
    arguments: [("whenInUse", false), ("always", false), nil])
  func deny(asked: (request: String, isUpgrade: Bool)?) throws {
    let questions = asked.map { Self.question($0.request, isUpgrade: $0.isUpgrade) } ?? ""
    let call = try #require(try Self.run(["deny", "hike@/bin/hike"], questions: questions).calls.last)
    #expect(call.contains(#""org.sextant.Authorization.Set""#) && call.contains(#""status":"denied""#), "\(call)")
  }

  @Test(
    "The list says what a program asks for",
    arguments: [
      ("whenInUse", false, "asks for the location: Turn"),
      ("always", true, "asks for the location also in the background: Turn"),
      ("temporaryFullAccuracy", false, "asks for the exact location for now: Turn"),
    ])
  func list(request: String, isUpgrade: Bool, text: String) throws {
    let questions = Self.question(request, isUpgrade: isUpgrade)
    #expect(try Self.run([], questions: questions).output.contains("hike@/bin/hike \(text) (process 70;"))
    let json = try Self.run(["show", "--json"], questions: questions).output
    #expect(json.contains(#""request":"\#(request)","upgrade":\#(isUpgrade)"#), "\(json)")
  }
}

/// A location service with permissions and questions, in a thread.
private final class ScriptedService: Sendable {
  private struct State {
    var calls: [String] = []
    var isOver = false
  }

  private let state = Mutex(State())
  private let list: String

  init(at path: String, questions: String) throws {
    list = #"{"parameters":{"programs":[],"questions":[\#(questions)],"servicesAreOn":true}}"#
    let listener = Listener(try UnixSocket(listeningAt: path, permissions: 0o600))
    let isStarted = BackgroundWork.start { [self] in try? serve(listener) }
    #expect(isStarted)
  }

  /// A socket that a closure can capture.
  private final class Listener: Sendable {
    let socket: UnixSocket
    init(_ socket: consuming UnixSocket) { self.socket = socket }
  }

  /// The calls until now.
  var calls: [String] { state.withLock { $0.calls } }

  func end() { state.withLock { $0.isOver = true } }

  private var isOver: Bool { state.withLock { $0.isOver } }

  private func serve(_ listener: Listener) throws {
    while !isOver {
      guard let connection = try listener.socket.accept() else {
        Thread.sleep(forTimeInterval: 0.001)
        continue
      }
      serve(connection)
    }
  }

  private func serve(_ connection: borrowing UnixSocket) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var received: [UInt8] = []
    while !isOver {
      switch connection.read(into: &buffer) {
      case .bytes(let count): received += buffer[..<count]
      case .wouldWait: Thread.sleep(forTimeInterval: 0.001)
      case .ended: return
      }
      while let end = received.firstIndex(of: 0) {
        let call = String(decoding: received[..<end], as: UTF8.self)
        received.removeSubrange(...end)
        state.withLock { $0.calls.append(call) }
        let reply = call.contains(#"Authorization.List""#) ? list : #"{"parameters":{}}"#
        _ = connection.write(Array("\(reply)\0".utf8).span)
      }
    }
  }
}
