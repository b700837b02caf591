// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

extension Tag {
  /// Needs the recorded logs, which are not part of the repository.
  @Tag static var corpus: Self
}

/// The recorded logs: the folder that SEXTANT_CORPUS names, otherwise `shared/corpus` next to the checkout.
///
/// If the logs are missing the tests are skipped, so that they do not fail on a clone that never had them; on a build
/// server, with CI=true, they fail.
enum Corpus {
  static let environment = ProcessInfo.processInfo.environment

  static var folder: String {
    if let folder = environment["SEXTANT_CORPUS"] { return folder }
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return package.appending(path: "../shared/corpus").standardized.path()
  }

  static var isRequired: Bool { environment["CI"] == "true" }
  static var isThere: Bool { !logs.isEmpty }
  static var isWanted: Bool { isThere || isRequired }

  /// The names of the logs for which gpsd's output exists.
  static let logs: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/gpsd")) ?? []
    return names.filter { $0.hasSuffix(".log") }.sorted()
  }()

  static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: folder + "/" + path)))
  }
}

@Suite("The recorded logs", .tags(.corpus), .enabled(if: Corpus.isRequired, "CI=true asks for the recorded logs"))
struct PresenceTests {
  @Test("The logs are where they are looked for: SEXTANT_CORPUS, or shared/corpus beside the checkout")
  func present() {
    #expect(Corpus.isThere, "no logs in \(Corpus.folder)")
  }
}
