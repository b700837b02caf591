// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import Receiver
import ReceiverSimulator
import TestSupport
import Testing

@testable import ReceiverRuntime

/// The record of a killed program belongs to a receiver, not to the name of its line.
@Suite("The crash-recovery records of a state folder")
struct CrashRecoveryFileTests {
  /// CFG-PRT of UART1: UBX is neither read nor written.
  private static let withoutUBX = Wire.ubx(
    0x06, 0x00, [1, 0, 0, 0, 0xD0, 0x08, 0, 0, 0x80, 0x25, 0, 0, 2, 0, 2, 0, 0, 0, 0, 0])
  private static let unidentified = "rate 9600 found 9600\nof ?\nitem 276037633 0\n"

  private func records(_ folder: borrowing TemporaryFolder) -> [String] {
    PrivateFile.names(in: folder.path + "/receivers")
  }

  /// A program is killed after it has changed the receiver.
  private func kill(_ scene: RuntimeScene) throws {
    #expect(try scene.run(60) { $0.connection.isSteady })
    #expect(scene.connection.recoverySettings != nil)
  }

  /// `probe`. Returns whether it restores the receiver.
  private func probe(
    _ scene: RuntimeScene, _ path: String? = nil, identity: String? = nil, _ folder: borrowing TemporaryFolder
  ) throws -> Bool {
    try scene.openAgain(.identify, at: path, identity: identity, stateFolder: folder.path)
    #expect(try scene.run(60) { $0.connection.isSteady })
    let restores = scene.connection.needsRestoring
    try scene.finish()
    return restores
  }

  @Test(
    "A receiver that replies to nothing leaves no record, also while the program goes on", arguments: [false, true])
  func noReply(hasRecord: Bool) throws {
    let folder = try TemporaryFolder()
    let scene = try RuntimeScene(.m8, intent: .readOnly)
    #expect(try scene.run(30) { $0.connection.isDetected })
    scene.send(Self.withoutUBX)
    #expect(try !scene.run(5))
    let file = CrashRecoveryFile(stateFolder: folder.path, line: scene.path)
    if hasRecord { #expect(try file.replace(with: Self.unidentified)) }
    try scene.openAgain(.identify, stateFolder: folder.path)
    var wasWritten = false
    _ = try scene.run(60) { _ in
      if !records(folder).isEmpty { wasWritten = true }
      return false
    }
    #expect(scene.connection.description == nil && scene.connection.isDetected && wasWritten)
    #expect(records(folder) == [])
    try scene.finish()
    #expect(records(folder) == [])
    // The next receiver at the line is one whose UBX output is on.
    _ = scene.connect(scene.device(.m9, seed: 2))
    #expect(try !probe(scene, nil, folder))
  }

  @Test(
    "The record is found by the node, by another link and by a relative path", arguments: ["", "other", "relative"])
  func names(name: String) throws {
    let folder = try TemporaryFolder()
    let link = folder.path + "/receiver"
    let scene = try RuntimeScene(.m9, stateFolder: folder.path, link: link)
    try kill(scene)
    #expect(records(folder).count == 1)
    var path = scene.path
    if !name.isEmpty {
      let other = folder.path + "/other"
      try #require(unsafe symlink(path, other) == 0)
      path = name == "other" ? other : String(repeating: "../", count: 20) + other.dropFirst()
    }
    #expect(try probe(scene, path, folder))
    #expect(records(folder) == [])
  }

  @Test(
    "The record of a device that udev did not know when it was opened is found under its USB identity",
    arguments: [ReceiverModel.m6, .m9])
  func knownLater(_ model: ReceiverModel) throws {
    let folder = try TemporaryFolder()
    let scene = try RuntimeScene(model, stateFolder: folder.path)
    try kill(scene)
    #expect(records(folder).count == 1)
    // The record stays with the receiver that it names.
    let first = scene.connect(scene.device(.m10, seed: 2))
    #expect(try !probe(scene, nil, identity: "USB 1546:01a6 at 1-1.2", folder))
    #expect(records(folder).count == 1)
    _ = scene.connect(first)
    #expect(try probe(scene, nil, identity: "USB 1546:01a6 at 1-1.2", folder))
    #expect(records(folder) == [])
  }

  @Test("The record of a receiver without an id is found by its link after its pseudo-terminal has another number")
  func renumbered() throws {
    let folder = try TemporaryFolder()
    let link = folder.path + "/receiver"
    let first = try RuntimeScene(.m6, stateFolder: folder.path, link: link)
    try kill(first)
    try first.openAgain(.readOnly, stateFolder: folder.path + "/none")
    #expect(records(folder).count == 1)
    try #require(unsafe unlink(link) == 0)
    let scene = try RuntimeScene(.m6, intent: .identify, link: link)
    _ = scene.connect(first.device)
    #expect(scene.path != first.path)
    // By the node alone nothing shows that it is the same line.
    #expect(try !probe(scene, nil, folder))
    #expect(records(folder).count == 1)
    #expect(try probe(scene, link, folder))
    #expect(records(folder) == [])
  }

  @Test(
    "The record of a program that did not get the reply with the chip's id belongs to the receiver",
    arguments: [false, true])
  func withoutID(isMoved: Bool) throws {
    let folder = try TemporaryFolder()
    let scene = try RuntimeScene(.m9, stateFolder: folder.path)
    try kill(scene)
    let description = try #require(scene.connection.description)
    let names = CrashRecoverySettings.names(description)
    #expect(names.count == 2)
    let file = CrashRecoveryFile(stateFolder: folder.path, line: scene.path)
    let text = try #require(file.text)
    #expect(text.contains("of \(names[0])"))
    file.clear()
    #expect(try file.replace(with: text.replacing("of \(names[0])", with: "of \(names[1])")))
    // Another receiver was at the line meanwhile.
    if isMoved { #expect(file.keepOther(than: ["another"])) }
    #expect(records(folder).count == 1)
    try scene.openAgain(.readOnly, stateFolder: folder.path + "/none")
    #expect(try probe(scene, nil, folder))
    #expect(records(folder) == [])
  }

  @Test("Another receiver at the line neither gets nor removes the record, and has a record of its own")
  func replaced() throws {
    let folder = try TemporaryFolder()
    let scene = try RuntimeScene(.m9, seed: 1, stateFolder: folder.path)
    try kill(scene)
    let first = scene.connect(scene.device(.m9, seed: 2))
    #expect(try !probe(scene, nil, folder))
    #expect(records(folder).count == 1)
    try scene.openAgain(.serve, stateFolder: folder.path)
    try kill(scene)
    #expect(records(folder).count == 2)
    let second = scene.connect(first)
    #expect(try probe(scene, nil, folder))
    #expect(records(folder).count == 1)
    _ = scene.connect(second)
    #expect(try probe(scene, nil, folder))
    #expect(records(folder) == [])
  }

  @Test(
    "The record of a receiver with an id is found at another line, unless its program runs", arguments: [false, true])
  func moved(isRunning: Bool) throws {
    let folder = try TemporaryFolder()
    let first = try RuntimeScene(.m9, seed: 1, stateFolder: folder.path)
    try kill(first)
    let scene = try RuntimeScene(.m9, seed: 3, stateFolder: folder.path)
    _ = scene.connect(first.device)
    if !isRunning { try first.openAgain(.readOnly, stateFolder: folder.path) }
    #expect(try probe(scene, nil, folder) != isRunning)
    #expect(records(folder).count == (isRunning ? 1 : 0))
  }
}
