// SPDX-License-Identifier: Apache-2.0

/// The exit codes of the programs, from sysexits.h.
package enum SystemExitCode: Int32, Sendable {
  /// EX_OK.
  case success = 0
  /// EX_USAGE: the command line has a mistake.
  case usage = 64
  /// EX_DATAERR: a file has another content.
  case badData = 65
  /// EX_NOINPUT: there is no such file or device.
  case noInput = 66
  /// EX_UNAVAILABLE: a receiver, service or library does not reply, or is not there.
  case unavailable = 69
  /// EX_OSERR: the system has no descriptors, threads or memory left.
  case systemResource = 71
  /// EX_CANTCREAT: a file cannot be written.
  case cannotCreate = 73
  /// EX_IOERR: a device or a file fails.
  case inputOutput = 74
  /// EX_TEMPFAIL: another program holds the device or the file.
  case held = 75
  /// EX_NOPERM: a permission is missing.
  case noPermission = 77
  /// EX_CONFIG: a configuration file has a mistake.
  case configuration = 78
}
