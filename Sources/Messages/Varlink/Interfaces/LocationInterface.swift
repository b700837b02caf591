// SPDX-License-Identifier: Apache-2.0

extension VarlinkService.Interface {
  /// The interface for every program. `docs/reference/org.sextant.Location.varlink` has the same text.
  package static let location = VarlinkService.Interface(
    name: "org.sextant.Location",
    description: """
      # Locations from the receivers of this computer. The service identifies a client by the kernel's credentials of its
      # socket, and its permission by the authorization store.
      interface org.sextant.Location

      # A location. A value that is not known is absent.
      type Location (
        # The time of the fix: ISO 8601, UTC.
        timestamp: string,
        # Degrees in WGS 84, positive to the north.
        latitude: float,
        # Degrees in WGS 84, positive to the east.
        longitude: float,
        # Metres above mean sea level.
        altitude: ?float,
        # Metres above the ellipsoid of WGS 84.
        ellipsoidalAltitude: ?float,
        # The radius of uncertainty in metres.
        horizontalAccuracy: ?float,
        # The uncertainty of the altitude in metres.
        verticalAccuracy: ?float,
        # Metres a second over ground.
        speed: ?float,
        # The direction of travel in degrees from true north.
        course: ?float,
        # Whether a simulator or a recording produced the location.
        isSimulated: ?bool
      )

      # The corrections of a receiver.
      type Corrections (
        # The source in use, or the preferred one, without user and password.
        source: string,
        # off (no program needs them, or the receiver sleeps), waiting (every source has failed and pauses), connecting or flowing.
        state: string,
        # The age of the last whole correction, seconds.
        ageSeconds: ?float,
        # The bytes of the source.
        bytes: int,
        # Why the last source failed, if no corrections have arrived since.
        reason: ?string
      )

      # A receiver of the service.
      type Receiver (
        # The device node, or the name of a simulator or recording: /dev/ttyACM0, sim:city.
        device: string,
        # The model, if the receiver reports it: NEO-M9N.
        model: ?string,
        # The power state, as `sextant status` prints it.
        state: string,
        # The reason for the state.
        reason: ?string,
        # The kind of fix: none, 2D or 3D. A position is not part of the status, which needs no permission.
        fix: ?string,
        # The solution: none, standard, float or fixed. The last two have carrier phases and corrections (RTK).
        solution: ?string,
        # The trust in its signals: unknown, ok, suspect (a warning, or a contradiction), jammed or spoofed.
        trust: ?string,
        # Why the trust is worse than ok, the worst reason first.
        reasons: ?[]string,
        # The corrections that it gets. Absent without a source of them.
        corrections: ?Corrections
      )

      # The identity of a receiver.
      type Identity (
        # The strings of UBX-MON-VER: software, hardware, extensions. Empty for a receiver that does not identify itself.
        strings: []string,
        # The chip's id, in hexadecimal.
        uniqueId: ?string
      )

      # A program that uses the service.
      type Program (
        # The name in the authorization store.
        name: string,
        # The process, if it runs.
        pid: ?int,
        # The unit that its next event starts, if it does not run.
        unit: ?string,
        # The user.
        uid: int,
        # The authorization: notDetermined, restricted, denied, authorizedWhenInUse or authorizedAlways.
        authorization: string,
        # What the program asks for.
        demands: []string,
        # The number of events that were sent to it.
        delivered: int,
        # The number of events that were joined or dropped, because it read too slowly.
        dropped: int
      )

      # The service itself.
      type Service (
        version: string,
        uptimeSeconds: float
      )

      # The output of `sextant status --json`.
      type Status (
        receivers: []Receiver,
        programs: []Program,
        service: Service
      )

      # Returns the state of receivers, programs and service.
      method GetStatus() -> (status: Status)

      # Returns one location with the desired accuracy in metres, or the best one found in time. Without an accuracy it is the
      # best one of the receiver. Distances are -1e9 to 1e9; a negative accuracy stands for the best one.
      method RequestLocation(desiredAccuracy: ?float) -> (location: Location)

      # Returns a location whenever there is one that is `distanceFilter` metres or more from the one before. The call needs
      # `more`. If the client reads too slowly, it gets the newest location and not those before it.
      method Subscribe(desiredAccuracy: ?float, distanceFilter: ?float) -> (location: Location)

      # Returns the receivers.
      method GetReceivers() -> (receivers: []Receiver)

      # Returns the bytes of a receiver as they come, from now on, in base64 (RFC 4648, section 4). Without a device it is the
      # receiver in use; any path of a device names its receiver. The receiver sends every epoch meanwhile. The call needs `more`,
      # and a permission for locations, unless the client's user may open the device.
      #
      # The first reply has no bytes. A client that reads too slowly loses bytes: `lostBytes` is their number before the reply's
      # own. The others are present when they change: the device, the baud rate of its line, whether the service has it open, why it
      # cannot open it, and its identity.
      method Stream(device: ?string) -> (
        bytes: string,
        lostBytes: ?int,
        device: ?string,
        baud: ?int,
        isOpen: ?bool,
        fault: ?string,
        identity: ?Identity
      )

      # The client has no permission for locations, or the user has denied it. `reason` says why a permission cannot be stored for
      # it, and what an administrator can do: its executable is not known, as in a namespace of its own.
      error Denied (reason: ?string)

      # The user has not yet answered the request for permission. `sextant authorize` lists and answers it.
      error NotDetermined ()

      # No location was found in time.
      error LocationUnknown ()

      # The service has no receiver, or not the one that was named.
      error NoReceiver (device: ?string)

      """)
}
