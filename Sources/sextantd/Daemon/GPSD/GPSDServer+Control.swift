// SPDX-License-Identifier: Apache-2.0
import GPSD
import Glibc
import LinuxIO
import LocationService
import Receiver
import ReceiverRuntime
import SerialPort

// The commands of gpsd's control socket. The service restores a removed receiver and closes its line, which other
// programs may open until the receiver is added again.
extension GPSDServer {
  /// The largest number of receivers served at the same time.
  static let receiverLimit = 16

  func apply(_ command: ControlCommand, of client: GPSDConnection) {
    let refusal: String? =
      switch command {
      case .add(let path): add(path, for: client)
      case .remove(let path): remove(path, for: client)
      case .sendText(let text, let path): sendText(text, to: path, for: client)
      case .sendBytes(let bytes, let path): number(at: path, for: client) { send(bytes, to: $0) }
      case .devices, .invalid: nil
      }
    client.client.replyToCommand(refusal: refusal)
  }

  /// Makes the service use a device. Returns the reason why it cannot; nil if it does.
  private func add(_ path: String, for client: GPSDConnection) -> String? {
    if let number = known(path) {
      guard mayOpen(receivers[number].access, client) else { return Self.notPermitted(path) }
      guard removed.remove(number) != nil else { return "\(path) is in use by the service already" }
      host.log("\(receivers[number].device) is added through the control socket")
      returned.insert(number)
      return nil
    }
    // A simulated or replayed receiver can only be named on the command line.
    guard path.hasPrefix("/"), let user = user(of: client) else { return "\(path) is not a device" }
    let device: PinnedDevice
    do throws(SerialPortError) {
      device = try PinnedDevice(path, user: user.number, groups: user.groups)
    } catch {
      switch error.cause {
      case .noPermission: return Self.notPermitted(path)
      case .unsuitable: return "\(path) is not a serial line"
      default: return "\(path) is not a device"
      }
    }
    guard !added.contains(where: { $0.path == device.path }),
      receivers.count(where: { !$0.isVacant }) + added.count < Self.receiverLimit
    else {
      return "the service has \(Self.receiverLimit) receivers already, or \(path) is being added"
    }
    host.log("\(path) is added through the control socket")
    added.append(device)
    return nil
  }

  /// Makes the service release a receiver.
  private func remove(_ path: String, for client: GPSDConnection) -> String? {
    number(at: path, for: client) { number in
      removed.insert(number)
      returned.remove(number)
      host.log("\(receivers[number].device) is removed through the control socket")
      host.lend(receiver: number)
      return nil
    }
  }

  /// Sends a sentence, or other text, to a receiver. A missing checksum is added.
  private func sendText(_ text: String, to path: String, for client: GPSDConnection) -> String? {
    number(at: path, for: client) { number in
      do throws(SettingProblem) {
        return send(try OutgoingMessage(sentence: text).command.bytes, to: number)
      } catch {
        return error.description
      }
    }
  }

  /// Runs `body` with the number of a receiver in use that the client's user may open; otherwise returns the reason.
  private func number(at path: String, for client: GPSDConnection, _ body: (Int) -> String?) -> String? {
    guard let number = known(path), !removed.contains(number) else { return "the service does not use \(path)" }
    return mayOpen(receivers[number].access, client) ? body(number) : Self.notPermitted(path)
  }

  private func known(_ path: String) -> Int? { receivers.firstIndex { $0.device == path || $0.isAt(path) } }

  private static func notPermitted(_ path: String) -> String { "only users who may open \(path) may do that" }

  private func mayOpen(_ access: NodeAccess?, _ client: GPSDConnection) -> Bool {
    user(of: client)?.mayOpen(access, own: geteuid()) ?? false
  }

  private func user(of client: GPSDConnection) -> Lease.User? {
    client.socket.peer.map {
      Lease.User(number: $0.user, groups: [$0.group] + (client.socket.peerGroups ?? []))
    }
  }
}
