// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import MonotonicTime
import Receiver
import ReceiverRuntime
import WireBytes

/// `sextant poll`: requests a message.
struct Poll: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "poll",
    abstract: "Request a UBX message from a u-blox receiver.",
    discussion: """
      sextant poll MON-VER
      sextant poll CFG-MSG msgClass=1 msgID=7
      sextant poll CFG-VALGET layer=0 CFG-RATE-MEAS CFG-RATE-NAV

      Messages and fields have the names of the interface descriptions (docs/reference/ubx-messages.md), a message \
      without a name is 0x0A-0x04. The fields select a part of the message. The replies are printed with a line for each \
      field; --json prints the objects of `decode --format messages`. The exit code is 69 without a reply.
      """)

  @OptionGroup var receiver: ReceiverOptions
  @OptionGroup var options: MessageOptions

  @Argument(help: "The name of the message, such as MON-VER.")
  var message: String

  @Argument(help: ArgumentHelp("Fields of the request, as NAME=VALUE.", valueName: "field=value"))
  var fields: [String] = []

  func validate() throws { try options.check("poll") }

  func run() throws {
    let message = try usage { () throws(SettingProblem) in try NamedMessage(self.message, fields: fields, for: .poll) }
    try options.run([OutgoingMessage(message, for: .poll)], receiver)
  }
}

/// `sextant send`: sends messages.
struct Send: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Send UBX messages or sentences to a receiver.",
    discussion: """
      sextant send CFG-RATE measRate=200 navRate=1 timeRef=1
      sextant send CFG-VALSET layers=1 CFG-RATE-MEAS=0.2
      sextant send CFG-MSG --hex '01 07 01'        (the payload)
      sextant send --hex 'B5 62 0A 04 00 00 0E 34'  (whole frames)
      sextant send --file FILE                      (frames of UBX, NMEA, RTCM 3)
      sextant send '$PUBX,40,GLL,0,0,0,0,0,0'       (the checksum is added)

      A sentence can be sent to any receiver: '$PMTK220,1000'. Where its family acknowledges it, the acknowledgement is waited \
      for and printed.

      Fields have the names, scales and units that `decode --format messages` prints: lon=8.565, rate=[0,1,0,0,0,0], \
      rate[1]=1, groups[0].flags=0x1. Fields that are not given are zero; they are named on standard error. Several \
      messages are sent in their order, each after the reply to the one before.

      A change of the configuration is not restored at the end: it lasts until the receiver loses power, or permanently if \
      the message stores it. `sextant configure set` changes one setting of a message and checks the result.

      The exit code is 69 if the receiver refuses a message or does not reply.
      """)

  @OptionGroup var receiver: ReceiverOptions
  @OptionGroup var options: MessageOptions

  @Option(help: "The payload of the message in hexadecimal digits; without a name, whole frames.")
  var hex: String?

  @Option(help: "A file with frames; - for standard input.")
  var file: String?

  @Option(help: "The time to wait for replies to a message that receivers do not acknowledge, in seconds.")
  var wait = 1.0

  @Argument(help: "The name of a message, such as CFG-RATE, or a sentence that begins with $.")
  var message: String?

  @Argument(help: ArgumentHelp("The fields, as NAME=VALUE.", valueName: "field=value"))
  var fields: [String] = []

  func validate() throws {
    try options.check("send")
    guard (0...3600).contains(wait) else { throw ValidationError("--wait must be a time from 0 to 3600.") }
    if file != nil, message != nil || hex != nil { throw ValidationError("--file has whole frames; omit the message.") }
    if file == nil, message == nil, hex == nil {
      throw ValidationError("Name a message, or give frames with --hex or --file.")
    }
    if hex != nil, !fields.isEmpty { throw ValidationError("--hex is the whole payload; omit the fields.") }
    if message?.hasPrefix("$") == true, hex != nil || !fields.isEmpty {
      throw ValidationError("A sentence is one word: put it in quotation marks.")
    }
  }

  func run() throws {
    let messages: [OutgoingMessage]
    if let file {
      let bytes = try readAll(file)
      do throws(SettingProblem) { messages = try OutgoingMessage.frames(bytes) } catch {
        throw CommandFailure(.badData, "\(file == "-" ? "standard input" : file): \(error.description)")
      }
    } else {
      messages = try usage { () throws(SettingProblem) in try words() }
    }
    try options.run(messages, receiver, wait: Milliseconds(seconds: wait))
  }

  /// The messages of the command line.
  private func words() throws(SettingProblem) -> [OutgoingMessage] {
    if let message, message.hasPrefix("$") { return [try OutgoingMessage(sentence: message)] }
    let bytes = try hex.map { text throws(SettingProblem) in
      let digits = text.filter { !" :,\t\n".contains($0) }
      guard let bytes = [UInt8](hexadecimalDigits: digits) else {
        throw SettingProblem("--hex \(text): two hexadecimal digits are a byte")
      }
      return bytes
    }
    guard let message else { return try OutgoingMessage.frames(bytes ?? []) }
    if let bytes { return [OutgoingMessage(try NamedMessage(message, payload: bytes), for: .command)] }
    let named = try NamedMessage(message, fields: fields, for: .command)
    if !named.unset.isEmpty { printNotice("\(named.name): 0 in \(NameList.text(named.unset))") }
    return [OutgoingMessage(named, for: .command)]
  }
}

/// The common options of `send` and `poll`.
struct MessageOptions: ParsableArguments {
  @Flag(help: "Print JSON objects, as `decode --format messages` does.")
  var json = false

  @Option(help: "End without a result after this many seconds.")
  var seconds = 30.0

  @Flag(help: "Refused: the command sends to the receiver.")
  var readOnly = false

  func check(_ command: String) throws {
    if readOnly { throw ValidationError("\(command) sends to the receiver; omit --read-only.") }
    try ReceiverOptions.check(seconds: seconds, below: 1e6)
  }

  /// Sends messages to the receiver, and prints the replies.
  func run(_ messages: [OutgoingMessage], _ receiver: ReceiverOptions, wait: Milliseconds = Milliseconds(0)) throws {
    let choice = try receiver.choose(for: .sending)
    try CrashRecovery.restore(choice)
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { _ in .nothing }
    let client = MessageClient(choice, messages, json: json, wait: wait)
    var loop = try ReceiverLoop(choice, settings, seconds: seconds, client: client)
    try loop.run()
    guard loop.client.isOver else {
      throw CommandFailure(
        .unavailable,
        "\(choice.source.name): "
          + (loop.isInterrupted
            ? "interrupted before it was complete"
            : loop.client.hasSent
              ? "not complete after \(seconds) s; --seconds extends the time"
              : loop.reasonWithoutReceiver(choice.source, seconds: seconds)))
    }
  }
}

/// Runs `body`. A mistake in the words of the user is a usage error.
private func usage<Value>(_ body: () throws(SettingProblem) -> Value) throws -> Value {
  do throws(SettingProblem) { return try body() } catch { throw CommandFailure(.usage, error.description) }
}
