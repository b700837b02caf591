# make run    builds and watches the first receiver found; without one, the built-in simulator (--demo)
# make test   runs all tests
# Both install what they need on Debian; a second run installs nothing.

SWIFT ?= swift
# Recordings to compare with the peers on.
RECORDINGS ?= ../shared/corpus
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# The measurements, which are no part of the installed programs.
BENCH := Benchmarks/.build/release/sextant-bench

.PHONY: run test build bench bench-energy bench-program days endurance lint pages picture rules check-rules embedded peers fuzz sanitize documentation reference dependencies \
  install-hw-rules examples clients api rig-umockdev rig-batch rig-power rig-service rig-emulator rig-vm rig-track rig-shows rig-sensors \
  rig-bus rig-programs static install clean compiler

run: build
	.build/release/sextant watch --demo

build: .build/release/sextant

# Asked of make first: SwiftPM alone would link its plugin's tool anew at the second build.
.build/release/sextant: Package.swift $(shell find Sources CSupport -type f) | dependencies
	$(SWIFT) build -c release --product sextant
	$(SWIFT) build -c release --product sextant-track
	@touch $@

test: dependencies
	$(SWIFT) test --package-path Benchmarks
	$(SWIFT) test

# How fast the decoder is, relative to a newline scan of the same bytes.
bench: bench-program
	$(BENCH)

# What receivers need on simulated days, under the power policy.
bench-energy: bench-program
	$(BENCH) energy

bench-program: dependencies
	$(SWIFT) build -c release --package-path Benchmarks --product sextant-bench

# Debian has one that is new enough from forky on, but for the tests (README).
compiler:
	@command -v $(firstword $(SWIFT)) >/dev/null || { \
	  echo "no Swift compiler: put swift.org's toolchain on the PATH, 6.2 or later (to build only, Debian's swiftlang will do)" >&2; exit 69; }

# libudev is the one library that is linked, pkg-config tells Swift where it is.
dependencies: compiler
	@pkg-config --exists libudev 2>/dev/null || { \
	  echo "installing libudev-dev and pkg-config" >&2; \
	  $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq libudev-dev pkg-config >/dev/null; }

# Style, as .swift-format says, and that the pages name only files, headings and targets that exist.
lint: compiler
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks Examples
	python3 Tests/documentation/links.py
	Tests/lint/pure-modules.sh

# Floors 0 and 1 for microcontrollers: they compile without an operating system, and their size is told.
embedded: dependencies
	$(SWIFT) build --product UBXLayoutCompiler
	Tests/embedded/compile.sh .build/embedded

# Every field of every frame of the recordings against pyubx2 and pynmeagps (fetched from PyPI into .build).
peers: build
	@ls $(RECORDINGS)/*/*.log >/dev/null || { echo "no recordings in $(RECORDINGS); name a folder with RECORDINGS=" >&2; exit 66; }
	python3 Tests/peers/compare_messages.py .build/release/sextant $(RECORDINGS)/*/*.log

# Ten thousand days of chance for the power policy: what must always hold is checked.
days: bench-program
	$(BENCH) energy --random-days 10000

# A day of a session with random faults, in virtual time: no wrong fix, no missed recovery, memory as after its first hour.
endurance: bench-program
	$(BENCH) endurance --model m10
	$(BENCH) endurance --model m8

# Every decoder against inputs that nobody would write, SECONDS each; what ends one is left in .build/fuzz/artifacts.
SECONDS ?= 60
fuzz: dependencies
	$(SWIFT) build --product UBXLayoutCompiler
	Tests/fuzz/run.sh .build/fuzz $(SECONDS)

# The tests under the address sanitizer, but for simulated days and for hundreds of sessions of chance: they take minutes and
# touch no other memory. Swift keeps the case of an enum in spare bits of the pointer it holds, and the leak checker takes what
# such a pointer owns for lost; so leaks are not asked for. Debian's own linker warns of the sanitizer's symbols, the
# toolchain's does not.
sanitize: dependencies
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize=address --scratch-path .build/sanitize -Xswiftc -use-ld=lld \
	  --skip RandomDayTests --skip FaultMatrixTests --skip FaultsDuringChecksTests \
	  --skip LifecycleTests/random --skip WhimsicalReceiverTests

# Hot plugs through the real libudev on a mocked machine, and through a real kernel in a virtual one. Both need root;
# RIG= is the folder with the virtual machine's boot.py and build-image.sh.
rig-umockdev: rig-programs
	$(SUDO) Tests/rig/umockdev/run.sh .build/debug

rig-vm: rig-programs
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/run.sh .build/debug
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/sensors.sh .build/debug
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/board.sh .build/debug

# The commands at receivers that share no code with the project and have quirks that make a driver fail, how commands end, and
# their behaviour on a full line. About three minutes.
rig-emulator: rig-programs
	python3 Tests/rig/emulators.py .build/debug
	python3 Tests/rig/ends.py .build/debug
	python3 Tests/rig/configure.py .build/debug

# `sextant track` on a terminal: permission, questions, unplugging; and a program that is killed while it writes its state.
rig-track: rig-programs
	python3 Tests/rig/authorize.py .build/debug
	python3 Tests/rig/unplug.py .build/debug
	python3 Tests/rig/kills.py .build/debug

# The events of `sextant track`, at a simulated receiver on a terminal: from the first fix to beacons.
rig-shows: rig-programs rig-bus
	/usr/bin/python3 Tests/rig/shows.py .build/debug

# The computer's own sensors: a compass in a folder, BlueZ and logind on a private bus. Needs no root.
rig-sensors: rig-programs rig-bus
	/usr/bin/python3 Tests/rig/sensors.py .build/debug

rig-bus:
	@command -v dbus-daemon >/dev/null && /usr/bin/python3 -c 'import dbus, gi' 2>/dev/null || { \
	  echo "installing dbus, python3-dbus and python3-gi" >&2; \
	  $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq dbus python3-dbus python3-gi >/dev/null; }

# A receiver's own batches and its power states, with the real commands on simulated receivers; readers are killed.
rig-batch: rig-programs
	python3 Tests/rig/batch.py .build/debug

rig-power: rig-programs
	python3 Tests/rig/power.py .build/debug

# The programs of Core Location's documents, and what they print. The program sextant simulates their receiver.
examples: dependencies
	$(SWIFT) build --product sextant
	$(SWIFT) build --package-path Examples
	Tests/rig/examples.sh Examples/.build/debug

# Module CoreLocation as others see it: every public name as it is kept in Tests/clients/api.txt, and a package of a client
# that compiles without a warning and runs.
clients: dependencies
	$(SWIFT) build --target CoreLocation
	$(SWIFT) build --product sextant
	python3 Tests/clients/api.py .build/debug
	Tests/clients/run.sh .build/clients

# Writes Tests/clients/api.txt anew, after a name was added on purpose.
api: dependencies
	$(SWIFT) build --target CoreLocation
	python3 Tests/clients/api.py .build/debug --write

# Deferrals without a byte on the line, pauses in backup and the way back, by `sextant track` in real time.
rig-service: rig-programs
	python3 Tests/rig/service.py .build/debug

rig-programs: dependencies
	$(SWIFT) build --product HotplugProbe
	$(SWIFT) build --product StateStoreWriter
	$(SWIFT) build --product sextant
	$(SWIFT) build --product sextant-track

# docs/reference/ubx-messages.md, from the layouts and the configuration items.
reference:
	$(SWIFT) build --product UBXLayoutCompiler
	"$$($(SWIFT) build --show-bin-path)/UBXLayoutCompiler" markdown docs/reference/ubx-messages.md \
	  Sources/UBX/Layouts/*.ubx Sources/UBX/Layouts/*.keys

# The tables in docs/ that tests make: what was measured in virtual time.
pages: dependencies
	SEXTANT_WRITE_PAGES=1 $(SWIFT) test --filter 'FaultMatrixTests|ReadSchedulerTests'

# docs/watch.svg: the screen of `sextant watch` on the simulator.
picture: build
	python3 Tests/documentation/screen-to-svg.py .build/release/sextant

# docs/reference/rules.md: which test shows which rule of Core Location's behaviour.
rules:
	python3 Tests/rules/rules.py

# Fails when a rule has neither a test nor a reason, or the table is stale.
check-rules:
	python3 Tests/rules/rules.py --check

# The documentation of the libraries, in .build/documentation; a warning is an error.
documentation: dependencies
	$(SWIFT) build
	Tests/documentation/build.sh .build/documentation

# Programs that need no Swift on the machine they run on, only libudev and libstdc++: build here, run on the board.
PREFIX ?= /usr/local
static: dependencies
	$(SWIFT) build -c release --static-swift-stdlib --scratch-path .build/static --product sextant
	$(SWIFT) build -c release --static-swift-stdlib --scratch-path .build/static --product sextant-track

install: static
	$(SUDO) install -D -s -t $(DESTDIR)$(PREFIX)/bin .build/static/release/sextant .build/static/release/sextant-track

install-hw-rules:
	$(SUDO) groupadd --system --force gnss
	$(SUDO) install -m 644 hw-rules/60-sextant-gnss.hwdb /etc/udev/hwdb.d/
	$(SUDO) install -m 644 hw-rules/60-sextant-gnss.rules /etc/udev/rules.d/
	$(SUDO) systemd-hwdb update
	$(SUDO) udevadm control --reload
	$(SUDO) udevadm trigger --settle --subsystem-match=usb --subsystem-match=tty --subsystem-match=gnss

clean:
	rm -rf .build Benchmarks/.build Examples/.build
