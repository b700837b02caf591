// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import WireBytes

/// A connection of a program, on the service's thread.
///
///     idle ──Subscribe, RequestLocation, Stream, Watch──▶ replying ──its end──▶ idle
///       └──Open──▶ coreLocation
final class Connection: ProgramReceiver, @unchecked Sendable {
  // Sendable: only the service's thread uses it.

  enum Role {
    case idle
    /// A stream of locations for a program of org.sextant.Location.
    case subscription(VarlinkServerConnection.CallID, ProgramID, newest: Location?)
    case request(VarlinkServerConnection.CallID, ProgramID)
    /// The bytes of a receiver.
    case stream(VarlinkServerConnection.CallID, ProgramID, ByteStream)
    case coreLocation(ProgramID, ServedProgram)
    /// An agent that waits for the prompts of a user, and the revision of the prompts that it has.
    case agent(VarlinkServerConnection.CallID, user: UInt32, revision: Int)
    /// A launcher, which starts the units of its user, and whether it has the units to watch.
    case launcher(VarlinkServerConnection.CallID, hasUnits: Bool)
  }

  /// The inputs of an update for a program of Core Location, in addition to the outputs of its engine.
  struct UpdateSource: Equatable {
    /// The host's revision.
    var revision: UInt64
    var problem: ReceiverProblem?
    var hasAgent: Bool
    /// Whether the state is lost at the end of the service.
    var losesState: Bool
  }

  let socket: UnixSocket
  let token: Poller.Token
  let credentials: PeerCredentials
  /// The peer, once it has been looked up.
  private var foundPeer: Peer?
  var varlink: VarlinkServerConnection
  var role = Role.idle
  /// The line that the program has or waits for; nil if there is none.
  var lease: Lease?
  /// The descriptor to send with the next bytes; nil if there is none.
  var passed: OwnedDescriptor?
  /// The service's copy of the descriptor that its program got; nil if there is none.
  var keptLine: OwnedDescriptor?
  /// The permission that the policy gave to its program; nil if there is none.
  var grant: AuthorizationStatus?
  /// Whether to close the connection after the pending output is written.
  var isEnding = false
  /// Whether the program has closed its writing side. It still gets the replies to its calls.
  var hasInputEnded = false
  /// Whether the program got the line about its limit of objects.
  var hasLimitLine = false
  var interest: Poller.Interest = .readable
  /// The outputs of the program's engine in this round.
  var outputs: [PositioningOutput] = []
  /// The inputs of the last update; nil before the first one.
  var updatedFrom: UpdateSource?
  /// Unread updates of the program, merged.
  var unsent: ServiceUpdate?
  /// The waiting events in written and unsent updates for a program that does not acknowledge events.
  var unwrittenEvents: [Int] = []
  /// The newest unread location of a subscription.
  var unsentLocation: Location?
  /// The identity of the program, once a call needs it; nil before that, and if it has none.
  private(set) var identity: ProgramIdentity?
  /// The reason why the program has no identity; nil before a call needs it, and if it has one.
  private(set) var refusal: PeerExecutable.Reason?
  /// The name that the program declares (``ProgramLabel``).
  lazy var label = peer.executableName
  /// The open prompt of the program.
  var asked: Authorization.Prompt?
  /// The prompt that was sent to the program to show on its terminal.
  var shownPrompt: Authorization.Prompt?
  var delivered = 0
  var dropped = 0
  /// The time after which an update triggers another check of the executable.
  var nextCheck = Instant.zero

  init(
    _ socket: consuming UnixSocket, _ credentials: PeerCredentials, _ token: Poller.Token, _ service: VarlinkService
  ) {
    self.credentials = credentials
    self.socket = socket
    self.token = token
    varlink = VarlinkServerConnection(service: service)
  }

  /// The program at the other end. It is looked up when a call needs it, in the user's turn, so that connecting is
  /// cheap.
  var peer: Peer {
    if let foundPeer { return foundPeer }
    let peer = Peer(socket, credentials)
    foundPeer = peer
    return peer
  }

  /// Whether the process now executes a different program from the one that was looked up.
  var executesAnotherProgram: Bool { foundPeer?.executesAnotherProgram ?? false }

  /// Finds the identity of the program. The permission belongs to its executable, or to its unit in the policy.
  ///
  /// - Parameter hasUnitGrant: whether the policy has a grant for the unit.
  func identify(hasUnitGrant: Bool) {
    guard identity == nil, refusal == nil else { return }
    if peer.executable != nil,
      let reason = OpenedConnection.refusal(socket, of: credentials.process)
        ?? (peer.executesSameProgram ? nil : .connection)
    {
      foundPeer = peer.withoutExecutable(reason)
    }
    if let path = peer.executable {
      identity = .executable(path)
    } else if let unit = peer.unit, hasUnitGrant {
      identity = .unit(unit)
    } else {
      refusal = peer.reason
    }
  }

  /// The name in the authorization store. A program without an identity has no entry there.
  var name: ExactText { identity?.name ?? "\(label)@" }

  /// The label with the executable, only for its user and root: paths of executables reveal contents of users' home
  /// folders.
  func displayName(forUser viewer: UInt32) -> String {
    viewer == 0 || viewer == credentials.user ? "\(label)@\(peer.executable?.text ?? "")" : label
  }

  var wantsInput: Bool { varlink.wantsInput && !hasInputEnded }

  /// Whether to close the connection once its output is written.
  var isOver: Bool { isEnding || hasInputEnded && !varlink.isServing && !varlink.hasEvent }

  /// The hosted program; nil if there is none.
  var program: ProgramID? {
    switch role {
    case .subscription(_, let id, _), .request(_, let id), .stream(_, let id, _), .coreLocation(let id, _): id
    case .idle, .agent, .launcher: nil
    }
  }

  /// The user whose prompts it shows; nil for any other program.
  var agentUser: UInt32? { if case .agent(_, let user, _) = role { user } else { nil } }

  /// The user whose units it starts; nil for any other program.
  var launcherUser: UInt32? { if case .launcher = role { credentials.user } else { nil } }
  var hasOutputs: Bool { !outputs.isEmpty || isStream }
  var isStream: Bool { if case .stream = role { true } else { false } }
  var isCoreLocation: Bool { if case .coreLocation = role { true } else { false } }

  /// Whether a prompt waits for the foreground of the program's terminal.
  var waitsForTerminal: Bool { asked != nil && shownPrompt == nil && peer.hasTerminal }

  /// The groups of the program's user.
  var groups: [UInt32] { [credentials.group] + (socket.peerGroups ?? []) }

  func perform(_ action: ProgramAction) {
    switch action {
    case .output(let output): outputs.append(output)
    // The state of the program contains it.
    case .sessions, .store: break
    }
  }

  /// Keeps a copy of the descriptor that the program gets, which the service uses to take the lock back.
  func keepLine() {
    switch passed {
    case .some(let line): keptLine = try? Syscalls.duplicate(line.number)
    case nil: keptLine = nil
    }
  }

  /// Writes the pending output, with the descriptor.
  func write() -> Transfer {
    let result =
      switch passed {
      case .some(let descriptor): socket.write(varlink.output, passing: descriptor)
      case nil: socket.write(varlink.output)
      }
    if case .bytes = result { passed = nil }
    return result
  }

  func reply(_ call: VarlinkServerConnection.CallID, _ reply: VarlinkReply) {
    if !isQueued(call, reply) { dropped += 1 }
  }

  /// Queues a reply. Returns false if it was refused because the program reads too slowly.
  func isQueued(_ call: VarlinkServerConnection.CallID, _ reply: VarlinkReply) -> Bool {
    // Only a number that JSON cannot represent fails, and the codes do not write such numbers.
    (try? varlink.reply(to: call, reply)) != .full
  }
}

// Connections whose programs do not read.
extension Connection {
  /// The approximate number of bytes in its queues.
  var queuedBytes: Int {
    varlink.inputBytesWaiting + varlink.outputBytesWaiting + (unsent.map { $0.approximateBytes } ?? 0)
  }
}

extension LocationServer {
  /// The connections whose queues exceed the share of their users.
  var connectionsToCutOff: [Connection] {
    let held = connections.values.compactMap { connection in
      let bytes = connection.queuedBytes
      return bytes == 0 ? nil : (holder: connection, user: shareUser(connection), amount: bytes)
    }
    if held.reduce(0, { $0 + $1.amount }) <= ServiceLimits.queuedBytes.ofUser { return [] }
    return ServiceLimits.queuedBytes.excess(held)
  }
}
