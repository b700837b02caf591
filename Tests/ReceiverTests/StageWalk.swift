// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import ReceiverSimulator
import UBX

@testable import Receiver

/// A way through the stages of a session: how it begins, and what happens.
struct StageWalk {
  let name: String
  var model = ReceiverModel.m8
  var intent = SessionSettings.Intent.serve
  var line = SessionSettings.Line.serial
  var isKnown = false
  var portRate: UInt32?
  var readsDatabase = false
  var memory: SessionMemory?
  let run: (StageScene) -> Void

  static var all: [StageWalk] { beginnings + ends + losses + sleeps + cuts + timeouts }

  /// A receiver that was identified before, with a changed setting.
  private static func known(isChanged: Bool = true) -> SessionMemory {
    var memory = SessionMemory()
    var payload = Array("ROM CORE 3.01 (107888)".utf8)
    payload += [UInt8](repeating: 0, count: 30 - payload.count)
    payload += Array("00080000".utf8) + [0, 0]
    for text in ["FWVER=SPG 3.01", "PROTVER=18.00"] {
      payload += Array(text.utf8) + [UInt8](repeating: 0, count: 30 - text.utf8.count)
    }
    memory.description = ReceiverDescription(monVER: payload)
    if isChanged {
      memory.found = [.message(.cfgMSG, selector: [0x01, 0x07], .messageRate(0))]
    }
    return memory
  }

  /// Ways to each stage but `ended`.
  private static func way(
    to stage: SessionStage.Name, _ then: @escaping (StageScene) -> Void
  ) -> StageWalk {
    var walk = StageWalk(name: "to \(stage)") { scene in
      go(scene, to: stage)
      if scene.stage != stage { fatalError("\(scene.stage) instead of \(stage)") }
      then(scene)
    }
    switch stage {
    case .searching, .waking, .asleep, .storing, .steady, .configuring, .ended: break
    case .listening:
      walk.memory = known()
      walk.line = .bound
    case .identifying:
      walk.memory = known()
      walk.line = .bound
    case .changingRate, .restoringRate, .restoring, .restoringBackup: walk.portRate = 38_400
    case .readingDatabase:
      walk.readsDatabase = true
      walk.portRate = 38_400
    }
    return walk
  }

  private static func go(_ scene: StageScene, to stage: SessionStage.Name) {
    switch stage {
    case .searching, .ended: break
    // A known receiver that sends frames and no replies.
    case .listening:
      scene.receiveUBX()
      keepQuiet(scene) { $0.stage == .listening }
    case .identifying: scene.receiveUBX()
    // With a setting that was found, and has to be restored.
    case .configuring:
      scene.run(60) { $0.found > 0 }
    case .changingRate: scene.run(until: stage)
    case .steady: steady(scene)
    case .storing, .asleep:
      steady(scene)
      scene.sleep(60)
      scene.run(until: stage)
    case .waking:
      go(scene, to: .asleep)
      scene.skip(4)
      scene.wakeUp()
    case .readingDatabase, .restoring, .restoringRate, .restoringBackup:
      slept(scene)
      scene.finish()
      scene.run(until: stage)
    }
  }

  private static func steady(_ scene: StageScene) { scene.run(60) { $0.isSteady } }

  /// Battery-backed memory was written, and has to be restored.
  private static func slept(_ scene: StageScene) {
    steady(scene)
    scene.sleep(60)
    scene.run(until: .asleep)
    scene.run(5) { _ in false }
    scene.wakeUp()
    steady(scene)
  }

  /// CFG-RST is the last but one step of waking.
  private static func waitForReset(_ scene: StageScene) {
    scene.waitInSilence(60) { $0.sent.last?.starts(with: [0xB5, 0x62, 0x06, 0x04]) == true }
  }

  /// Time passes with frames, and without replies.
  private static func keepQuiet(_ scene: StageScene, until condition: (StageScene) -> Bool) {
    for _ in 0..<60 where !condition(scene) {
      scene.waitInSilence(1, until: condition)
      if !condition(scene) { scene.receiveUBX() }
    }
  }

  private static var beginnings: [StageWalk] {
    [
      StageWalk(name: "a whole life", portRate: 38_400) { scene in
        slept(scene)
        scene.set { $0.dynamicModel = .automotive }
        steady(scene)
        scene.finish()
        scene.run(until: .ended)
      },
      StageWalk(name: "evidence after listening") { scene in
        scene.receiveSentence()
        scene.receiveUBX()
      },
      StageWalk(name: "a silent known receiver", line: .withoutRate(nil), isKnown: true) { $0.waitInSilence(30) },
      StageWalk(name: "a full line", intent: .identify) { scene in
        let sentence = Array("$GPTXT,01,01,02,ANTSTATUS=OK*3B\r\n".utf8)
        let text = [UInt8](repeatElement(sentence, count: 29).joined())
        var port = [UInt8](repeating: 0, count: 20)
        port[0] = 1
        for _ in 0..<60 where scene.stage != .changingRate {
          scene.waitInSilence(1)
          scene.receive(text)
          if scene.sent.last?.starts(with: [0xB5, 0x62, 0x06, 0x00]) == true {
            scene.receive(frameBytes(.cfgPRT, port))
          }
        }
        keepQuiet(scene) { $0.stage == .listening }
      },
    ]
  }

  /// Each stage that gives way to the end: with orbits to read, with settings to restore, with neither.
  private static var ends: [StageWalk] {
    var walks: [StageWalk] = []
    for stage in [SessionStage.Name.listening, .identifying, .configuring, .steady, .storing] {
      var orbits = way(to: stage) { scene in
        scene.finish()
        scene.run(until: .ended)
      }
      orbits.readsDatabase = true
      orbits.line = .withoutRate(.uart1)
      walks.append(orbits)
      walks.append(
        way(to: stage) { scene in
          scene.finish()
          scene.waitInSilence(20)
        })
      walks.append(
        way(to: stage) { scene in
          scene.restoreAtEnd(false)
          scene.finish()
          scene.run(until: .ended)
        })
    }
    walks.append(way(to: .searching) { $0.finish() })
    walks.append(
      StageWalk(name: "on/off operation, and silence", memory: known()) { scene in
        scene.set { $0.powerSave = .onOff(periodSeconds: 60) }
        scene.finish()
      })
    walks.append(
      way(to: .readingDatabase) { scene in
        scene.restoreAtEnd(false)
        scene.run(until: .ended)
      })
    return walks
  }

  /// Silence and garbage.
  private static var losses: [StageWalk] {
    var walks = [
      StageWalk(name: "silence while identifying", line: .bound, isKnown: true) { scene in
        scene.receiveUBX()
        scene.jump(20)
      },
      StageWalk(name: "silence while listening", line: .bound) { scene in
        scene.receiveSentence()
        scene.jump(20)
      },
    ]
    for stage in [SessionStage.Name.configuring, .steady, .storing] {
      walks.append(way(to: stage) { $0.jump(20) })
    }
    for stage in [SessionStage.Name.listening, .identifying, .configuring, .steady, .storing, .waking] {
      walks.append(
        way(to: stage) { scene in
          scene.skip(2)
          scene.receiveGarbage()
        })
    }
    walks.append(
      way(to: .asleep) { scene in
        scene.skip(10)
        scene.receiveGarbage()
      })
    return walks
  }

  private static var sleeps: [StageWalk] {
    var orbits = way(to: .waking) { scene in
      scene.receiveUBX()
      scene.restoreAtEnd(false)
      scene.finish()
      scene.waitInSilence(20)
    }
    orbits.readsDatabase = true
    orbits.line = .withoutRate(.uart1)
    return [
      orbits,
      way(to: .asleep) { scene in
        scene.waitInSilence(63) { $0.stage == .waking }
        scene.waitInSilence(60)
      },
      way(to: .asleep) { scene in
        scene.skip(60)
        scene.receiveUBX()
      },
      way(to: .asleep) { scene in
        for _ in 0..<4 {
          scene.skip(1)
          scene.receiveUBX()
        }
      },
      way(to: .asleep) { $0.finish() },
      way(to: .asleep) { scene in
        scene.restoreAtEnd(false)
        scene.finish()
      },
      way(to: .waking) { scene in
        waitForReset(scene)
        scene.finish()
        scene.waitInSilence(20)
      },
      way(to: .waking) { scene in
        waitForReset(scene)
        scene.set { $0.powerSave = .onOff(periodSeconds: 60) }
        scene.finish()
        scene.waitInSilence(20)
      },
    ]
  }

  private static var cuts: [StageWalk] {
    SessionStage.Name.allCases.filter { $0 != .ended }.map { stage in way(to: stage) { $0.lose() } }
  }

  private static var timeouts: [StageWalk] {
    SessionStage.Name.allCases.filter { ![.searching, .asleep, .ended].contains($0) }.map { stage in
      way(to: stage) { scene in
        if stage == .listening || stage == .steady { scene.submit() }
        scene.finish()
        scene.jump(30)
      }
    }
  }
}
