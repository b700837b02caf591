// SPDX-License-Identifier: Apache-2.0
import LinuxIO
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import LocationService

/// The file of the newest location, which is replaced without waiting for the disk.
@Suite("A file that is replaced in the background")
struct BackgroundFileTests: ~Copyable {
  private let folder: TemporaryFolder
  private let path: String
  private let file: BackgroundFile

  init() throws {
    folder = try TemporaryFolder()
    path = "\(folder.path)/newest-location"
    file = BackgroundFile(path)
  }

  private static func unexpected(_ error: FileError) { Issue.record("\(error)") }

  @Test("LC-3 at the end the last of many texts is on the disk")
  func last() throws {
    for number in 0..<1000 {
      file.replaceLater(with: "\(number)", Self.unexpected)
      if number % 100 == 0 {
        file.finish(Self.unexpected)
        #expect(try PrivateFile.read(path) == "\(number)")
      }
    }
    file.finish(Self.unexpected)
    #expect(try PrivateFile.read(path) == "999")
    #expect(PrivateFile.names(in: folder.path) == ["newest-location"])
  }

  @Test("LC-3 an older text that waits does not replace one that was written at once")
  func atOnce() throws {
    for number in 0..<100 {
      file.replaceLater(with: "older", Self.unexpected)
      try file.replace(with: "\(number)")
      file.finish(Self.unexpected)
      #expect(try PrivateFile.read(path) == "\(number)")
    }
  }

  @Test("A text that cannot be stored is reported")
  func failure() throws {
    let folder = try TemporaryFolder()
    try UserFile.replace("\(folder.path)/file", with: "")
    let file = BackgroundFile("\(folder.path)/file/newest-location")
    let reported = Mutex<[Errno]>([])
    let report: @Sendable (FileError) -> Void = { error in reported.withLock { $0.append(error.errno) } }
    file.replaceLater(with: "text", report)
    file.finish(report)
    #expect(reported.withLock(\.self) == [.notDirectory])
  }
}
