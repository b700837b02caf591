import ArgumentParser
import ConfigurationEditing
import FileSystem
import Receiver
import ReceiverRuntime

/// `sextant configure`: a receiver's settings, shown, changed, saved, kept in a file.
struct Configure: ParsableCommand {
  /// What is done.
  enum Action: String, ExpressibleByArgument, CaseIterable {
    case show, get, set, save, backup, restore
    case factoryReset = "factory-reset"
  }

  static let configuration = CommandConfiguration(
    commandName: "configure",
    abstract: "Show and change a u-blox receiver's settings.",
    discussion: """
      show [PATTERN]       all settings, or those that fit a pattern such as 'CFG-RATE-*'
      get NAME...          settings by name
      set NAME=VALUE...    change settings; all of them or none
      save                 have the receiver keep its settings in flash, or in battery-backed memory
      backup FILE          write the settings that differ from the firmware's to a file (--all: all); - is standard output
      restore FILE         bring the receiver to the state of such a file
      factory-reset        delete what the receiver keeps and load the firmware's settings

      Names that work on every receiver: rate=5Hz, model=automotive, constellations=GPS+GAL, \
      messages=NAV-PVT,NAV-SAT@5, nmea=on, baud=115200. Others: items by name or key (CFG-NAVSPG-DYNMODEL=4, \
      0x20110021=4), or on receivers before protocol version 27 fields of CFG messages (CFG-NAV5.dynModel=4, \
      CFG-MSG[NAV-PVT].rate[1]=1). Values are in the unit that show prints.

      What is set lasts until the receiver loses power, unless it is saved.
      """)

  @Argument(help: "show, get, set, save, backup, restore or factory-reset.")
  var action: Action

  @Argument(help: "What the action is about.")
  var words: [String] = []

  @Option(help: "The receiver's device; without it GNSS_DEVICE, or the first receiver that is plugged in.")
  var device: String?

  @Option(help: "The line's rate, in baud; no other is tried.")
  var baud: UInt32?

  @Flag(help: "show, get: print one JSON object.")
  var json = false

  @Flag(help: "backup: also what is as the firmware has it.")
  var all = false

  @Flag(help: "factory-reset: do not ask.")
  var yes = false

  func validate() throws {
    if baud == 0 { throw ValidationError("--baud is a rate such as 9600; leave it out to have it found.") }
    switch action {
    case .show: if words.count > 1 { throw ValidationError("show takes one pattern; put it in quotation marks.") }
    case .get: if words.isEmpty { throw ValidationError("get what? Name settings; show lists them.") }
    case .set: if words.isEmpty { throw ValidationError("set what? Name settings as NAME=VALUE.") }
    case .backup, .restore:
      if words.count != 1 { throw ValidationError("\(action.rawValue) takes a file.") }
    case .save, .factoryReset:
      if !words.isEmpty { throw ValidationError("\(action.rawValue) takes no further words.") }
    }
  }

  func run() throws {
    switch action {
    case .show: try show(words.first)
    case .get: try get()
    case .set: try set()
    case .save: try save()
    case .backup: try backup(to: words[0])
    case .restore: try restore(from: words[0])
    case .factoryReset: try factoryReset()
    }
  }

  // MARK: Reading

  private func show(_ pattern: String?) throws {
    let client = try readAll(pattern, withStandards: false)
    try print(client)
    if let reading = client.script, reading.values.isEmpty, reading.isIncomplete {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: "\(client.path): no question had an answer; the line is full: a higher baud, or fewer messages")
    }
    if let reading = client.script, reading.values.isEmpty, let pattern {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable, description: "the receiver has no setting that fits \(pattern)")
    }
  }

  private func get() throws {
    let names = try words.map { word in try usage { () throws(SettingProblem) in try SettingName(word) } }
    let client = try run { source in
      ConfigureClient<SettingsReading>(source, care: careWhereFull) { receiver, line throws(SettingProblem) in
        var reading = try SettingsReading(names: names, of: receiver)
        reading.raisedRate = line.raisedRate
        return reading
      }
    }
    try print(client)
    guard let reading = client.script else { return }
    var problems: [String] = []
    if !reading.missing.isEmpty { problems.append("the receiver does not have \(NameList.text(reading.missing))") }
    if !reading.unanswered.isEmpty {
      problems.append(
        "no answer for \(NameList.text(reading.unanswered)): the receiver does not have it, or its line is full "
          + "(a higher baud, or fewer messages)")
    }
    if !problems.isEmpty {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable, description: "\(client.path): \(problems.joined(separator: "; "))")
    }
  }

  private func print(_ client: borrowing ConfigureClient<SettingsReading>) throws {
    guard let reading = client.script, let receiver = client.description else { return }
    let lines = SettingLines(device: client.path, receiver: receiver, values: reading.values)
    try Output.write(json ? lines.json() : lines.lines())
    if reading.isIncomplete, reading.unanswered.isEmpty {
      printNotice("\(client.path): some questions had no answer; what is shown is not all")
    }
  }

  // MARK: Changing

  private func set() throws {
    let words = try words.map { word in try usage { () throws(SettingProblem) in try SettingWord(word) } }
    // More fixes need a faster line first: at the old rate they would fill it, and the change of the rate be lost.
    let rate = words.contains(where: \.isOfEpochs) ? words.compactMap(\.lineRate).last : nil
    let care = rate.map { LineCare.raised(to: $0) } ?? careWhereFull
    let client = try run(raisingRate: rate) { source in
      ConfigureClient<SettingsEdit>(
        source, care: care, measures: words.contains(where: \.isOfEpochs), portRate: Self.rate(after:)
      ) { receiver, line throws(SettingProblem) in
        try SettingsEdit(words, of: receiver, port: line.port, hasRate: line.hasRate, line: line.measured)
      }
    }
    guard let edit = client.script else { return }
    if let problem = edit.problem { try usage { () throws(SettingProblem) in throw problem } }
    for (name, result) in zip(edit.names, edit.results) where result == .changed {
      try Output.write("\(name) is set\n")
    }
    for (name, result) in zip(edit.names, edit.results) where result == .unchanged && !isRate(name, edit) {
      try Output.write("\(name) was so already\n")
    }
    if let rate = client.changedRate { try Output.write("the line is at \(rate) baud\n") }
    if let failure = EditFailure.of(edit, isWhole: true) { throw failure }
  }

  /// Whether a word is about the line's rate, which is told by itself.
  private func isRate(_ name: String, _ edit: SettingsEdit) -> Bool {
    edit.portRate != nil && ["baud", "baudrate"].contains { name.lowercased().hasSuffix($0) }
  }

  /// The line's rate is changed when all else is as wanted.
  private static func rate(after edit: SettingsEdit) -> UInt32? {
    edit.results.allSatisfy { $0 == .changed || $0 == .unchanged } ? edit.portRate : nil
  }

  private func save() throws {
    let client = try run { source in
      ConfigureClient<ConfigurationSaving>(source) { receiver, _ throws(SettingProblem) in
        ConfigurationSaving(of: receiver)
      }
    }
    switch client.script?.result {
    case .permanent: try Output.write("saved in flash\n")
    case .batteryBacked:
      try Output.write("saved in battery-backed memory: without a battery it is lost with the power\n")
    case .refused:
      throw CommandFailure(
        exitCode: CommandFailure.unavailable, description: "\(client.path): the receiver refused to save its settings")
    case .silent, nil:
      throw CommandFailure(
        exitCode: CommandFailure.unavailable, description: "\(client.path): no answer; it is not known what is saved")
    }
  }

  // MARK: Files

  private func backup(to file: String) throws {
    let client = try readAll(nil, withStandards: true)
    guard let reading = client.script, let receiver = client.description else { return }
    // A backup that misses something would be believed.
    guard !reading.isIncomplete, !reading.values.isEmpty else {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: "\(client.path): some questions had no answer; nothing was written")
    }
    let text = ConfigurationFile.text(reading.values, of: receiver, all ? .everything : .differences)
    guard file != "-" else { return try Output.write(text) }
    do throws(FileError) { try UserFile.replace(file, with: text) } catch {
      throw CommandFailure(
        exitCode: error.isForbidden ? CommandFailure.noPermission : CommandFailure.cannotCreate,
        description: error.description)
    }
  }

  private func restore(from path: String) throws {
    let file = try read(path)
    let client = try run(raisingRate: Self.dialogueRate) { source in
      ConfigureClient<ConfigurationRestoring>(source, portRate: { $0.edit?.portRate }) {
        receiver, line throws(SettingProblem) in
        try ConfigurationRestoring(
          file, to: receiver, port: line.port, hasRate: line.hasRate, raisedRate: line.raisedRate)
      }
    }
    guard let script = client.script, let edit = script.edit else { return }
    if let receiver = client.description, let firmware = file.firmware, firmware != receiver.firmware {
      printNotice("\(path): written by firmware \(firmware), the receiver has \(receiver.firmware ?? "another one")")
    }
    for left in script.leftOut { printNotice("left out: \(NameList.text(left.names)): \(left.reason)") }
    let changed = edit.results.count { $0 == .changed }
    try Output.write("\(changed) setting\(changed == 1 ? "" : "s") changed\n")
    if let rate = client.changedRate { try Output.write("the line is at \(rate) baud\n") }
    if let failure = EditFailure.of(edit, isWhole: false) { throw failure }
    if !script.leftOut.isEmpty {
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: "\(path): a part of it is not for this receiver; the rest is set")
    }
  }

  private func read(_ path: String) throws -> ConfigurationFile {
    let bytes: [UInt8]
    do throws(FileError) { bytes = try InputFile.readAll(path, limit: 1 << 20) } catch {
      throw CommandFailure(
        exitCode: error.isForbidden
          ? CommandFailure.noPermission
          : error.isMissing || error.isFolder ? CommandFailure.noInput : CommandFailure.inputOutput,
        description: error.description)
    }
    do throws(ConfigurationFile.Problem) {
      return try ConfigurationFile(String(decoding: bytes, as: UTF8.self))
    } catch {
      throw CommandFailure(exitCode: CommandFailure.badData, description: "\(path): \(error.description)")
    }
  }

  // MARK: Factory reset

  private func factoryReset() throws {
    if !yes { try ask() }
    let client = try run { source in
      ConfigureClient<FactoryReset>(source, survivesSilence: true) { _, _ throws(SettingProblem) in FactoryReset() }
    }
    switch client.script?.result {
    case .done: try Output.write("the receiver has its firmware's settings\n")
    case .refused:
      throw CommandFailure(
        exitCode: CommandFailure.unavailable, description: "\(client.path): the receiver refused to be reset")
    case .silent, nil:
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: "\(client.path): no answer after the reset; sextant probe finds it at another rate")
    }
  }

  private func ask() throws {
    guard isInputTerminal() else {
      throw CommandFailure(
        exitCode: CommandFailure.usage,
        description: "factory-reset deletes what the receiver keeps; without a terminal to ask, it needs --yes")
    }
    printRaw("This deletes the settings that the receiver keeps. Go on? [y/N] ")
    let answer = readLine()?.lowercased()
    guard answer == "y" || answer == "yes" else {
      throw CommandFailure(exitCode: CommandFailure.usage, description: "nothing was changed")
    }
  }

  // MARK: The receiver

  /// Reads all settings, or those that fit a pattern. A slow line that is full of the receiver's own messages would take
  /// minutes for that, so its rate is raised meanwhile, in RAM alone.
  private func readAll(_ pattern: String?, withStandards: Bool) throws -> ConfigureClient<SettingsReading> {
    try run(raisingRate: Self.dialogueRate) { source in
      ConfigureClient<SettingsReading>(source) { receiver, line throws(SettingProblem) in
        var reading = SettingsReading(pattern: pattern, of: receiver, readsStandards: withStandards)
        reading.raisedRate = line.raisedRate
        return reading
      }
    }
  }

  /// The rate of a long dialogue, baud: every family and most boards have it.
  static let dialogueRate: UInt32 = 115_200

  /// A rate that is bound stays.
  private var careWhereFull: LineCare { baud == nil ? .raisedIfFull : .none }

  /// Opens the receiver and carries a script out.
  ///
  /// - Parameter raisingRate: the rate that a slower line has for as long as it lasts, baud.
  private func run<Script: ReceiverScript>(
    raisingRate: UInt32? = nil, _ making: (_ path: String) -> ConfigureClient<Script>
  ) throws -> ConfigureClient<Script> {
    let choice = try Source.chosen(named: device, for: .sending)
    let source = choice.source
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { _ in
      var desired = DesiredConfiguration.nothing
      desired.leastPortRate = raisingRate
      return desired
    }
    let path = if case .device(let path) = source { path } else { "built-in simulator" }
    var loop = try ReceiverLoop(source, settings, baud: baud ?? choice.baud, seconds: nil, client: making(path))
    try loop.run()
    if let failure = loop.client.failure { throw failure }
    guard loop.client.isOver else {
      if showsProgress() { clearProgress() }
      throw CommandFailure(
        exitCode: CommandFailure.unavailable,
        description: "\(path): \(loop.isInterrupted ? "interrupted" : "ended") before it was done")
    }
    return loop.takeClient()
  }

  /// A mistake in the words is one of usage.
  private func usage<Value>(_ body: () throws(SettingProblem) -> Value) throws -> Value {
    do throws(SettingProblem) { return try body() } catch {
      throw CommandFailure(exitCode: CommandFailure.usage, description: error.description)
    }
  }
}

/// What to tell of settings that could not be set.
enum EditFailure {
  /// - Parameter isWhole: whether nothing is set when a part is refused.
  static func of(_ edit: SettingsEdit, isWhole: Bool) -> CommandFailure? {
    let refused = edit.names(of: .refused)
    let missing = edit.names(of: .missing)
    let silent = edit.names(of: .silent)
    let other = edit.names(of: .notVerified)
    let left = edit.names(of: .left)
    var parts: [String] = []
    if !missing.isEmpty {
      parts.append("the receiver does not have \(NameList.text(missing)) (another model or firmware?)")
    }
    if !refused.isEmpty {
      parts.append(
        "the receiver refused \(NameList.text(refused)) (out of range, not together with others, or locked?)")
    }
    if !other.isEmpty { parts.append("the receiver acknowledged \(NameList.text(other)) and has another value") }
    if !silent.isEmpty { parts.append("no answer for \(NameList.text(silent))") }
    if parts.isEmpty { return nil }
    if !left.isEmpty { parts.append("\(NameList.text(left)) could not be put back") }
    let end = isWhole ? (left.isEmpty ? "nothing was changed" : "the rest is as it was") : "the rest is set"
    return CommandFailure(
      exitCode: CommandFailure.unavailable, description: parts.joined(separator: "; ") + "; " + end)
  }
}
