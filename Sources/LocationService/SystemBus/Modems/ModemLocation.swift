// SPDX-License-Identifier: Apache-2.0

/// The GNSS engine of a modem that ModemManager has, switched through its interface
/// org.freedesktop.ModemManager1.Modem.Location (ModemManager, introspection/): `Setup` with the source "unmanaged", so
/// that ModemManager switches the engine and this program reads the NMEA port.
///
///     begin ─ does it run? ─ no ─▶ ended(.absent)
///               └─ its modems ─ none has the port ─▶ ended(.unlisted)
///                     └─ as wanted ─▶ ended(.done)    └─ other ─▶ Setup ─▶ ended(.done), ended(.refused)
///
/// The service is asked for by name first, because a call to it would start it.
package struct ModemLocation: Sendable {
  package enum Outcome: Equatable, Sendable {
    /// ModemManager does not run.
    case absent
    /// It runs, and none of its modems has the port: it ignores the modem, or has not finished probing it.
    case unlisted
    case done
    /// The reason, with the next step.
    case refused(String)
  }

  package enum Output: Equatable, Sendable {
    case call(BusCall)
    /// The engine is switched next; whether it was on before.
    case changes(wasOn: Bool)
    case ended(Outcome)
  }

  private enum Step: Equatable, Sendable { case idle, owner, modems, setup }

  // MMModemLocationSource of ModemManager-enums.h.
  private static let managed: UInt32 = 1 << 1 | 1 << 2
  private static let unmanaged: UInt32 = 1 << 4
  private static let destination = "org.freedesktop.ModemManager1"
  private static let modem = "org.freedesktop.ModemManager1.Modem"
  private static let location = "org.freedesktop.ModemManager1.Modem.Location"

  private let port: String
  /// Whether the engine shall be on.
  private var isWanted = false
  private var step = Step.idle
  private var number = 0
  private var outputs: [Output] = []

  /// - Parameter node: the node that sends NMEA, such as /dev/ttyUSB1.
  package init(node: String) { port = String(node.split(separator: "/").last ?? "") }

  package mutating func nextOutput() -> Output? { outputs.isEmpty ? nil : outputs.removeFirst() }

  /// Begins to switch the engine, on a connection that was just made.
  package mutating func begin(isOn: Bool) {
    isWanted = isOn
    outputs.removeAll()
    call(
      .owner, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
      [.text(Self.destination)])
  }

  /// Handles a message of the bus.
  package mutating func receive(_ message: BusMessage) {
    switch message.kind {
    case .reply(let token) where isCurrent(token): answered(message.body)
    case .refusal(let token, let name, let text) where isCurrent(token): refused(name, text)
    case .reply, .refusal, .signal: break
    }
  }

  private func isCurrent(_ token: BusToken) -> Bool {
    step != .idle && token == BusToken(.modems, number)
  }

  private mutating func answered(_ body: [BusValue]) {
    switch step {
    case .idle: break
    case .owner:
      guard body.first?.flag == true else { return end(.absent) }
      call(
        .modems, Self.destination, "/org/freedesktop/ModemManager1", "org.freedesktop.DBus.ObjectManager",
        "GetManagedObjects", [])
    case .modems: listed(body.first?.entries ?? [])
    case .setup: end(.done)
    }
  }

  private mutating func refused(_ name: String, _ text: String) {
    switch step {
    case .idle: break
    // It ended between the two calls.
    case .owner, .modems: end(.absent)
    case .setup:
      let isForbidden = name.hasSuffix(".Unauthorized") || name.hasSuffix(".AccessDenied")
      let cure = isForbidden ? "; polkit has to grant org.freedesktop.ModemManager1.Device.Control to its user" : ""
      end(.refused("ModemManager does not switch the GNSS engine: \(text)\(cure)"))
    }
  }

  private mutating func listed(_ objects: [BusEntry]) {
    guard let object = objects.first(where: { hasPort($0.value) }), let path = object.key.text else {
      return end(.unlisted)
    }
    guard let location = object.value[Self.location], let sources = Self.sources(location["Enabled"]) else {
      return end(.refused("ModemManager offers no location of this modem; enable it with `mmcli -m any --enable`"))
    }
    let isOn = sources & Self.unmanaged != 0
    if isOn == isWanted { return end(.done) }
    guard !isWanted || (Self.sources(location["Capabilities"]) ?? 0) & Self.unmanaged != 0 else {
      return end(.refused("ModemManager cannot leave the NMEA port of this modem to other programs"))
    }
    guard !isWanted || sources & Self.managed == 0 else {
      return end(
        .refused(
          "ModemManager reads the NMEA port itself; `mmcli -m any --location-disable-gps-nmea "
            + "--location-disable-gps-raw` leaves it to this program"))
    }
    outputs.append(.changes(wasOn: isOn))
    let signals = location["SignalsLocation"]?.flag ?? false
    call(
      .setup, Self.destination, path, Self.location, "Setup",
      [.uint32(isWanted ? sources | Self.unmanaged : sources & ~Self.unmanaged), .flag(signals)])
  }

  private static func sources(_ value: BusValue?) -> UInt32? { value?.integer.flatMap { UInt32(exactly: $0) } }

  /// Whether an object is the modem with the port. Its ports are pairs of a name and a type.
  private func hasPort(_ object: BusValue) -> Bool {
    guard case .list(let ports)? = object[Self.modem]?["Ports"] else { return false }
    return ports.contains { pair in
      guard case .list(let values) = pair else { return false }
      return values.first?.text == port
    }
  }

  private mutating func call(
    _ step: Step, _ destination: String, _ path: String, _ interface: String, _ member: String,
    _ arguments: [BusCall.Argument]
  ) {
    self.step = step
    number &+= 1
    outputs.append(
      .call(BusCall(BusToken(.modems, number), destination, path, interface, member, arguments)))
  }

  private mutating func end(_ outcome: Outcome) {
    step = .idle
    outputs.append(.ended(outcome))
  }
}
