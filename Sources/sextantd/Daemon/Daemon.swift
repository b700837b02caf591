// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import LocationService
import Messages
import MonotonicTime
import Positioning
import ReceiverRuntime
import ReceiverStream
import WireBytes

/// The daemon: the host of all programs, their sockets, and the signals of the process.
package enum Daemon {
  /// Descriptors that the daemon needs without a program: its pollers, sockets, a receiver, udev and the bus. Threads:
  /// the service, its sensors and a look-up.
  package static let leastDescriptors = 24
  package static let leastThreads = 3

  /// Runs until SIGTERM or SIGINT. Returns the exit code.
  ///
  /// - Parameter variable: returns a variable of the environment.
  package static func run(_ options: DaemonOptions, variable: @escaping (String) -> String?) -> SystemExitCode {
    let log: @Sendable (String) -> Void = { Console.log($0) }
    guard var poller = try? Poller(catching: [.terminate, .interrupt, .hangUp]) else {
      log("the system has no descriptors left (raise LimitNOFILE)")
      return .systemResource
    }
    let systemd = Systemd(variable: variable)
    let path = options.socket ?? DaemonOptions.defaultSocket
    let sockets: ListeningSockets
    do throws(ListeningSockets.Failure) {
      sockets = try ListeningSockets(options, at: path, systemd)
    } catch {
      log(error.text)
      return error.code
    }
    let settings = settings(options, socketFolder: ListeningSockets.folder(of: path), variable)
    let host = ServiceHost(
      app: AppDescription(identifier: "sextantd", keys: UsageKeys()), settings: settings, log: log)
    if let folder = settings.stateFolder {
      StoredPrograms(stateFolder: folder).rename(
        identity: { ProgramIdentity.executable(ExactText($0)).name.text },
        isName: { ProgramIdentity.isStoredName(ExactText($0)) }, log: log)
    }
    if !OpenedConnection.isReported {
      log("the kernel does not report who has opened a connection (it needs Linux 5.14 with CONFIG_UNIX_DIAG)")
    }
    let policy = DaemonPolicy.installed(variable)
    for line in StartLines.lines(socket: path, settings) { log(line) }
    host.start(endWaker: poller.waker) { poller in
      let server = try LocationServer(
        host, UnixSocket(adopting: sockets.location), policy: policy, version: SextantVersion.text,
        gpsd: (sockets.gpsd, options.gpsdIsOff), systemd, &poller, at: SystemClock.monotonic)
      // Until then the thread may still fail to start, for example without a descriptor for its events.
      systemd.notify("READY=1")
      return server
    }
    let isRequested = wait(&poller, until: { host.hasEnded }) {
      policy.reload(variable)
      host.wakeThread()
      log("\(LocationPolicy.path) was read again")
    }
    systemd.notify("STOPPING=1")
    host.finish()
    sockets.removePaths()
    // The service has logged why it ended on its own.
    return isRequested ? .success : .systemResource
  }

  /// Waits for the end. SIGHUP is the request to read the configuration again (daemon(7)). Returns whether a signal requests
  /// the end; false if the service ended on its own.
  private static func wait(_ poller: inout Poller, until hasEnded: () -> Bool, reload: () -> Void) -> Bool {
    var release: UInt64? = SystemClock.monotonic.nanoseconds + CodePageEviction.delayNanoseconds
    while !hasEnded(), let events = try? poller.wait(deadline: release) {
      if events.contains(.timeout) {
        CodePageEviction.perform()
        release = nil
      }
      for case .signal(let signal) in events {
        guard signal == .hangUp else { return true }
        reload()
      }
    }
    return false
  }

  // MARK: Settings

  private static func settings(
    _ options: DaemonOptions, socketFolder: String, _ variable: (String) -> String?
  ) -> ServiceSettings {
    var settings = ServiceSettings.ofDaemon { name in
      guard name == "SEXTANT_STATE_DIR" else { return variable(name) }
      // systemd names the state folder of a unit (systemd.exec(5), StateDirectory). It is not the folder of root's
      // programs, which other users must not write to.
      return variable(name) ?? variable("STATE_DIRECTORY") ?? (geteuid() == 0 ? "/var/lib/sextantd" : nil)
    }
    settings.use(options.devices)
    if options.isReadOnly { settings.isReadOnly = true }
    settings.useCorrections(options.corrections, variable)
    settings.completeAssistNow(variable)
    if let assistance = options.assistance { settings.assistance = assistance }
    settings.runFolder = settings.stateFolder.map { _ in "\(socketFolder)/sextantd" }
    return settings
  }
}

/// Human-readable lines.
enum Console {
  /// Writes a line to standard error. Under systemd the line begins with the level of the journal (sd-daemon(3)): 6,
  /// information.
  static func log(_ text: String) {
    let level = unsafe getenv("JOURNAL_STREAM") == nil ? "" : "<6>"
    let line = Array("\(level)sextantd: \(PrintedText.escaped(text))\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
