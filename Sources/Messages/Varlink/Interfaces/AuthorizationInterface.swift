// SPDX-License-Identifier: Apache-2.0

extension VarlinkService.Interface {
  /// The interface of agents, which prompt users for permission. `docs/reference/org.sextant.Authorization.varlink` has
  /// the same text.
  package static let authorization = VarlinkService.Interface(
    name: "org.sextant.Authorization",
    description: """
      # Permissions of programs, and the questions of programs that wait for an answer. An agent, such as `sextant authorize
      # --agent` or a desktop, shows the questions of its user and sends the answers. The user of a caller is that of the kernel's
      # credentials. A parameter `user` names another one, for root only.
      interface org.sextant.Authorization

      # The stored permission of a program.
      type Program (
        # The name in the authorization store: NAME@EXECUTABLE, with the name of the executable's file.
        name: string,
        # The authorization: notDetermined, restricted, denied, authorizedWhenInUse or authorizedAlways.
        status: string,
        # The accuracy of its locations: full, or reduced.
        accuracy: string,
        # Whether the machine's policy refuses it locations, whatever the user decides.
        restricted: bool,
        # The number of regions that it monitors.
        regions: int,
        # Whether it monitors visits.
        visits: bool
      )

      # A question that waits for an answer.
      type Question (
        # The number for `Answer`.
        id: int,
        # The name of the program in the authorization store.
        name: string,
        # The name that the program states. It identifies nothing.
        label: ?string,
        # The process that asks.
        pid: int,
        # What the program requests: whenInUse, always or temporaryFullAccuracy.
        request: string,
        # Whether it has whenInUse and requests the step to always.
        isUpgrade: bool,
        # The reason in the program's own words, in one line.
        text: string
      )

      # Returns the programs with stored state, and the open questions.
      method List(user: ?int) -> (programs: []Program, questions: []Question)

      # Returns the open questions, now and whenever they change. The call needs `more`. While an agent watches, programs of the
      # user print no line about their questions.
      method Watch(user: ?int) -> (questions: []Question)

      # Answers a question: whenInUse, once, always or deny. For temporaryFullAccuracy, once is yes.
      method Answer(id: int, answer: string) -> ()

      # Stores a permission: authorizedWhenInUse, authorizedAlways or denied, or notDetermined to let the program ask again. The
      # accuracy is full or reduced; without it, it stays.
      method Set(name: string, status: string, accuracy: ?string, user: ?int) -> ()

      # The question was answered or withdrawn.
      error NoSuchQuestion (id: int)

      # No program of the user has this name in the store, and none asks.
      error NoSuchProgram (name: string)

      # The caller may not answer for this program: it is of another user, the program itself, a process that the program has
      # started, or in a user or mount namespace of its own.
      error NotPermitted ()

      # The permission cannot be stored.
      error NotStored (reason: string)

      """)
}
