// SPDX-License-Identifier: Apache-2.0

/// A service's description of itself, and its answers to calls for it (varlink.org, "Service").
package struct VarlinkService: Sendable {
  /// An interface and its description in the language of varlink.org, "Interface Definition".
  package struct Interface: Equatable, Sendable {
    package var name: String
    package var description: String

    package init(name: String, description: String) {
      self.name = name
      self.description = description
    }
  }

  package var vendor: String
  package var product: String
  package var version: String
  package var url: String
  /// The interfaces, the first of which is `org.varlink.service`.
  package let interfaces: [Interface]

  /// A service with the interfaces and `org.varlink.service`.
  package init(vendor: String, product: String, version: String, url: String, interfaces: [Interface]) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
    self.interfaces = [.service] + interfaces
  }

  /// The reply to a call that the owner does not answer: a call of `org.varlink.service`, or of an unknown interface.
  func reply(to call: VarlinkCall) -> VarlinkReply? {
    let interface = call.interface
    guard interfaces.contains(where: { $0.name == interface }) else { return .failure(.interfaceNotFound(interface)) }
    guard interface == Interface.service.name else { return nil }
    // Otherwise the client would treat the connection as upgraded.
    if call.kind == .upgrade { return .failure(.methodNotImplemented(call.method)) }
    switch call.method {
    case "org.varlink.service.GetInfo": return .success(information)
    case "org.varlink.service.GetInterfaceDescription":
      guard let name = call.parameters["interface"]?.string else { return .failure(.invalidParameter("interface")) }
      guard let interface = interfaces.first(where: { $0.name == name }) else {
        return .failure(.interfaceNotFound(name))
      }
      return .success(["description": .string(interface.description)])
    default: return .failure(.methodNotFound(call.method))
    }
  }

  private var information: JSON {
    [
      "vendor": .string(vendor), "product": .string(product), "version": .string(version), "url": .string(url),
      "interfaces": .array(interfaces.map { .string($0.name) }),
    ]
  }
}

extension VarlinkService.Interface {
  /// The interface of every service. Names and types follow varlink.org, "Service".
  package static let service = VarlinkService.Interface(
    name: "org.varlink.service",
    description: """
      # Information about a service and its interfaces.
      interface org.varlink.service

      # Returns the implementation of the service, and the names of its interfaces.
      method GetInfo() -> (
        vendor: string,
        product: string,
        version: string,
        url: string,
        interfaces: []string
      )

      # Returns the description of an interface.
      method GetInterfaceDescription(interface: string) -> (description: string)

      # The service has no such interface.
      error InterfaceNotFound (interface: string)

      # The interface has no such method.
      error MethodNotFound (method: string)

      # The interface has the method, and the service does not implement it.
      error MethodNotImplemented (method: string)

      # A parameter is missing, or its value is not allowed.
      error InvalidParameter (parameter: string)

      # The client may not call the method.
      error PermissionDenied ()

      # The method must be called with `more`.
      error ExpectedMore ()

      """)
}

extension VarlinkService.Interface {
  /// The interface of users' launchers. `docs/reference/org.sextant.Launch.varlink` has the same text.
  package static let launch = VarlinkService.Interface(
    name: "org.sextant.Launch",
    description: """
      # The start of programs by regions, visits and significant changes. The service starts units of the system's service manager
      # itself. Those of a user's manager are started by a launcher of that user, such as sextant-launcher.service. The user is that
      # of the kernel's credentials.
      interface org.sextant.Launch

      # Returns the units to start now, and all those to watch, now and whenever there are others. The call needs `more`.
      method Watch() -> (start: []string, units: []string)

      # The start of a unit has ended. Without a failure the unit runs.
      method StartEnded(unit: string, failure: ?string) -> ()

      # The unit was stopped on purpose. It is not started again until its program was started otherwise.
      method Stopped(unit: string) -> ()

      """)
}

extension VarlinkService.Interface {
  /// The interface of module CoreLocation. `docs/reference/org.sextant.CoreLocation.varlink` has the same text.
  package static let coreLocation = VarlinkService.Interface(
    name: "org.sextant.CoreLocation",
    description: """
      # The connection of a program that imports module CoreLocation. It changes with that module; other programs use
      # org.sextant.Location.
      interface org.sextant.CoreLocation

      # Opens the connection of a program. The call needs `upgrade`: after the reply, both sides send messages of module
      # ServiceProtocol, which are JSON objects that end with a NUL. Client and service each name the newest version of these
      # messages that they use; the older one of both holds.
      method Open(
        # The newest version of the client.
        version: int,
        # The program's bundle identifier, or the name of its executable.
        identifier: string,
        # The keys of the program's Info.plist that concern location.
        keys: object,
        # Whether the program is in the foreground.
        applicationState: (foreground, background)
      ) -> (
        # The newest version of the service.
        version: int
      )

      # The versions have nothing in common. `update` names the side to update.
      error IncompatibleVersion (oldest: int, newest: int, update: (client, service))

      # The executable or user is not the one that the identifier was granted to.
      error IdentifierInUse (identifier: string)

      """)
}

extension VarlinkService.Interface {
  /// The interface for programs that use a receiver themselves. `docs/reference/org.sextant.Receivers.varlink` has the same
  /// text.
  package static let receivers = VarlinkService.Interface(
    name: "org.sextant.Receivers",
    description: """
      # The receivers themselves, for programs that configure them. A client may use what its user may open: root, the owner of the
      # device, and members of its group.
      interface org.sextant.Receivers

      # Returns the line of a receiver to its only user, from now on until the connection ends. Without a device it is the
      # receiver in use; any path of a device names its receiver. The service first ends its own session, which restores the
      # receiver's settings and can take some seconds. Its programs get no locations meanwhile.
      #
      # The open device comes with the reply as a descriptor (SCM_RIGHTS in unix(7)); it is locked. `baud` is the rate at which
      # the receiver was found, if it is known. `recovery` is the crash-recovery record of an earlier program, if the receiver
      # is not restored: the settings to restore.
      #
      # When the connection ends, also because the program is killed, the service opens the line again.
      method Lease(device: ?string) -> (device: string, baud: ?int, recovery: ?string)

      # Stores the crash-recovery record of the program that has the line, or removes it. If the program is killed, the service
      # restores the receiver by its record. The record has to be sent before the change of the receiver that it is for.
      method KeepRecovery(recovery: ?string) -> ()

      # Sends a measurement of a vehicle's odometer to a dead reckoning receiver as UBX-ESF-MEAS. A receiver that sleeps or is not in use
      # gets none, and more than 25 measurements a second are left out. Without a device it is the receiver in use.
      method Feed(device: ?string, odometer: Odometer) -> ()

      # A speed, or counts of wheel ticks that increase in both directions.
      type Odometer (
        # Metres a second, negative backwards.
        speed: ?float,
        # Ticks of one wheel or of a shaft.
        ticks: ?int,
        rearLeft: ?int,
        rearRight: ?int,
        frontLeft: ?int,
        frontRight: ?int,
        # Whether ticks are of a movement backwards.
        backward: ?bool,
        # The time of the measurement at any clock; by default that of the call.
        milliseconds: ?int
      )

      # The client's user may not open the device. Members of the group may.
      error NotPermitted (device: string, group: ?string)

      # Another program has the line, or waits for it.
      error Lent (device: string, name: string, pid: int)

      # The device cannot be opened: the reason, and the exit code of sysexits.h for it.
      error Unavailable (device: string, reason: string, code: int)

      # The service was told to send nothing to its receivers.
      error ReadOnly ()

      # The service has no receiver, or not the one that was named.
      error NoReceiver (device: ?string)

      # The connection has no line.
      error NotLent ()

      """)
}

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

      # Returns the programs with stored state, the open questions, and the user's switch of all location services.
      method List(user: ?int) -> (programs: []Program, questions: []Question, servicesAreOn: bool)

      # Returns the open questions, now and whenever they change. The call needs `more`. While an agent watches, programs of the
      # user print no line about their questions.
      method Watch(user: ?int) -> (questions: []Question)

      # Answers a question: whenInUse, once, always or deny. For temporaryFullAccuracy, once is yes.
      method Answer(id: int, answer: string) -> ()

      # Stores a permission: authorizedWhenInUse, authorizedAlways or denied, or notDetermined to let the program ask again. The
      # accuracy is full or reduced; without it, it stays.
      method Set(name: string, status: string, accuracy: ?string, user: ?int) -> ()

      # Switches all location services of the user on or off. Permissions are kept. Only a caller that may answer for each program of
      # the user may switch them on.
      method SetServices(on: bool, user: ?int) -> ()

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
        reason: ?string,
        # The keys of encrypted SPARTN corrections. Absent without a file of them.
        keys: ?CorrectionKeys
      )

      # The keys of encrypted SPARTN corrections.
      type CorrectionKeys (
        # valid, early (the first one is valid later), expired, unreadable (the file is not), or unknown (the time is not known).
        state: string,
        # The start of the first key, if it is in the future: ISO 8601, UTC.
        validFrom: ?string,
        # The end of the last key that follows without a gap, or of the one that expired: ISO 8601, UTC.
        validUntil: ?string,
        # Why the file cannot be read, or the time is not known.
        reason: ?string
      )

      # The state of a dead reckoning receiver's sensor fusion.
      type Fusion (
        # initialization, fusion, suspended or disabled.
        mode: string,
        sensors: []Sensor
      )

      # A sensor of the fusion.
      type Sensor (
        # Its data: speed, speed ticks, gyroscope z.
        name: string,
        isUsed: bool,
        # notCalibrated, calibrating or calibrated.
        calibration: string,
        # badMeas, badTTag, missingMeas and noisyMeas of UBX-ESF-STATUS.
        faults: []string
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
        corrections: ?Corrections,
        # The sensor fusion of a dead reckoning receiver. Absent if it sends none.
        fusion: ?Fusion
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
