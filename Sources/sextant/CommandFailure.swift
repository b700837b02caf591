/// Why a command ends: a line for people that says what to do, and an exit code after sysexits.h.
struct CommandFailure: Error, CustomStringConvertible {
  var exitCode: Int32
  var description: String

  static let badData: Int32 = 65
  static let usage: Int32 = 64
  static let noInput: Int32 = 66
  static let unavailable: Int32 = 69
  static let cannotCreate: Int32 = 73
  static let inputOutput: Int32 = 74
  static let held: Int32 = 75
  static let noPermission: Int32 = 77
  static let configuration: Int32 = 78
}
