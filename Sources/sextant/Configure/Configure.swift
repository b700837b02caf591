// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GPSD
import LinuxIO
import Receiver
import ReceiverRuntime

/// `sextant configure`: shows, changes, saves and restores the settings of a receiver.
struct Configure: ParsableCommand {
  /// The action of the command.
  enum Action: String, ExpressibleByArgument, CaseIterable {
    case show, get, set, save, backup, restore
    case factoryReset = "factory-reset"
  }

  static let configuration = CommandConfiguration(
    commandName: "configure",
    abstract: "Show and change the settings of a receiver.",
    discussion: """
      show [PATTERN]     print all settings, or those that match a pattern such as
                         'CFG-RATE-*'
      get NAME...        print settings by name
      set NAME=VALUE...  change settings, all or none
      save               store the settings in flash, or in battery-backed memory
      backup FILE        write the settings that differ from the defaults to a file
                         (--all: all settings); - for standard output
      restore FILE       set the receiver to the state of such a file
      factory-reset      delete the stored settings, and load the defaults

      Names for every receiver: rate=5Hz, model=automotive, constellations=GPS+GAL, messages=NAV-PVT,NAV-SAT@5, nmea=on, \
      baud=115200. Receivers of other makers have rate, constellations, messages=GGA,GSV@5, nmea and baud, as far as \
      docs/receivers lists them. Others of u-blox: items by name or key (CFG-NAVSPG-DYNMODEL=4, 0x20110021=4), or on receivers before protocol \
      version 27 fields of CFG messages (CFG-NAV5.dynModel=4, CFG-MSG[NAV-PVT].rate[1]=1). Values have the unit that show \
      prints.

      Changes last until the receiver loses power, unless they are saved.
      """)

  @Argument(help: "show, get, set, save, backup, restore or factory-reset.")
  var action: Action

  @Argument(help: "The pattern, names, settings or file of the action.")
  var words: [String] = []

  @OptionGroup var receiver: ReceiverOptions

  @Flag(help: "show, get: print one JSON object.")
  var json = false

  @Flag(help: "backup: write all settings, also those with the default value.")
  var all = false

  @Flag(help: "factory-reset: do not ask for confirmation.")
  var yes = false

  func validate() throws {
    switch action {
    case .show: if words.count > 1 { throw ValidationError("show takes one pattern; put it in quotation marks.") }
    case .get: if words.isEmpty { throw ValidationError("get needs names of settings; show lists them.") }
    case .set: if words.isEmpty { throw ValidationError("set needs settings as NAME=VALUE.") }
    case .backup, .restore:
      if words.count != 1 { throw ValidationError("\(action.rawValue) takes one file.") }
    case .save, .factoryReset:
      if !words.isEmpty { throw ValidationError("\(action.rawValue) takes no further arguments.") }
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
    if client.request != nil { return try checkReading(client) }
    if let reading = client.script, reading.values.isEmpty, reading.isIncomplete {
      throw CommandFailure(
        .unavailable,
        "\(client.path): no reply to any request; the line is full: use a higher baud rate or fewer messages")
    }
    if let reading = client.script, reading.values.isEmpty, let pattern {
      throw CommandFailure(.unavailable, "the receiver has no setting that matches \(pattern)")
    }
  }

  private func get() throws {
    if words.count == 1, SettingName.isOfSeveral(words[0]) { return try getSeveral(words[0]) }
    let isOfEach = words.allSatisfy { FamilySettings.names.contains($0.lowercased()) }
    if isOfEach, words.contains(where: SettingName.isOfSeveral) { return try getOfFamily() }
    let names = try words.map { word in try usage { () throws(SettingProblem) in try SettingName(word) } }
    let client = try run { source in
      ConfigureClient<SettingsReading>(
        source, preparation: raisedIfFull, family: { [words] _, _ in FamilySettings.reading(words) }
      ) { receiver, line throws(SettingProblem) in
        var reading = try SettingsReading(names: names, of: receiver)
        reading.raisedRate = line.raisedRate
        return reading
      }
    }
    try print(client)
    if client.request != nil { return try checkReading(client) }
    guard let reading = client.script else { return }
    var problems: [String] = []
    if !reading.missing.isEmpty { problems.append("the receiver does not have \(NameList.text(reading.missing))") }
    if !reading.withoutReply.isEmpty {
      problems.append(
        "no reply for \(NameList.text(reading.withoutReply)): the receiver does not have it, or its line is full "
          + "(use a higher baud rate or fewer messages)")
    }
    if !problems.isEmpty {
      throw CommandFailure(.unavailable, "\(client.path): \(problems.joined(separator: "; "))")
    }
  }

  /// Prints settings whose names a receiver of another maker has. On a u-blox one some stand for several settings, and are
  /// printed without others.
  private func getOfFamily() throws {
    let client = try run { source in
      ConfigureClient<SettingsReading>(source, family: { [words] _, _ in FamilySettings.reading(words) }) {
        [words] _, _ throws(SettingProblem) in
        for word in words { _ = try SettingName(word) }
        throw SettingProblem("\(words[0]): name one setting at a time")
      }
    }
    try print(client)
    try checkReading(client)
  }

  /// Prints the settings that a name of every family stands for, such as `messages`.
  private func getSeveral(_ name: String) throws {
    let client = try run { source in
      ConfigureClient<SettingsReading>(
        source, preparation: raisedIfFull, family: { _, _ in FamilySettings.reading([name]) }
      ) { receiver, line throws(SettingProblem) in
        var reading = SettingsReading(
          pattern: SettingName.pattern(of: name, for: receiver), of: receiver, readsStandards: false)
        reading.raisedRate = line.raisedRate
        return reading
      }
    }
    try print(client)
    if client.request != nil { return try checkReading(client) }
    if client.script?.values.isEmpty != false {
      throw CommandFailure(.unavailable, "\(client.path): the receiver has no setting for \(name), or did not reply")
    }
  }

  /// The settings that a receiver of another maker has reported, or shown.
  private func familyValues(_ client: borrowing ConfigureClient<SettingsReading>) -> [SettingValue] {
    var values: [SettingValue] = []
    for case .value(let value) in client.performed { values.append(FamilySettings.value(value)) }
    if client.request?.readsBaud == true, let rate = client.readRate { values.append(FamilySettings.baud(rate)) }
    return values
  }

  /// The same for a file, without the outputs, which follow from the messages.
  private func storedValues(
    _ client: borrowing ConfigureClient<SettingsReading>, of receiver: ReceiverDescription
  ) -> [SettingValue] {
    var values: [SettingValue] = []
    for case .value(let value) in client.performed where value.kind != .output {
      if FamilySettings.canRestore(value, on: receiver) { values.append(FamilySettings.stored(value, of: receiver)) }
    }
    if client.request?.readsBaud == true, let rate = client.readRate, receiver.takesRate(rate) {
      values.append(FamilySettings.baud(rate))
    }
    return values
  }

  /// The names of the settings that the receiver did not report.
  private static func silent(
    _ client: borrowing ConfigureClient<SettingsReading>, of request: FamilySettings.Request
  ) -> [String] {
    zip(request.names, client.performed).filter { !$0.1.isDone }.map(\.0)
  }

  private func checkReading(_ client: borrowing ConfigureClient<SettingsReading>) throws {
    guard let request = client.request else { return }
    let silent = Self.silent(client, of: request)
    // A list leaves out settings that the receiver's sentences do not show.
    if silent.isEmpty || action == .show && silent.count < request.names.count { return }
    throw CommandFailure(
      .unavailable, "\(client.path): the receiver neither reports nor shows \(NameList.text(silent))")
  }

  private func print(_ client: borrowing ConfigureClient<SettingsReading>) throws {
    if let receiver = client.description, client.request != nil {
      let lines = SettingLines(device: client.path, receiver: receiver, values: familyValues(client))
      return try Output.write(json ? lines.json() : lines.lines())
    }
    guard let reading = client.script, let receiver = client.description else { return }
    let lines = SettingLines(device: client.path, receiver: receiver, values: reading.values)
    try Output.write(json ? lines.json() : lines.lines())
    if reading.isIncomplete, reading.withoutReply.isEmpty {
      printNotice("\(client.path): some requests had no reply; the output is incomplete")
    }
  }

  // MARK: Changing

  private func set() throws {
    let words = try words.map { word in try usage { () throws(SettingProblem) in try SettingWord(word) } }
    // More fixes need a faster line first: at the old rate they would fill it, and the change of the rate would be
    // lost.
    let rate = words.contains(where: \.changesEpochPeriod) ? words.compactMap(\.lineRate).last : nil
    let preparation = rate.map { LinePreparation.raised(to: $0) } ?? raisedIfFull
    let client = try run(raisingRate: rate) { source in
      ConfigureClient<SettingsEdit>(
        source, preparation: preparation, measures: words.contains(where: \.changesEpochPeriod),
        portRate: Self.rate(after:), family: { FamilySettings.changing(words, on: $0, at: $1) }
      ) { receiver, line throws(SettingProblem) in
        try SettingsEdit(words, of: receiver, port: line.port, hasRate: line.hasRate, line: line.measured)
      }
    }
    if client.request != nil { return try printChanges(client) }
    guard let edit = client.script else { return }
    if let problem = edit.problem { try usage { () throws(SettingProblem) in throw problem } }
    for (name, result) in zip(edit.names, edit.results) where result == .changed {
      try Output.write("\(name) is set\n")
    }
    for (name, result) in zip(edit.names, edit.results) where result == .unchanged && !isRate(name, edit) {
      try Output.write("\(name) has this value already\n")
    }
    if let rate = client.changedRate { try Output.write("the line is at \(rate) baud\n") }
    if let failure = EditFailure.of(edit, isAllOrNothing: true) { throw failure }
  }

  /// Prints what was changed on a receiver of another maker.
  private func printChanges<Script: ReceiverScript>(_ client: borrowing ConfigureClient<Script>) throws {
    guard let request = client.request, let receiver = client.description else { return }
    let pairs = Array(zip(zip(request.names, request.tasks), client.performed))
    let isRestarted = pairs.contains { one in
      if case .set(.constellations) = one.0.1 { [.written, .interrupted].contains(one.1) } else { false }
    }
    if let notice = receiver.noticeOfRestartedLog, isRestarted || client.changedRate != nil && receiver.restartsForRate
    {
      printNotice("\(client.path): \(notice)")
    }
    let results = pairs.map { (name: $0.0.0, result: $0.1) }
    if !request.isPartial, let failure = EditFailure.of(results, failedRate: client.failedRate, of: request) {
      throw failure
    }
    for ((name, task), result) in pairs where result.isDone {
      try Output.write("\(name) \(result == .wasThere ? "has this value already" : "is set")\n")
      if result != .wasThere, case .set(let value) = task, let restart = receiver.restart(for: value.kind) {
        printNotice("\(name) is in force after `sextant configure save` and `sextant send '$\(restart)'`, a restart")
      }
    }
    guard let rate = request.baud, client.failedRate == nil else { return }
    try Output.write("the line is at \(client.changedRate ?? rate) baud\n")
  }

  /// Whether a name sets the rate of the line, which is reported separately.
  private func isRate(_ name: String, _ edit: SettingsEdit) -> Bool {
    edit.portRate != nil && ["baud", "baudrate"].contains { name.lowercased().hasSuffix($0) }
  }

  /// The rate of the line is changed if all other settings have the desired values.
  private static func rate(after edit: SettingsEdit) -> UInt32? {
    edit.results.allSatisfy { $0 == .changed || $0 == .unchanged } ? edit.portRate : nil
  }

  private func save() throws {
    let client = try run { source in
      ConfigureClient<ConfigurationSaving>(source, family: { receiver, _ in Self.request(.save, on: receiver) }) {
        receiver, _ throws(SettingProblem) in ConfigurationSaving(of: receiver)
      }
    }
    if client.request != nil {
      switch client.performed.first {
      case .written?: return try Output.write("saved in the receiver's memory\n")
      case .refused?: throw CommandFailure(.unavailable, "\(client.path): the receiver refused to save its settings")
      default:
        throw CommandFailure(.unavailable, "\(client.path): no reply; it is unknown whether the settings are saved")
      }
    }
    switch client.script?.result {
    case .permanent: try Output.write("saved in flash\n")
    case .batteryBacked:
      try Output.write("saved in battery-backed memory: without a battery it is lost with the power\n")
    case .refused:
      throw CommandFailure(.unavailable, "\(client.path): the receiver refused to save its settings")
    case .silent, nil:
      throw CommandFailure(.unavailable, "\(client.path): no reply; it is unknown whether the settings are saved")
    }
  }

  /// The request of an action; without its command it is refused by name.
  private static func request(_ action: ReceiverAction, on receiver: ReceiverDescription) -> FamilySettings.Request {
    var request = FamilySettings.Request(action)
    let name = action == .save ? "a command to save" : "a factory reset"
    if !receiver.takes(action) { request.missing = [name] }
    return request
  }

  // MARK: Files

  private func backup(to file: String) throws {
    let client = try readAll(nil, withStandards: true)
    guard let receiver = client.description else { return }
    let values: [SettingValue]
    if let request = client.request {
      let silent = Self.silent(client, of: request)
      values = storedValues(client, of: receiver)
      guard !client.performed.allSatisfy({ !$0.isDone }) else {
        throw CommandFailure(.unavailable, "\(client.path): the receiver reports no settings; nothing was written")
      }
      if !silent.isEmpty {
        printNotice(
          "\(client.path): the receiver neither reports nor shows \(NameList.text(silent)), which the file lacks")
      }
      for case .value(let value) in client.performed {
        let lost = FamilySettings.unstored(value, of: receiver)
        if !lost.isEmpty {
          printNotice("\(client.path): the file does not have, or not with this interval: \(NameList.text(lost))")
        }
        if let unseen = FamilySettings.unseen(value, of: receiver) {
          printNotice("\(client.path): the receiver does not report its messages: the file is \(unseen)")
        }
      }
    } else {
      guard let reading = client.script else { return }
      // A user would rely on an incomplete backup.
      guard !reading.isIncomplete, !reading.values.isEmpty else {
        throw CommandFailure(.unavailable, "\(client.path): some requests had no reply; nothing was written")
      }
      values = reading.values
    }
    let text = ConfigurationFile.text(values, of: receiver, all ? .everything : .differences)
    guard file != "-" else { return try Output.write(text) }
    do throws(FileError) { try UserFile.replace(file, with: text, permissions: 0o600) } catch {
      throw CommandFailure(
        error.isForbidden ? .noPermission : .cannotCreate, error.description)
    }
  }

  private func restore(from path: String) throws {
    let file = try read(path)
    let client = try run(raisingRate: Self.dialogueRate) { source in
      ConfigureClient<ConfigurationRestoring>(
        source, portRate: { $0.edit?.portRate }, family: { FamilySettings.restoring(file.words, on: $0, at: $1) }
      ) {
        receiver, line throws(SettingProblem) in
        try ConfigurationRestoring(
          file, to: receiver, port: line.port, hasRate: line.hasRate, raisedRate: line.raisedRate)
      }
    }
    if let request = client.request {
      try printChanges(client)
      let results = zip(request.names, client.performed)
      let open = results.filter { [.interrupted, .withdrawn].contains($0.1) }.map(\.0)
      guard open.isEmpty else {
        throw CommandFailure(.unavailable, "\(path): interrupted; \(NameList.text(open)) may differ from the file")
      }
      let baud = client.failedRate == nil ? [] : ["baud"]
      let left = request.missing + results.filter { !$0.1.isDone }.map(\.0) + baud
      guard !left.isEmpty else { return }
      throw CommandFailure(
        .unavailable, "\(path): the receiver lacks or refuses \(NameList.text(left)); the others are set")
    }
    guard let script = client.script, let edit = script.edit else { return }
    if let receiver = client.description, let firmware = file.firmware, firmware != receiver.firmware {
      printNotice("\(path): written with firmware \(firmware); the receiver has \(receiver.firmware ?? "another one")")
    }
    for group in script.skipped { printNotice("skipped: \(NameList.text(group.names)): \(group.reason)") }
    let changed = edit.results.count { $0 == .changed }
    try Output.write("\(changed) setting\(changed == 1 ? "" : "s") changed\n")
    if let rate = client.changedRate { try Output.write("the line is at \(rate) baud\n") }
    if let failure = EditFailure.of(edit, isAllOrNothing: false) { throw failure }
    if !script.skipped.isEmpty {
      throw CommandFailure(
        .unavailable, "\(path): some settings do not apply to this receiver; the others are set")
    }
  }

  private func read(_ path: String) throws -> ConfigurationFile {
    let bytes: [UInt8]
    do throws(FileError) { bytes = try InputFile.readAll(path, limit: 1 << 20) } catch {
      throw CommandFailure(
        error.isForbidden ? .noPermission : error.isMissing || error.isFolder ? .noInput : .inputOutput,
        error.description)
    }
    do throws(ConfigurationFile.Problem) {
      return try ConfigurationFile(String(decoding: bytes, as: UTF8.self))
    } catch {
      throw CommandFailure(.badData, "\(path): \(error.description)")
    }
  }

  // MARK: Factory reset

  private func factoryReset() throws {
    if !yes { try askForConfirmation() }
    let client = try run { source in
      ConfigureClient<FactoryReset>(
        source, toleratesSilence: true, family: { receiver, _ in Self.request(.factoryReset, on: receiver) }
      ) { _, _ throws(SettingProblem) in FactoryReset() }
    }
    if client.request != nil { return try finishFactoryReset(client) }
    switch client.script?.result {
    case .done: try Output.write("the receiver has the settings of its firmware\n")
    case .refused: throw CommandFailure(.unavailable, "\(client.path): the receiver refused the reset")
    case .silent, nil:
      throw CommandFailure(
        .unavailable, "\(client.path): no reply after the reset; `sextant probe` finds the receiver at another rate")
    }
  }

  /// Finds a receiver of another maker again: its firmware's baud rate may be another one, at which the acknowledgement is lost.
  private func finishFactoryReset(_ client: borrowing ConfigureClient<FactoryReset>) throws {
    let before = client.readRate
    guard let result = client.performed.first, [.written, .silent, .interrupted].contains(result) else {
      throw CommandFailure(.unavailable, "\(client.path): the receiver refused the reset")
    }
    let rate: UInt32?
    do {
      let found = try run { source in
        ConfigureClient<FactoryReset>(source, returns: true, family: { _, _ in FamilySettings.Request() }) {
          _, _ throws(SettingProblem) in FactoryReset()
        }
      }
      rate = found.readRate
    } catch let failure as CommandFailure where failure.exitCode == SystemExitCode.unavailable.rawValue {
      throw CommandFailure(.unavailable, "after the reset: \(failure.description)")
    }
    guard result == .written || rate != before else {
      throw CommandFailure(
        .unavailable, "\(client.path): no reply to the reset, and the receiver's baud rate is as before")
    }
    try Output.write("the receiver has the settings of its firmware\n")
    if let rate, rate != before { try Output.write("the line is at \(rate) baud\n") }
  }

  private func askForConfirmation() throws {
    guard isInputTerminal() else {
      throw CommandFailure(
        .usage, "factory-reset deletes the stored settings; without a terminal to confirm, it needs --yes")
    }
    printRaw("This deletes the stored settings of the receiver. Continue? [y/N] ")
    let answer = readLine()?.lowercased()
    guard answer == "y" || answer == "yes" else { throw CommandFailure(.usage, "nothing was changed") }
  }

  // MARK: The receiver

  /// Reads all settings, or those that match a pattern. On a slow line that is full of the receiver's own messages this
  /// would take minutes, so its rate is raised meanwhile, in RAM only.
  private func readAll(_ pattern: String?, withStandards: Bool) throws -> ConfigureClient<SettingsReading> {
    try run(raisingRate: Self.dialogueRate) { source in
      ConfigureClient<SettingsReading>(
        source, family: { _, _ in FamilySettings.reading(pattern.map { [$0] } ?? [], isForFile: withStandards) }
      ) { receiver, line throws(SettingProblem) in
        var reading = SettingsReading(pattern: pattern, of: receiver, readsStandards: withStandards)
        reading.raisedRate = line.raisedRate
        return reading
      }
    }
  }

  /// The rate of a long dialogue, baud. Every family and most boards support it.
  static let dialogueRate: UInt32 = 115_200

  /// The preparation of a line whose rate may change.
  private var raisedIfFull: LinePreparation { receiver.baud == nil ? .raisedIfFull : .none }

  /// Opens the receiver and runs a script.
  ///
  /// - Parameter raisingRate: the minimum rate of the line while the script runs, baud.
  private func run<Script: ReceiverScript>(
    raisingRate: UInt32? = nil, _ making: (_ path: String) -> ConfigureClient<Script>
  ) throws -> ConfigureClient<Script> {
    let choice = try receiver.choose(for: .sending)
    // The settings of a killed program must be neither shown nor saved.
    try CrashRecovery.restore(choice)
    var settings = SessionSettings(intent: .identify, line: .serial)
    settings.desired = { receiver in
      var desired = DesiredConfiguration.nothing
      // On some receivers of other makers a rate is stored permanently, or takes a restart.
      if receiver.family == nil { desired.leastPortRate = raisingRate }
      return desired
    }
    let path = choice.source.name
    var loop = try ReceiverLoop(choice, settings, seconds: nil, client: making(path))
    try loop.run()
    guard loop.client.isOver else {
      if showsProgress() { clearProgress() }
      throw CommandFailure(
        .unavailable, "\(path): \(loop.isInterrupted ? "interrupted" : "ended") before it was complete")
    }
    return loop.takeClient()
  }

  /// Runs `body`. A mistake in the words of the user is a usage error.
  private func usage<Value>(_ body: () throws(SettingProblem) -> Value) throws -> Value {
    do throws(SettingProblem) { return try body() } catch { throw CommandFailure(.usage, error.description) }
  }
}

/// The failure for settings that could not be set.
enum EditFailure {
  /// The failure of a receiver of another maker, on which all settings are changed or none.
  ///
  /// - Parameter failedRate: the rate that the line did not get, of the request or before it, baud.
  static func of(
    _ results: [(name: String, result: ReceiverTask.Result)], failedRate: UInt32?, of request: FamilySettings.Request
  ) -> CommandFailure? {
    func names(_ result: ReceiverTask.Result) -> [String] { results.filter { $0.result == result }.map(\.name) }
    var parts: [String] = []
    let texts: [(ReceiverTask.Result, String, String)] = [
      (.unsupported, "the receiver does not have", ""), (.refused, "the receiver refused", ""),
      (.notVerified, "the receiver was sent", ", and goes on with another value"),
      (.silent, "no reply for", ", and the receiver's messages do not show it"),
    ]
    for (result, before, after) in texts where !names(result).isEmpty {
      parts.append("\(before) \(NameList.text(names(result)))\(after)")
    }
    if failedRate == nil, results.allSatisfy(\.result.isDone) { return nil }
    // Only an interruption leaves a part of the settings changed, or a rate after which they could not be undone.
    let (open, isCut) = (names(.interrupted), parts.isEmpty)
    if let failedRate {
      parts.append("the receiver was not found at \(failedRate) baud")
    } else if isCut {
      parts.append("interrupted")
    }
    let changed = isCut ? names(.written) : []
    if !changed.isEmpty { parts.append("\(NameList.text(changed)) \(changed.count == 1 ? "is" : "are") set") }
    if !open.isEmpty { parts.append("\(NameList.text(open)) may be changed; check `sextant configure show`") }
    if let failedRate, let baud = request.baud, failedRate != baud {
      parts.append("the line is at \(baud) baud")
    } else if open.isEmpty, changed.isEmpty {
      parts.append("nothing was changed")
    }
    return CommandFailure(.unavailable, parts.joined(separator: "; "))
  }

  /// - Parameter isAllOrNothing: whether no setting is changed after a refusal.
  static func of(_ edit: SettingsEdit, isAllOrNothing: Bool) -> CommandFailure? {
    let refused = edit.names(of: .refused)
    let missing = edit.names(of: .missing)
    let silent = edit.names(of: .silent)
    let other = edit.names(of: .notVerified)
    let notRestored = edit.names(of: .notRestored)
    var parts: [String] = []
    if !missing.isEmpty {
      parts.append("the receiver does not have \(NameList.text(missing)) (check model and firmware)")
    }
    if !refused.isEmpty {
      parts.append(
        "the receiver refused \(NameList.text(refused)) (out of range, in conflict with others, or locked)")
    }
    if !other.isEmpty { parts.append("the receiver acknowledged \(NameList.text(other)) but has another value") }
    if !silent.isEmpty { parts.append("no reply for \(NameList.text(silent))") }
    if parts.isEmpty { return nil }
    if !notRestored.isEmpty { parts.append("\(NameList.text(notRestored)) could not be restored") }
    let rest = notRestored.isEmpty ? "nothing was changed" : "the others are as before"
    if edit.isReceiverLost {
      parts.append("the receiver may have the new baud rate (`sextant probe` finds it)")
    } else {
      parts.append(isAllOrNothing ? rest : "the others are set")
    }
    return CommandFailure(.unavailable, parts.joined(separator: "; "))
  }
}

/// The output of `configure show` and `get`.
struct SettingLines {
  var device: String
  var receiver: ReceiverDescription
  var values: [SettingValue]

  /// Returns one line for each setting: name, value, unit.
  func lines() -> String {
    let width = min(48, values.map(\.name.utf8.count).max() ?? 0)
    return values.map { value in
      let gap = String(repeating: " ", count: max(1, width + 2 - value.name.utf8.count))
      return value.name + gap + value.text + (value.unit.isEmpty ? "" : " " + value.unit) + "\n"
    }.joined()
  }

  /// Returns one object: the receiver, and the settings with their values as numbers, arrays or strings.
  func json() -> String {
    var line = JSONLine()
    line.beginObject()
    line.field("device", text: device)
    line.field("model", textOrNull: receiver.model)
    line.field("firmware", textOrNull: receiver.firmware)
    line.beginArray("settings")
    for value in values {
      line.beginObject()
      line.field("name", text: value.name)
      if let key = value.key { line.field("id", Int64(key)) }
      line.name("value")
      put(value.text, &line)
      if !value.unit.isEmpty { line.field("unit", text: value.unit) }
      line.endObject()
    }
    line.endArray()
    line.endObject()
    line.endLine()
    return line.text
  }

  /// Writes a value as JSON. Bit fields are integers.
  private func put(_ text: String, _ line: inout JSONLine) {
    if text.hasPrefix("\"") { return line.string(text.dropFirst().dropLast().utf8) }
    if text.hasPrefix("[") {
      let parts = text.dropFirst().dropLast().split(separator: ",").map { number($0) }
      return raw("[" + parts.joined(separator: ",") + "]", &line)
    }
    // The values of receivers of other makers are the words of `set`.
    if receiver.family != nil, Double(text) == nil { return line.string(text.utf8) }
    raw(number(text[...]), &line)
  }

  private func number(_ text: Substring) -> String {
    if text.hasPrefix("0x"), let bits = UInt64(text.dropFirst(2), radix: 16) { return String(bits) }
    // JSON has no infinite number and no NaN.
    return Double(text)?.isFinite == true ? String(text) : "null"
  }

  private func raw(_ text: String, _ line: inout JSONLine) { for byte in text.utf8 { line.put(raw: byte) } }
}
