// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import EventLoop
import FileSystem
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
      command.
      """,
    version: "sextant \(SextantVersion.text)",
    subcommands: [
      Devices.self, Probe.self, Watch.self, View.self, Track.self, Authorize.self, Configure.self, Record.self,
      Decode.self, Report.self, Power.self, Batch.self, Poll.self, Send.self, ResetReceiver.self, Simulate.self,
      Serve.self, Status.self, Time.self, Bench.self,
    ])

  /// What each command needs; a command with a receiver needs more and names what it does not get.
  private static let leastDescriptors = 8

  static func main() {
    if let shortage = ProcessStart.prepare(descriptors: leastDescriptors) {
      printNotice(shortage.description)
      leave(with: CommandFailure.ExitCode.systemResource.rawValue)
    }
    ignoreBrokenPipes()
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
      leave(with: CommandFailure.ExitCode.systemResource.rawValue)
    } catch is ReaderGone {
      leave(with: 0)
    } catch let problem as FileError {
      printNotice(problem.description)
      leave(with: (problem.isForbidden ? CommandFailure.ExitCode.noPermission : .cannotCreate).rawValue)
    } catch {
      exit(withError: error)
    }
  }
}
