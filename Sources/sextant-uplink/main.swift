// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import Messages
import MonotonicTime
import SystemPackage

// Positions of the location service to a server. The options are read here, without a library, to keep the program small.

/// The folder of the queue, below the folder of state.
let queueFolder = "uplink"

func run(_ options: UplinkOptions) throws {
  switch options.mode {
  case .help: print(UplinkOptions.help, terminator: "")
  case .version: print("sextant-uplink \(SextantVersion.text)")
  case .status(let isJSON): try showStatus(isJSON: isJSON)
  case .run: try runUplink(options, isDry: false)
  case .dryRun: try runUplink(options, isDry: true)
  }
}

func stateFolder() throws(UplinkFailure) -> String {
  guard let folder = StateFolder.path(isRoot: geteuid() == 0, environment) else {
    throw UplinkFailure(.noInput, "there is no folder for the queue; set HOME or SEXTANT_STATE_DIR")
  }
  return "\(folder)/\(queueFolder)"
}

func readConfiguration(_ path: String) throws -> UplinkConfiguration {
  let text: String
  do { text = try UserFile.read(path) } catch {
    throw UplinkFailure(.noInput, "\(error.description); make the configuration, or name another one with --config")
  }
  do throws(UplinkConfiguration.Mistake) {
    return try UplinkConfiguration(parsing: text, host: hostName())
  } catch {
    throw UplinkFailure(
      .configuration, error.line == 0 ? "\(path): \(error.text)" : "\(path):\(error.line): \(error.text)")
  }
}

/// The name of this computer, gethostname(2).
func hostName() -> String {
  var name = [CChar](repeating: 0, count: 256)
  guard unsafe gethostname(&name, name.count - 1) == 0 else { return "sextant" }
  let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  return text.isEmpty ? "sextant" : text
}

/// A credential of the unit: certificates and keys are not readable for the unit's user otherwise.
func credential(_ name: String) -> String? {
  guard let path = environment("CREDENTIALS_DIRECTORY").map({ "\($0)/\(name)" }) else { return nil }
  return unsafe access(path, R_OK) == 0 ? path : nil
}

/// The user's password at the server: of the environment, a file that it names, or a credential of the unit.
func password() throws -> String? {
  if let password = environment("SEXTANT_UPLINK_PASSWORD") { return password }
  let file = environment("SEXTANT_UPLINK_PASSWORD_FILE")
  let credential = environment("CREDENTIALS_DIRECTORY").map { "\($0)/uplink-password" }
  guard let path = file ?? credential else { return nil }
  do {
    return try UserFile.read(path).split(whereSeparator: \.isNewline).first.map(String.init)
  } catch {
    // A unit may have other credentials.
    if file == nil, error.isMissing { return nil }
    throw UplinkFailure(.noInput, "\(error.description); put the password there")
  }
}

func runUplink(_ options: UplinkOptions, isDry: Bool) throws {
  var configuration = try readConfiguration(options.configuration)
  configuration.authorities = configuration.authorities ?? credential("uplink-ca")
  if configuration.certificate == nil, let key = credential("uplink-key") {
    configuration.certificate = credential("uplink-cert")
    configuration.key = configuration.certificate == nil ? nil : key
  }
  let folder = try stateFolder()
  let poller = try Poller(catching: [.interrupt, .terminate, .hangUp])
  let inbox = Inbox(poller.waker)
  let choice = environment("SEXTANT_SERVICE") ?? ServiceChoice.defaultSocket
  let socket = choice == "none" ? ServiceChoice.defaultSocket : choice
  let limits = FixQueue<QueueFolder>.Limits(
    bytes: configuration.queueBytes, ageSeconds: configuration.queueAgeSeconds,
    toleranceMetres: configuration.toleranceMetres)
  let identity = String(UInt32.random(in: .min ... .max), radix: 16)
  if isDry {
    let queue = try FixQueue(
      MemoryStorage(),
      FixQueue<MemoryStorage>.Limits(
        bytes: limits.bytes, ageSeconds: limits.ageSeconds, toleranceMetres: limits.toleranceMetres), identity: identity
    )
    let writer = PayloadWriter(
      format: configuration.format, topic: configuration.topic, clientID: configuration.clientID,
      queueIdentity: queue.identity)
    let uplink = Uplink(configuration, writer, queue, stored: nil)
    let runtime = UplinkRuntime(
      uplink, configuration, folder: folder, socket: socket, inbox: inbox, output: .print(writer))
    return try runtime.run(poller, control: nil)
  }
  // The control socket also shows that no other program has the queue.
  let control: UnixSocket
  do {
    _ = try PrivateFolder(folder, makingWith: 0o700)
    control = try UnixSocket(listeningAt: "\(folder)/\(UplinkRuntime<QueueFolder>.controlName)", permissions: 0o600)
  } catch let error as Errno where error == .addressInUse {
    throw UplinkFailure(.held, "\(folder): another sextant-uplink uses this queue; end it, or set SEXTANT_STATE_DIR")
  }
  let queue = try FixQueue(QueueFolder(path: folder), limits, identity: identity)
  let stored = try PrivateFile.readBytes("\(folder)/\(UplinkRuntime<QueueFolder>.settingsName)").flatMap {
    try? JSON(parsing: $0)
  }
  let writer = PayloadWriter(
    format: configuration.format, topic: configuration.topic, clientID: configuration.clientID,
    queueIdentity: queue.identity)
  let transport = try Transport(configuration, writer, password: try password()) { inbox.add(.transport($0)) }
  let uplink = Uplink(configuration, writer, queue, stored: stored)
  printNotice("\(queue.count) fixes wait for \(configuration.server.text); location service \(socket)")
  let runtime = UplinkRuntime(
    uplink, configuration, folder: folder, socket: socket, inbox: inbox, output: .server(transport))
  try runtime.run(poller, control: control)
}

func showStatus(isJSON: Bool) throws {
  let folder = try stateFolder()
  let status = try liveStatus(folder) ?? storedStatus(folder)
  if isJSON {
    print(String(decoding: try status.text(), as: UTF8.self))
    return
  }
  func number(_ name: String) -> Int64 { if case .integer(let value)? = status[name] { value } else { 0 } }
  print(status["connected"] == .bool(true) ? "connected" : "not connected")
  let age = number("queued") > 0 ? ", the oldest \(number("oldestSeconds")) s old" : ""
  print("queued        \(number("queued"))\(age)")
  print("sent          \(number("sent")), \(number("acknowledged")) acknowledged, since the start")
  print("lost          \(number("thinned")) thinned, \(number("dropped")) dropped")
  print("bytes today   \(number("bytesToday"))")
  if let time = status["lastSuccess"]?.string { print("last success  \(time)") }
  if let problem = status["lastError"]?.string { print("last error    \(problem)") }
}

/// The status of the program that runs; nil if none does.
///
/// - Parameter limit: the longest wait for its reply.
/// - Throws: ``UplinkFailure`` if it does not reply.
func liveStatus(_ folder: String, within limit: Milliseconds = Milliseconds(5000)) throws -> JSON? {
  let silence = UplinkFailure(.unavailable, "sextant-uplink runs and does not reply; it may be stopped or overloaded")
  let socket: UnixSocket
  do throws(Errno) {
    socket = try UnixSocket(connectingTo: "\(folder)/\(UplinkRuntime<QueueFolder>.controlName)")
  } catch {
    switch error {
    case .noSuchFileOrDirectory, .connectionRefused: return nil
    // The queue of its socket is full.
    case .wouldBlock: throw silence
    default: throw UplinkFailure(.unavailable, "\(folder): \(error); run the command as the user of sextant-uplink")
    }
  }
  var poller = try Poller()
  try poller.add(socket.descriptor, token: Poller.Token(rawValue: 1))
  var answer: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  let deadline = SystemClock.monotonic + limit
  while !answer.contains(UInt8(ascii: "\n")) {
    switch socket.read(into: &buffer) {
    case .bytes(let count): answer += buffer[..<count]
    case .wouldWait where SystemClock.monotonic < deadline: _ = try poller.wait(deadline: deadline.nanoseconds)
    case .wouldWait, .ended: throw silence
    }
  }
  guard let status = try? JSON(parsing: Array(answer.prefix { $0 != UInt8(ascii: "\n") })) else { throw silence }
  return status
}

/// The status of the files, where no program runs.
func storedStatus(_ folder: String) throws -> JSON {
  guard PrivateFile.names(in: folder).contains("identity") else {
    throw UplinkFailure(
      .unavailable, "\(folder): there is no queue; start sextant-uplink, or name its folder with SEXTANT_STATE_DIR")
  }
  let queue = try FixQueue(reading: QueueFolder(path: folder))
  var status = UplinkStatus()
  status.lastError = "sextant-uplink does not run; start it"
  return status.json(queue, utcNanoseconds: SystemClock.utcNanoseconds)
}

if let shortage = ProcessStart.prepare(descriptors: 12, threads: 2) {
  printNotice(shortage.description)
  exit(SystemExitCode.systemResource.rawValue)
}
do {
  try run(try UplinkOptions(Array(CommandLine.arguments.dropFirst())))
} catch let failure as UplinkFailure {
  printNotice(failure.text)
  exit(failure.code.rawValue)
} catch let error as FileError {
  printNotice(error.description)
  exit(SystemExitCode.inputOutput.rawValue)
} catch {
  printNotice("\(error)")
  exit(SystemExitCode.systemResource.rawValue)
}
