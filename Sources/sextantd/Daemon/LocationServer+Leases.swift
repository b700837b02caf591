// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Receiver
import ReceiverRuntime
import SerialPort
import SystemPackage

// The lending of receivers' lines to programs: org.sextant.Receivers.
extension LocationServer {
  func lease(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection) {
    guard call.kind == .single else { return connection.reply(id, .failure(.invalidParameter("more"))) }
    // A connection has at most one line: with a second one, the first would never be returned.
    if let lease = connection.lease {
      return connection.reply(id, .failure(.lent(receivers[lease.receiver].device, Lease.Holder(connection))))
    }
    guard let index = usableReceiver(call, id, connection) else { return }
    connection.lease = Lease(receiver: index, call: id)
    host.lend(receiver: index)
  }

  /// Returns the receiver that a call names, if the client may use it; otherwise replies with the refusal and returns nil.
  private func usableReceiver(
    _ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection
  ) -> Int? {
    let (device, isValid) = call.parameters.text("device")
    guard isValid else {
      connection.reply(id, .failure(.invalidParameter("device")))
      return nil
    }
    let index = receiver(named: device)
    let status = index.map { receivers[$0] }
    let refusal = Lease.refusal(
      status, device: device, isReadOnly: host.settings.isReadOnly,
      mayOpen: status.map { mayOpen($0, connection) } ?? false,
      group: status?.access?.permittedGroup.flatMap { Syscalls.groupName($0) }, holder: index.flatMap { holder(of: $0) }
    )
    if let index, refusal == nil { return index }
    connection.reply(id, .failure(refusal ?? .noReceiver(device)))
    return nil
  }

  /// The program that has the line of a receiver, or waits for it; nil if there is none.
  func holder(of receiver: Int) -> Lease.Holder? {
    allConnections.first { $0.lease?.receiver == receiver }.map {
      Lease.Holder($0)
    }
  }

  /// Passes the line to the program that waits for it, once the service's session is over.
  func completeLease(of connection: Connection, at now: Instant) {
    guard let lease = connection.lease, let call = lease.call, receivers.indices.contains(lease.receiver) else {
      return
    }
    let status = receivers[lease.receiver]
    guard status.use == .lent, now >= lease.retryAt ?? .zero else { return }
    guard let line = status.line else {
      return refuseLease(of: connection, call, .noReceiver(status.device))
    }
    do throws(SerialPortError) {
      connection.passed = try LentLine.open(line, pin: status.pin) { mayOpen($0, connection) }
      connection.keepLine()
    } catch {
      if case .held = error.cause, connection.lease?.waits(at: now) == true { return }
      let reason: JSON = [
        "device": .string(status.device), "reason": .string(error.description), "code": .integer(Int64(error.exitCode)),
      ]
      return refuseLease(of: connection, call, VarlinkError("org.sextant.Receivers.Unavailable", reason))
    }
    connection.lease?.call = nil
    let reply = JSON(omittingNil: [
      "device": status.device, "baud": status.baud, "recovery": recoveryFile(of: lease.receiver)?.text,
    ])
    connection.reply(call, .success(reply))
    log("\(status.device) is lent to \(holder(of: lease.receiver)?.text ?? "")", of: connection)
  }

  private func refuseLease(of connection: Connection, _ call: VarlinkServerConnection.CallID, _ error: VarlinkError) {
    connection.reply(call, .failure(error))
    endLease(of: connection)
  }

  /// Takes the line back from a program that has ended.
  func endLease(of connection: Connection) {
    guard let lease = connection.lease else { return }
    connection.lease = nil
    if let line = connection.keptLine.take() { LentLine.end(line) }
    if !gpsd.removed.contains(lease.receiver) { host.takeBack(receiver: lease.receiver) }
  }

  /// Stores the crash-recovery record of a program that has a line: if the program is killed, the service restores the
  /// receiver.
  func keepRecovery(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection) {
    guard let lease = connection.lease, lease.call == nil else {
      return connection.reply(id, .failure(VarlinkError("org.sextant.Receivers.NotLent")))
    }
    let file = recoveryFile(of: lease.receiver)
    do throws(FileError) {
      switch call.parameters["recovery"] {
      case nil, .null?: file?.clear()
      case .string(let text)? where try file?.replace(with: text) != false: break
      default: return connection.reply(id, .failure(.invalidParameter("recovery")))
      }
    } catch {
      log("the crash-recovery record of a program cannot be written: \(error)", of: connection)
    }
    connection.reply(id, .success(.empty))
  }

  /// Passes a measurement of an odometer to a receiver. One that sleeps, or is not in use, gets none.
  func feed(_ call: VarlinkCall, _ id: VarlinkServerConnection.CallID, _ connection: Connection, at now: Instant) {
    guard let index = usableReceiver(call, id, connection) else { return }
    let status = receivers[index]
    if case .identified(let receiver) = status.identity, !receiver.hasSensorFusion {
      let reason: JSON = [
        "device": .string(status.device), "code": .integer(Int64(SystemExitCode.unavailable.rawValue)),
        "reason": .string(
          "\(receiver.model ?? "the receiver") has no dead reckoning; use one such as ZED-F9R or NEO-M8L"),
      ]
      return connection.reply(id, .failure(VarlinkError("org.sextant.Receivers.Unavailable", reason)))
    }
    guard case .object(let members)? = call.parameters["odometer"],
      let measurement = try? OdometerMeasurement(
        members.map(\.name), { call.parameters["odometer"]?[$0]?.numberOrFlag })
    else { return connection.reply(id, .failure(.invalidParameter("odometer"))) }
    let isMeasuring = index == 0 ? host.powerStatus.isMeasuring : status.isOpen
    let milliseconds = now.milliseconds(since: .zero)
    // Several programs together do not exceed the pace of one.
    if isMeasuring, status.use == .served, odometers[index, default: OdometerPacing()].admits(at: milliseconds) {
      gpsd.commands[index, default: []].append(.send(measurement.frame(at: milliseconds)))
    }
    connection.reply(id, .success(.empty))
  }

  private func recoveryFile(of receiver: Int) -> CrashRecoveryFile? {
    guard let folder = host.settings.stateFolder, let line = receivers[receiver].line else { return nil }
    return CrashRecoveryFile(stateFolder: folder, line: line)
  }
}

extension Lease.Holder {
  fileprivate init(_ connection: Connection) {
    self.init(name: connection.peer.executableName, process: connection.credentials.process)
  }
}
