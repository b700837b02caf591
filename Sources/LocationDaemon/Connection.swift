// SPDX-License-Identifier: Apache-2.0
import EventLoop
import FileSystem
import LocationService
import MonotonicTime
import Positioning
import ServiceProtocol
import Varlink

/// A connection of a program, on the service's thread.
///
///     idle ──Subscribe, RequestLocation, Stream, Watch──▶ replying ──its end──▶ idle
///       └──Open──▶ coreLocation
final class Connection: ProgramReceiver, @unchecked Sendable {
  // Sendable: the service's thread alone uses it.

  enum Role {
    case idle
    /// A stream of locations for a program of org.sextant.Location.
    case subscription(VarlinkServerConnection.CallID, ProgramID, newest: Location?)
    case request(VarlinkServerConnection.CallID, ProgramID)
    /// The bytes of a receiver.
    case stream(VarlinkServerConnection.CallID, ProgramID, ByteStream)
    case coreLocation(ProgramID, ServedProgram)
    /// An agent that waits for the questions of a user, and the revision of those that it has.
    case agent(VarlinkServerConnection.CallID, user: UInt32, revision: Int)
    /// A launcher, which starts the units of its user, and whether it has those to watch.
    case launcher(VarlinkServerConnection.CallID, hasUnits: Bool)
  }

  /// What an update for a program of Core Location is made from, besides the outputs of its engine.
  struct UpdateSource: Equatable {
    /// That of the host.
    var revision: UInt64
    var problem: ReceiverProblem?
    var hasAgent: Bool
  }

  let socket: UnixSocket
  let token: Poller.Token
  let credentials: PeerCredentials
  /// The peer, once it was looked up.
  private var foundPeer: Peer?
  var varlink: VarlinkServerConnection
  var role = Role.idle
  /// The line that its program has or waits for; nil without one.
  var lease: Lease?
  /// The descriptor that goes with the next bytes; nil without one.
  var passed: OwnedDescriptor?
  /// The service's copy of the descriptor that its program got; nil without one.
  var keptLine: OwnedDescriptor?
  /// The permission that the policy gave to its program; nil without one.
  var grant: AuthorizationStatus?
  /// Whether it is closed after what waits to be written.
  var isEnding = false
  var interest: Poller.Interest = .readable
  /// The outputs of the program's engine in this round.
  var outputs: [PositioningOutput] = []
  /// What the last update was made from; nil before the first one.
  var updatedFrom: UpdateSource?
  /// Updates that the program has not read, joined.
  var unsent: ServiceUpdate?
  /// The events of the written and the unsent updates that have waited for a program that does not report what it takes.
  var unwrittenEvents: [Int] = []
  /// The newest location of a subscription that the program has not read.
  var unsentLocation: Location?
  /// The identity of its program, once a call needs it; nil before, and without one.
  private(set) var identity: ProgramIdentity?
  /// Why it has no identity; nil before a call needs it, and with one.
  private(set) var refusal: PeerExecutable.Reason?
  /// The name that its program states (``ProgramLabel``).
  lazy var label = peer.executableName
  /// The managers that run the significant-change service.
  var significantManagers: Set<Int> = []
  /// The open question of the program.
  var asked: Authorization.Prompt?
  /// The question that was sent to the program to show on its terminal.
  var shownPrompt: Authorization.Prompt?
  var delivered = 0
  var dropped = 0
  /// The time from which on an update is a reason to look at the executable again.
  var nextCheck = Instant.zero

  init(
    _ socket: consuming UnixSocket, _ credentials: PeerCredentials, _ token: Poller.Token, _ service: VarlinkService
  ) {
    self.credentials = credentials
    self.socket = socket
    self.token = token
    varlink = VarlinkServerConnection(service: service)
  }

  /// The program at the other end. It is looked up when a call needs it, in the turn of its user: connecting costs little.
  var peer: Peer {
    if let foundPeer { return foundPeer }
    let peer = Peer(socket, credentials)
    foundPeer = peer
    return peer
  }

  /// Whether the process executes another program than the one that was looked up.
  var executesAnotherProgram: Bool { foundPeer?.executesAnotherProgram ?? false }

  /// Finds the identity of the program. Its executable has the permission, or its unit by the policy.
  ///
  /// - Parameter hasUnitGrant: whether the policy has a grant for the unit.
  func identify(hasUnitGrant: Bool) {
    guard identity == nil, refusal == nil else { return }
    // In this order: a process that ends meanwhile has no descriptors, and then no executable.
    if peer.executable != nil,
      !OpenedConnection.isOwn(socket, of: credentials.process) || !peer.executesSameProgram
    {
      foundPeer = peer.withoutExecutable()
    }
    if let path = peer.executable {
      identity = .executable(path)
    } else if let unit = peer.unit, hasUnitGrant {
      identity = .unit(unit)
    } else {
      refusal = peer.reason
    }
  }

  /// The name in the authorization store. A program without an identity has none there.
  var name: String { identity?.name ?? "\(label)@" }

  /// The label with the executable, for its user and root: executables show what other users have in their homes.
  func displayName(forUser viewer: UInt32) -> String {
    viewer == 0 || viewer == credentials.user ? "\(label)@\(peer.executable ?? "")" : label
  }

  /// The hosted program; nil without one.
  var program: ProgramID? {
    switch role {
    case .subscription(_, let id, _), .request(_, let id), .stream(_, let id, _), .coreLocation(let id, _): id
    case .idle, .agent, .launcher: nil
    }
  }

  /// The user whose questions it shows; nil for any other program.
  var agentUser: UInt32? { if case .agent(_, let user, _) = role { user } else { nil } }

  /// The user whose units it starts; nil for any other program.
  var launcherUser: UInt32? { if case .launcher = role { credentials.user } else { nil } }
  var hasOutputs: Bool { !outputs.isEmpty || isStream }
  var isStream: Bool { if case .stream = role { true } else { false } }
  var isCoreLocation: Bool { if case .coreLocation = role { true } else { false } }

  /// Whether a question waits for the foreground of the program's terminal.
  var waitsForTerminal: Bool { asked != nil && shownPrompt == nil && peer.hasTerminal }

  /// The groups of the program's user.
  var groups: [UInt32] { [credentials.group] + (socket.peerGroups ?? []) }

  func perform(_ action: ProgramAction) {
    switch action {
    case .output(let output): outputs.append(output)
    // The state of the program has it.
    case .sessions, .store: break
    }
  }

  /// Keeps a copy of the descriptor that its program gets, by which the service takes the lock back.
  func keepLine() {
    switch passed {
    case .some(let line): keptLine = try? Syscalls.duplicate(line.number)
    case nil: keptLine = nil
    }
  }

  /// Writes what waits, with the descriptor.
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

  /// Queues a reply. Returns false if it was refused, as the program reads too slowly.
  func isQueued(_ call: VarlinkServerConnection.CallID, _ reply: VarlinkReply) -> Bool {
    // Only a number that JSON does not have can fail, and the codes write none.
    (try? varlink.reply(to: call, reply)) != .full
  }
}
