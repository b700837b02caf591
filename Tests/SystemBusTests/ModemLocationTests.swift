// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LocationService

@Suite("The engine of a modem, switched by ModemManager")
struct ModemLocationTests {
  private static let path = "/org/freedesktop/ModemManager1/Modem/3"

  /// ModemManager with one modem.
  private struct Manager {
    var runs = true
    var ports = ["cdc-wdm0", "ttyUSB1", "ttyUSB2"]
    var enabled: Int64 = 1
    var capabilities: Int64 = 1 | 2 | 4 | 16
    var hasLocation = true
    /// The name and the text of the error of Setup.
    var refusal: (String, String)?
    var calls: [String] = []
    var isStored = true

    private var objects: BusValue {
      let ports = ports.map { BusValue.list([.text($0), .integer($0 == "ttyUSB1" ? 5 : 3)]) }
      var interfaces = [
        BusEntry(.text("org.freedesktop.ModemManager1.Modem"), .dictionary([BusEntry(.text("Ports"), .list(ports))]))
      ]
      if hasLocation {
        interfaces.append(
          BusEntry(
            .text("org.freedesktop.ModemManager1.Modem.Location"),
            .dictionary([
              BusEntry(.text("Enabled"), .integer(enabled)), BusEntry(.text("Capabilities"), .integer(capabilities)),
              BusEntry(.text("SignalsLocation"), .flag(true)),
            ])))
      }
      let other = BusEntry(
        .text("/org/freedesktop/ModemManager1/Modem/0"),
        .dictionary([
          BusEntry(
            .text("org.freedesktop.ModemManager1.Modem"),
            .dictionary([BusEntry(.text("Ports"), .list([.list([.text("ttyUSB11"), .integer(5)])]))]))
        ]))
      return .dictionary([other, BusEntry(.text(ModemLocationTests.path), .dictionary(interfaces))])
    }

    mutating func run(_ isOn: Bool, node: String = "/dev/ttyUSB1") -> ModemLocation.Outcome? {
      var location = ModemLocation(node: node)
      location.begin(isOn: isOn)
      isStored = false
      while let output = location.nextOutput() {
        switch output {
        case .changes: isStored = true
        case .ended(let outcome): return outcome
        case .call(let call):
          calls.append(call.member)
          location.receive(answer(call))
        }
      }
      return nil
    }

    private mutating func answer(_ call: BusCall) -> BusMessage {
      switch call.member {
      case "NameHasOwner": return BusMessage(.reply(call.token), [.flag(runs)])
      case "GetManagedObjects": return BusMessage(.reply(call.token), [objects])
      default:
        #expect(call.path == ModemLocationTests.path && isStored)
        guard refusal == nil, call.arguments.count == 2, case .uint32(let sources) = call.arguments[0],
          call.arguments[1] == .flag(true)
        else { return BusMessage(.refusal(call.token, name: refusal?.0 ?? "", text: refusal?.1 ?? "bad arguments")) }
        enabled = Int64(sources)
        return BusMessage(.reply(call.token))
      }
    }
  }

  @Test("The source unmanaged is added to the sources of other programs, and removed again")
  func switching() {
    var manager = Manager()
    #expect(manager.run(true) == .done && manager.enabled == 17)
    #expect(manager.run(true) == .done)
    #expect(manager.calls.count { $0 == "Setup" } == 1)
    #expect(manager.run(false) == .done && manager.enabled == 1)
  }

  @Test("Without ModemManager no call starts it; a modem with another port is another one")
  func absence() {
    var manager = Manager(runs: false)
    #expect(manager.run(true) == .absent && manager.calls == ["NameHasOwner"])
    manager = Manager()
    #expect(manager.run(true, node: "/dev/ttyUSB7") == .unlisted && !manager.calls.contains("Setup"))
  }

  @Test("A modem without the source, or whose port ModemManager reads, is refused with the next step")
  func refusals() {
    for (manager, cure) in [
      (Manager(capabilities: 7), "other programs"), (Manager(enabled: 5), "mmcli"),
      (Manager(hasLocation: false), "mmcli"),
      (Manager(refusal: ("org.freedesktop.ModemManager1.Error.Core.Unauthorized", "no")), "Device.Control"),
      (Manager(refusal: ("org.freedesktop.ModemManager1.Error.Core.WrongState", "not yet enabled")), "not yet enabled"),
    ] {
      var manager = manager
      guard case .refused(let reason)? = manager.run(true) else {
        Issue.record("not refused: \(cure)")
        return
      }
      #expect(reason.contains(cure), "\(reason)")
    }
  }

  @Test("Replies of any form end the attempt")
  func anyReplies() {
    let values: [BusValue] = [
      .flag(true), .integer(-1), .text("x"), .list([.list([])]), .dictionary([]),
      .dictionary([BusEntry(.integer(1), .flag(true))]),
      .dictionary([
        BusEntry(.text("a"), .dictionary([BusEntry(.text("org.freedesktop.ModemManager1.Modem"), .text("Ports"))]))
      ]),
    ]
    for first in values {
      for second in values {
        var location = ModemLocation(node: "/dev/ttyUSB1")
        location.begin(isOn: true)
        var (bodies, isEnded) = ([[first], [second], []], false)
        while let output = location.nextOutput() {
          if case .call(let call) = output {
            location.receive(BusMessage(.reply(call.token), bodies.isEmpty ? [] : bodies.removeFirst()))
          }
          if case .ended = output { isEnded = true }
        }
        #expect(isEnded)
      }
    }
  }
}
