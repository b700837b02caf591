// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxIO
import ReceiverRuntime

// The location service of this computer. The options are read here, without an option library, to keep the daemon
// small.
func variable(_ name: String) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  return unsafe String(cString: value)
}

/// Writes a line to standard error.
func complain(_ text: String) {
  let line = Array("sextantd: \(PrintedText.escaped(text))\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

// Before the options: without /proc there are no arguments, and the daemon would start with its defaults.
if let shortage = ProcessStart.prepare(descriptors: Daemon.leastDescriptors, threads: Daemon.leastThreads) {
  complain(shortage.description)
  exit(SystemExitCode.systemResource.rawValue)
}

let code: SystemExitCode
do throws(DaemonOptions.Mistake) {
  let options = try DaemonOptions(Array(CommandLine.arguments.dropFirst()))
  if options.showsHelp {
    print(DaemonOptions.help, terminator: "")
    code = .success
  } else if options.showsVersion {
    print("sextantd \(SextantVersion.text)")
    code = .success
  } else if options.isLauncher {
    code = UserLauncher.run(options.socket ?? DaemonOptions.defaultSocket)
  } else {
    code = Daemon.run(options, variable: variable)
  }
} catch {
  complain(error.text)
  code = .usage
}
exit(code.rawValue)
