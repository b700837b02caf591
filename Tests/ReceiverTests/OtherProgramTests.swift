// SPDX-License-Identifier: Apache-2.0
import HostSimulator
import MonotonicTime
import TestSupport
import Testing

@testable import Receiver
@testable import ReceiverSimulator

/// What other programs, and interrupted ones, leave behind at receivers of other makers.
@Suite("Receivers of other makers after other programs")
struct OtherProgramTests {
  private typealias Host<Device: FamilyDevice> = VirtualHost<SessionLog, FamilyLine<Device>>

  private static func text<Line>(_ scene: VirtualHost<SessionLog, Line>) -> String {
    String(decoding: scene.writes.flatMap(\.bytes), as: UTF8.self)
  }

  // MARK: A stopped engine

  @Test(
    "An engine that another program stopped is started, as the receiver replies without it",
    arguments: [SessionSettings.Intent.identify, .serve])
  func stoppedEngine(_ intent: SessionSettings.Intent) {
    let scene = SessionScene(.ag3352, hostRate: 115_200, intent: intent) { $0.desired = { _ in .nothing } }
    scene.line.send(Command(sentence: "PAIR003").bytes, at: scene.now)
    scene.kill(for: 3000) { _ in }
    #expect(scene.run(60) { $0.isSteady && $0.description != nil })
    #expect(scene.fixes.isEmpty && Self.text(scene).contains("PAIR002"))
    scene.run(5)
    #expect(scene.fixes.count > 2)
  }

  @Test("A receiver that sends gets no command for that")
  func runningEngine() {
    let scene = SessionScene(.ag3352) { $0.desired = { _ in .nothing } }
    scene.run(60)
    #expect(scene.isSteady && !Self.text(scene).contains("PAIR002"))
  }

  @Test("Only Airoha's command does nothing to an engine that runs", arguments: ReceiverFamily.allCases)
  func start(_ family: ReceiverFamily) {
    #expect((family.language?.engineStart != nil) == (family == .airoha))
  }

  // MARK: An interrupted save

  private static func saving() throws -> (scene: Host<PAIRDevice>, ticket: SessionTicket) {
    var device = PAIRDevice()
    (device.firmware, device.period) = ("LC29HEANR11A03S", 200)
    let scene = Host(family: device, intent: .identify)
    scene.run(60) { $0.isSteady }
    let ticket = try #require(scene.withSession { $0.perform([.act(.save)], at: scene.now) })
    return (scene, ticket)
  }

  @Test("The end of a program waits until an engine that was stopped for a save runs again", arguments: 0..<12)
  func interruptedSave(_ place: UInt64) throws {
    let (scene, ticket) = try Self.saving()
    scene.run(Double(place) * 0.07)
    let isStopped = scene.line.device.isEngineStopped
    scene.finish()
    #expect(!scene.line.device.isEngineStopped && scene.read { $0.isEnded } == true)
    if isStopped { #expect(scene.machine.outcomes[ticket] == .performed([.written])) }
  }

  @Test("The next program starts an engine whose program was killed")
  func killedSave() throws {
    let (scene, _) = try Self.saving()
    scene.run(5) { $0.line.device.isEngineStopped }
    scene.kill(for: Milliseconds(300))
    scene.run(30) { $0.isSteady }
    #expect(!scene.line.device.isEngineStopped)
  }

  // MARK: Sentences

  @Test(
    "Sentences that another program switches off during a session are switched on again",
    arguments: [ReceiverModel.mt3339, .mt3333, .ag3352, .at6558, .at6668, .lg290p, .tau1201, .teseo])
  func switchedOff(_ model: ReceiverModel) {
    let scene = SessionScene(model) { $0.desired = { .navigation(for: $0) } }
    #expect(scene.run(90) { $0.isSteady && $0.positions.count > 10 })
    scene.line.send(SilentFamilyTests.switchingOff(model), at: scene.now)
    scene.run(10)
    let count = scene.positions.count
    #expect(scene.run(60) { $0.positions.count > count + 5 }, "\(model): \(scene.reports.suffix(6))")
    #expect(scene.reported(.silent) == 1)
    scene.run(60)
    #expect(scene.reported(.silent) == 1 && scene.reported(.back) == 1, "\(model)")
  }

  @Test("A receiver that replies, and whose sentences stay off, is not called silent again and again")
  func staysOff() {
    let scene = Host(family: PMTKDevice()) { $0.desired = { .navigation(for: $0) } }
    scene.run(60) { $0.isSteady }
    scene.run(20)
    scene.line.device.refused = ["314": 2]
    scene.line.device.flags = [Int](repeating: 0, count: 19)
    scene.run(300)
    #expect(scene.reported(.silent) == 1 && scene.reported(.withoutPositions) >= 1, "\(scene.reports)")
  }

  // MARK: A line with an echo

  @Test(
    "Requests of the session that come back prove no family and no rate, and are not the receiver's frames",
    arguments: [SessionSettings.Intent.identify, .serve])
  func echo(_ intent: SessionSettings.Intent) {
    func check<Device: FamilyDevice>(_ device: Device, _ family: ReceiverFamily?) {
      let scene = VirtualHost<SessionLog, FamilyLine<Device>>(family: device, intent: intent) {
        $0.desired = { _ in .nothing }
      }
      scene.line.echoes = true
      scene.run(90) { family != nil && $0.read { $0.isSteady } == true }
      #expect(scene.read { $0.description }?.family == family, "\(device): \(scene.reports)")
      #expect(scene.read { $0.counters.ubxFrames } == 0 && scene.line.hostRate == device.rate, "\(device)")
      #expect(scene.reported(.notIdentified(isOtherVendor: true)) == 0, "\(device)")
      if family == nil { #expect(scene.read { $0.family } == .some(nil), "\(device)") }
    }
    check(SilentDevice(), nil)
    check(PMTKDevice(), .mediaTek)
    check(PSTMDevice(), .teseo)
    check(PCASDevice(), .casic)
    check(PAIRDevice(), .airoha)
    check(FirebirdDevice(model: "UC6580I-00"), .firebird)
    var silent = PMTKDevice()
    (silent.rate, silent.flags) = (115_200, [Int](repeating: 0, count: 19))
    check(silent, .mediaTek)
  }

  // MARK: A request that waits in the line

  @Test(
    "A request of another program that waits in the line says nothing about the maker",
    arguments: ["PSTMGETSWVER,6", "PMTK605", "PAIR021", "PCAS06,0", "PQTMVERNO", "PDTINFO"],
    [SessionSettings.Intent.identify, .serve])
  func waitingRequest(_ request: String, _ intent: SessionSettings.Intent) {
    for isPMTK in [true, false] {
      func check<Device: FamilyDevice>(_ device: Device, _ family: ReceiverFamily) {
        let scene = Host(family: device, intent: intent)
        scene.line.wait(Array("\n".utf8) + Wire.nmea(request))
        scene.run(60) { $0.isSteady }
        #expect(scene.read { $0.description }?.family == family, "\(scene.reports)")
        #expect(scene.reported(.notIdentified(isOtherVendor: true)) == 0)
      }
      if isPMTK { check(PMTKDevice(), .mediaTek) } else { check(PSTMDevice(), .teseo) }
    }
  }
}

/// A Teseo that replies to queries of its version.
struct PSTMDevice: FamilyDevice {
  var rate: UInt32 { 9600 }
  var period: Int { 1000 }
  var isAsleep = false

  func epoch() -> [String] { Self.sentences(["GGA", "RMC"]) }

  mutating func receive(_ body: String) -> [String] {
    body.hasPrefix("PSTMGETSWVER") ? ["PSTMVER,BINIMG_STA8090_4.6.8.5.9_ARM"] : []
  }
}
