// SPDX-License-Identifier: Apache-2.0
import MonotonicTime
import TestSupport
import Testing

@testable import SerialPort

@Suite("A receiver that is unplugged and returns")
struct ReconnectPolicyTests {
  private let eACCES: Int32 = 13
  private let eBUSY: Int32 = 16
  private let eNOENT: Int32 = 2
  private let eNXIO: Int32 = 6

  @Test("A receiver is opened when it is plugged in, and not before")
  func firstPlug() {
    var scene = Scene(.firstReceiver)
    #expect(scene.pass(60_000) == 0)
    scene.plug(.receiver("/dev/ttyACM0"))
    #expect(scene.opened == ["/dev/ttyACM0"])
    #expect(scene.reconnectPolicy.port?.node == "/dev/ttyACM0")
    #expect(scene.reports == [])
  }

  @Test("The most likely of several is opened, and never an Arduino board")
  func plausible() {
    #expect(Scene(.firstReceiver, [.arduino("/dev/ttyACM0")]).opened == [])
    #expect(Scene(.firstReceiver, [.arduino("/dev/ttyACM0"), .receiver("/dev/ttyACM1")]).opened == ["/dev/ttyACM1"])
    #expect(Scene(.firstReceiver, [.receiver("/dev/ttyACM1"), .gnss("/dev/gnss0")]).opened == ["/dev/gnss0"])
  }

  @Test("A named port is opened, even an Arduino board")
  func named() {
    #expect(Scene(.path("/dev/ttyACM0"), [.arduino("/dev/ttyACM0")]).opened == ["/dev/ttyACM0"])
  }

  @Test("A receiver that returns under another name is opened again, with one report each")
  func anotherName() {
    let first = DeviceAttributes.receiver("/dev/ttyACM0", serialNumber: "A1")
    var scene = Scene(.path("/dev/ttyACM0"), [first])
    scene.pass(5000)
    scene.hangUp()
    scene.unplug(first)
    #expect(scene.pass(3_600_000) <= 1)
    scene.plug(.receiver("/dev/ttyACM1", serialNumber: "A1"))
    #expect(scene.opened == ["/dev/ttyACM0", "/dev/ttyACM1"])
    #expect(
      scene.reports == [
        "/dev/ttyACM0: the receiver is gone; waiting for it to come back",
        "/dev/ttyACM1: the receiver is back (it was /dev/ttyACM0)",
      ])
  }

  @Test("udev's message before the hang-up closes the port")
  func removeFirst() {
    let receiver = DeviceAttributes.receiver("/dev/ttyACM0")
    var scene = Scene(.firstReceiver, [receiver])
    scene.pass(5000)
    scene.unplug(receiver)
    #expect(scene.closed == ["/dev/ttyACM0"])
    scene.hangUp()
    scene.plug(receiver)
    #expect(scene.opened.count == 2)
    #expect(scene.reports.count == 2)
  }

  @Test("A node that still exists at the hang-up is not opened at once")
  func hangUpFirst() {
    let receiver = DeviceAttributes.receiver("/dev/ttyACM0")
    var scene = Scene(.firstReceiver, [receiver])
    scene.pass(5000)
    scene.errors["/dev/ttyACM0"] = eNXIO
    scene.hangUp()
    #expect(scene.tries.count == 1)
    scene.pass(50)
    scene.unplug(receiver)
    #expect(scene.pass(60_000) <= 1)
    #expect(scene.tries.count == 1)
  }

  @Test("A lost removal message costs one attempt every second or two, and no return")
  func removeLost() {
    let before = DeviceAttributes.receiver("/dev/ttyACM0", serialNumber: "A1")
    var scene = Scene(.firstReceiver, [before])
    scene.pass(5000)
    scene.errors["/dev/ttyACM0"] = eNOENT
    scene.hangUp()
    #expect(scene.pass(60_000) < 60)
    #expect(scene.reports.count == 1)
    scene.plug(.receiver("/dev/ttyACM1", serialNumber: "A1"))
    #expect(scene.opened == ["/dev/ttyACM0", "/dev/ttyACM1"])
  }

  @Test("Of two nodes with lost removal messages, the most recently reported one is opened")
  func removalsLost() {
    var scene = Scene(.firstReceiver)
    for round in 0..<6 {
      let node = "/dev/ttyACM\(round % 2)"
      scene.errors[node] = nil
      // From the third round on the node is known to the monitor.
      scene.report(round < 2 ? .added : .changed, .receiver(node, serialNumber: "A1"))
      #expect(scene.opened.count == round + 1 && scene.opened.last == node)
      scene.pass(5000)
      scene.errors[node] = eNOENT
      scene.hangUp()
      scene.pass(5000)
    }
  }

  @Test("A line that hung up and is still present is opened again")
  func onlyHangUp() {
    var scene = Scene(.firstReceiver, [.receiver("/dev/ttyACM0")])
    scene.pass(5000)
    scene.hangUp()
    scene.pass(2000)
    #expect(scene.opened.count == 2)
  }

  @Test("A node without permission is retried without a report until udev has set its group")
  func permissionFollows() {
    var scene = Scene(.firstReceiver)
    scene.errors["/dev/ttyACM0"] = eACCES
    scene.plug(.receiver("/dev/ttyACM0"))
    scene.pass(300)
    scene.errors = [:]
    scene.pass(500)
    #expect(scene.opened == ["/dev/ttyACM0"])
    #expect(scene.tries.count <= 5)
    #expect(scene.reports == [])
  }

  @Test("A port is retried at udev's message of a change")
  func permissionIsReported() {
    var scene = Scene(.firstReceiver)
    scene.errors["/dev/ttyACM0"] = eACCES
    scene.plug(.receiver("/dev/ttyACM0"))
    scene.pass(10_000)
    scene.errors = [:]
    scene.report(.changed, .receiver("/dev/ttyACM0"))
    #expect(scene.opened == ["/dev/ttyACM0"])
  }

  @Test(
    "A port that stays held or forbidden is reported once, and opened when it is free", arguments: [13, 16] as [Int32])
  func held(code: Int32) {
    var scene = Scene(.firstReceiver)
    scene.errors["/dev/ttyACM0"] = code
    scene.plug(.receiver("/dev/ttyACM0"))
    let wakes = scene.pass(3_600_000)
    #expect(wakes < 3600)
    #expect(scene.reports == ["/dev/ttyACM0: error \(code); trying again"])
    scene.errors = [:]
    scene.pass(2000)
    #expect(scene.opened == ["/dev/ttyACM0"])
    #expect(scene.reports.last == "/dev/ttyACM0: open again")
  }

  @Test("Each of two equal receivers is recognised by its socket, under any name")
  func twoEqual() {
    let one = DeviceAttributes.receiver("/dev/ttyACM0", socket: "1")
    let other = DeviceAttributes.receiver("/dev/ttyACM1", socket: "2")
    var scene = Scene(.path("/dev/ttyACM0"), [one, other])
    scene.pass(5000)
    // A hub that is switched off and on: both return, in the other order.
    scene.hangUp()
    scene.unplug(one)
    scene.unplug(other)
    scene.pass(500)
    scene.plug(.receiver("/dev/ttyACM0", socket: "2"))
    #expect(scene.opened == ["/dev/ttyACM0"])
    scene.plug(.receiver("/dev/ttyACM1", socket: "1"))
    #expect(scene.opened == ["/dev/ttyACM0", "/dev/ttyACM1"])
  }

  @Test("The other of two equal receivers is not a substitute while the lost one may return")
  func noHastySubstitute() {
    let one = DeviceAttributes.receiver("/dev/ttyACM0", socket: "1")
    let other = DeviceAttributes.receiver("/dev/ttyACM1", socket: "2")
    var scene = Scene(.firstReceiver, [one, other])
    #expect(scene.opened == ["/dev/ttyACM0"])
    scene.pass(5000)
    scene.hangUp()
    scene.unplug(one)
    scene.pass(2000)
    #expect(scene.opened.count == 1)
    scene.pass(2000)
    #expect(scene.opened.last == "/dev/ttyACM1")
    #expect(scene.reports.last == "/dev/ttyACM1: another receiver (u-blox 8 or M8) in place of /dev/ttyACM0")
  }

  @Test("A named receiver is not replaced by another")
  func namedIsNotReplaced() {
    let one = DeviceAttributes.receiver("/dev/ttyACM0", serialNumber: "A1")
    var scene = Scene(.path("/dev/ttyACM0"), [one, .receiver("/dev/ttyACM1", socket: "2", serialNumber: "B2")])
    scene.pass(5000)
    scene.hangUp()
    scene.unplug(one)
    scene.pass(60_000)
    #expect(scene.opened == ["/dev/ttyACM0"])
  }

  @Test("Of two receivers with one serial number, the one present before the loss is not the lost one")
  func sameSerialNumber() {
    let one = DeviceAttributes.receiver("/dev/ttyACM0", socket: "1", serialNumber: "SAME")
    let sameModel = DeviceAttributes.receiver("/dev/ttyACM1", socket: "2", serialNumber: "SAME")
    var scene = Scene(.path("/dev/ttyACM0"), [one, sameModel])
    scene.pass(5000)
    scene.hangUp()
    scene.unplug(one)
    scene.pass(1000)
    #expect(scene.opened.count == 1)
    scene.plug(one)
    #expect(scene.opened == ["/dev/ttyACM0", "/dev/ttyACM0"])
  }

  @Test("A modem under the named node is not opened; a receiver there is opened after a while")
  func namedNodeIsTaken() {
    let before = DeviceAttributes.receiver("/dev/ttyACM0", serialNumber: "A1")
    var scene = Scene(.path("/dev/ttyACM0"), [before])
    scene.pass(5000)
    scene.unplug(before)
    scene.plug(.arduino("/dev/ttyACM0"))
    scene.pass(60_000)
    #expect(scene.opened.count == 1)
    scene.unplug(.arduino("/dev/ttyACM0"))
    scene.plug(.receiver("/dev/ttyACM0", socket: "3", serialNumber: "C3"))
    #expect(scene.opened.count == 2)
    #expect(scene.reports.last?.contains("another receiver") == true)
  }

  @Test("An open receiver stays open if a more likely one appears")
  func stays() {
    var scene = Scene(.firstReceiver, [.receiver("/dev/ttyACM0")])
    scene.plug(.gnss("/dev/gnss0"))
    scene.pass(60_000)
    #expect(scene.opened == ["/dev/ttyACM0"])
  }

  @Test("A receiver without a serial number is recognised at another socket")
  func moved() {
    let before = DeviceAttributes.receiver("/dev/ttyACM0", socket: "1")
    var scene = Scene(.firstReceiver, [before])
    scene.pass(5000)
    scene.hangUp()
    scene.unplug(before)
    scene.pass(60_000)
    scene.plug(.receiver("/dev/ttyACM0", socket: "4"))
    #expect(scene.opened.count == 2)
    #expect(scene.reports.last == "/dev/ttyACM0: the receiver is back at another socket")
  }

  @Test("A link by path is a socket: a receiver at another socket does not match")
  func linkByPath() {
    let before = DeviceAttributes.receiver("/dev/ttyACM0", socket: "1")
    var scene = Scene(.path("/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0"), [before])
    #expect(scene.opened == ["/dev/ttyACM0"])
    scene.pass(5000)
    scene.hangUp()
    scene.unplug(before)
    scene.plug(.receiver("/dev/ttyACM0", socket: "4"))
    scene.pass(60_000)
    #expect(scene.opened.count == 1)
    scene.plug(.receiver("/dev/ttyACM1", socket: "1"))
    #expect(scene.opened.last == "/dev/ttyACM1")
  }

  @Test("A link by id is followed to any node")
  func linkByID() {
    let link = "/dev/serial/by-id/usb-u-blox_GNSS_receiver-if00"
    let before = DeviceAttributes.receiver("/dev/ttyACM0", socket: "1")
    var scene = Scene(.path(link), [before])
    scene.pass(5000)
    scene.unplug(before)
    scene.plug(.receiver("/dev/ttyACM3", socket: "2"))
    #expect(scene.opened == ["/dev/ttyACM0", "/dev/ttyACM3"])
  }

  @Test("A path without udev attributes is tried twice a second")
  func unknownPath() {
    var scene = Scene(.path("/tmp/receiver"))
    #expect(scene.opened == ["/tmp/receiver"])
    scene.pass(5000)
    scene.errors["/tmp/receiver"] = eNOENT
    scene.hangUp()
    let wakes = scene.pass(60_000)
    #expect(100...125 ~= wakes)
    #expect(scene.reports == ["/tmp/receiver: the receiver is gone; waiting for it to come back"])
    scene.errors = [:]
    scene.pass(500)
    #expect(scene.opened.count == 2)
    #expect(scene.reports.last == "/tmp/receiver: open again")
  }

  @Test(
    "The return of an absent device that udev reports is awaited, with a check every ten seconds",
    arguments: [
      "/dev/ttyACM0", "/dev/ttyUSB0", "/dev/ttyS3", "/dev/ttyAMA0", "/dev/gnss0", "/dev/gnss/by-id/UBX-1",
      "/dev/serial/by-id/usb-u-blox_GNSS_receiver-if00",
    ])
  func awaited(path: String) {
    for source in [MonitorSource.udev, .kernel, .polling] {
      var scene = Scene(.path(path), monitor: source, errors: [path: eNOENT])
      scene.pass(5000)
      #expect(scene.reports == ["\(path): error 2; trying again"])
      let wakes = scene.pass(60_000)
      #expect(source == .udev ? 6...6 ~= wakes : 100...125 ~= wakes, "\(source): \(wakes)")
      // The check finds a node whose message was lost.
      scene.errors = [:]
      scene.pass(10_000)
      #expect(scene.opened == [path])
    }
    var scene = Scene(.path(path), monitor: .udev, errors: [path: eNOENT])
    scene.pass(65_000)
    var plugged = DeviceAttributes.receiver("/dev/ttyACM0")
    plugged.links.append(path)
    scene.errors = [:]
    scene.plug(plugged)
    #expect(scene.opened.count == 1)
  }

  @Test(
    "A path that udev does not report, and a device that is present, are tried more often",
    arguments: [
      ("/dev/ttyGNSS", 2), ("/tmp/receiver", 2), ("/dev/pts/3", 2), ("/dev/ttyACM0", 13), ("/dev/ttyACM0", 16),
    ] as [(String, Int32)])
  func notAwaited(path: String, errno: Int32) {
    var scene = Scene(.path(path), monitor: .udev, errors: [path: errno])
    scene.pass(5000)
    #expect(100...125 ~= scene.pass(60_000))
  }

  @Test("A node of the kernel's GNSS class returns by its link")
  func gnssClass() {
    var scene = Scene(.path("/dev/gnss0"), [.gnss("/dev/gnss0")])
    scene.pass(5000)
    scene.unplug(.gnss("/dev/gnss0"))
    #expect(scene.closed == ["/dev/gnss0"])
    scene.plug(.gnss("/dev/gnss1"))
    #expect(scene.opened == ["/dev/gnss0", "/dev/gnss1"])
  }

  @Test("A port that hangs up as soon as it is open is not opened in a loop")
  func flapping() {
    var scene = Scene(.firstReceiver, [.receiver("/dev/ttyACM0")])
    for _ in 0..<1000 {
      scene.hangUp()
      scene.pass(100)
    }
    // 100 seconds: at most one opening every five seconds, apart from the first ones.
    #expect(scene.opened.count < 30)
    #expect(scene.reports.count < 12)
  }

  @Test("A loose cable is reported a few times, and then as loose")
  func looseCable() {
    let receiver = DeviceAttributes.receiver("/dev/ttyACM0")
    var scene = Scene(.firstReceiver, [receiver])
    for _ in 0..<100 {
      scene.pass(250)
      scene.unplug(receiver)
      scene.pass(250)
      scene.plug(receiver)
    }
    #expect(scene.opened.count == 101)
    #expect(scene.reports.count { $0.contains("disconnects repeatedly") } == 1)
    #expect(scene.reports.count <= 8)
  }

  @Test(
    "Arbitrary events in any state: one port at a time is open, few wake-ups, and at the end the receiver is served")
  func anyOrder() {
    for seed in 1...200 as ClosedRange<UInt64> {
      var random = SeededRandomNumberGenerator(seed: seed)
      let one = DeviceAttributes.receiver("/dev/ttyACM0", socket: "1")
      let other = DeviceAttributes.receiver("/dev/ttyACM1", socket: "2", serialNumber: "B2")
      var scene = Scene(Bool.random(using: &random) ? .firstReceiver : .path("/dev/ttyACM0"))
      for _ in 0..<50 {
        let attributes = Bool.random(using: &random) ? one : other
        switch Int.random(in: 0..<7, using: &random) {
        case 0: scene.plug(attributes)
        case 1: scene.unplug(attributes)
        case 2: scene.report(.changed, attributes)
        case 3: scene.hangUp()
        case 4: scene.errors[attributes.node] = [eNOENT, eACCES, eBUSY, eNXIO].randomElement(using: &random)
        case 5: scene.errors = [:]
        default: #expect(scene.pass(UInt64.random(in: 1...5000, using: &random)) < 150)
        }
      }
      scene.errors = [:]
      scene.unplug(one)
      scene.unplug(other)
      scene.plug(one)
      scene.plug(other)
      scene.pass(10_000)
      #expect(scene.reconnectPolicy.isOpen, "seed \(seed)")
      #expect(scene.reconnectPolicy.port?.node == scene.openPath, "seed \(seed)")
      #expect(scene.violations.isEmpty, "seed \(seed): \(scene.violations.first ?? "")")
    }
  }
}
