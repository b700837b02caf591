// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxIO
import ReceiverRuntime
import SerialPort

/// The command line. Errors are printed to standard error in one line, with an exit code of sysexits.h.
@main
struct Sextant: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sextant",
    abstract: "Location from u-blox and NMEA receivers on Linux boards.",
    discussion: """
      Results are printed to standard output, messages to standard error. `sextant help COMMAND` prints the options of a \
      command. Pages that are named docs/… are in share/doc/sextant, such as /usr/share/doc/sextant/docs.
      """,
    version: "sextant \(SextantVersion.text)",
    subcommands: [Bench.self],
    groupedSubcommands: [
      CommandGroup(name: "Watch", subcommands: [Devices.self, Probe.self, Watch.self, View.self, Track.self]),
      CommandGroup(name: "Recording", subcommands: [Record.self, Decode.self, Report.self]),
      CommandGroup(
        name: "Receiver",
        subcommands: [
          Configure.self, Power.self, Batch.self, Poll.self, Send.self, ResetReceiver.self, Check.self, Bridge.self,
          Base.self, Feed.self,
        ]),
      CommandGroup(name: "Service", subcommands: [Serve.self, Status.self, Authorize.self, Time.self, Uplink.self]),
      CommandGroup(name: "Simulation", subcommands: [Simulate.self]),
    ])

  /// The descriptors that every command needs. A command with a receiver needs more, and names what it does not get.
  private static let leastDescriptors = 8

  static func main() {
    if let shortage = ProcessStart.prepare(descriptors: leastDescriptors) {
      printNotice(shortage.description)
      leave(with: SystemExitCode.systemResource.rawValue)
    }
    do {
      try CommandName.check(Array(CommandLine.arguments.dropFirst()))
      var command = try parseAsRoot()
      try command.run()
    } catch let failure as SerialPortError {
      printNotice(failure.description)
      leave(with: failure.exitCode)
    } catch let failure as CommandFailure {
      printNotice(failure.description)
      leave(with: failure.exitCode)
    } catch let failure as PollerError {
      printNotice(failure.description)
      leave(with: SystemExitCode.systemResource.rawValue)
    } catch is ReaderGone {
      leave(with: 0)
    } catch let problem as FileError {
      printNotice(problem.description)
      leave(with: (problem.isForbidden ? SystemExitCode.noPermission : .cannotCreate).rawValue)
    } catch {
      if let text = UsageMistake.text(message(for: error), full: fullMessage(for: error)) {
        printNotice(text)
        leave(with: SystemExitCode.usage.rawValue)
      }
      exit(withError: error)
    }
  }
}
