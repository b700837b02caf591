// SPDX-License-Identifier: Apache-2.0
import Messages
import Positioning
import Testing

@Suite("Requests for full accuracy of a served program")
struct AccuracyRequestTests {
  @Test("AU-20 the reason for the end of a request for full accuracy reaches the program")
  func accuracyRefusals() {
    var keys = Connected.keys
    keys.temporaryPurposes = ["turn": "to find the turn"]
    var program = Connected(.authorizedWhenInUse, keys: keys)
    func change(to status: AuthorizationStatus) {
      program.engine.authorizationChanged(to: .init(status: status, accuracy: .reduced), at: program.instant)
      program.serve()
    }
    change(to: .authorizedWhenInUse)
    let id = program.add()
    program.carryAll()
    /// The answers since the last call.
    func answers() -> [ProgramMirror.Output] {
      program.carryAll()
      defer { program.others = [] }
      return program.others.filter { if case .temporaryAccuracy = $0 { true } else { false } }
    }
    // The second request is made before the program knows of the first question.
    for token in [1, 2] {
      program.call(.requestTemporaryFullAccuracy(purpose: "turn", token: token), by: id)
    }
    #expect(answers() == [.temporaryAccuracy(id, token: 2, .promptDeclined, refusal: .isAsking)])
    program.call(.requestTemporaryFullAccuracy(purpose: "walk", token: 3), by: id)
    #expect(
      answers() == [.temporaryAccuracy(id, token: 3, .promptDeclined, refusal: .missingPurpose("walk"))])
    change(to: .denied)
    #expect(answers() == [.temporaryAccuracy(id, token: 1, .promptDeclined, refusal: .notAuthorized)])
    change(to: .authorizedAlways)
    program.call(.requestTemporaryFullAccuracy(purpose: "turn", token: 4), by: id)
    program.carryAll()
    program.engine.authorizationAnswered(.deny, at: program.instant)
    program.serve()
    #expect(answers() == [.temporaryAccuracy(id, token: 4, nil, refusal: nil)])
  }
}
