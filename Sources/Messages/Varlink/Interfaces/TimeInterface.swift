// SPDX-License-Identifier: Apache-2.0

extension VarlinkService.Interface {
  /// The interface of the time service. `docs/reference/org.sextant.Time.varlink` has the same text.
  package static let time = VarlinkService.Interface(
    name: "org.sextant.Time",
    description: """
      # The time of the first receiver, as the time daemons of this computer get it. It needs no permission: it has no location.
      interface org.sextant.Time

      # A comparison of the receiver's time with the system's.
      type Sample (
        # The time by the receiver: ISO 8601, UTC.
        timestamp: string,
        # The receiver's time minus the system's, seconds.
        offset: float,
        # One standard deviation of the offsets, seconds.
        jitter: ?float,
        # The base-2 logarithm of the stated error in seconds.
        precision: int,
        # A leap second at the end of this UTC day: none, insertion or deletion.
        leap: string
      )

      # The number of pulses that were refused for a reason: stale, settling, jitter, noTime, inaccurate, phase, leapSecond.
      type Refusal (reason: string, count: int)

      # A socket of chronyd, or a segment of ntpd's shared memory.
      type Output (
        # The path of the socket, or the name of the segment: NTP0.
        name: string,
        # What it gets: pulse or messages.
        source: string,
        # Whether a time daemon has it open.
        isRead: bool
      )

      type Time (
        # The policy: off, continuous, or every N min.
        policy: string,
        # What serves the clock: off, resting, searching, messages or pulses.
        state: string,
        # The node of the receiver.
        receiver: ?string,
        # Whether it is a program at a pseudo-terminal, as `sextant simulate`: its seconds need not be those of UTC.
        isProgram: ?bool,
        # The node of the source of its pulses.
        pulseDevice: ?string,
        # The newest samples of pulses and of messages, if they are younger than ten seconds.
        pulse: ?Sample,
        messages: ?Sample,
        # The shortest time from the second to the first byte of its epoch, seconds, as pulses have measured it.
        messageDelay: ?float,
        # The number of pulses that were samples.
        pulses: int,
        refusals: []Refusal,
        outputs: []Output
      )

      # Returns the state of the time service.
      method GetTime() -> (time: Time)

      """)
}
