# SPDX-License-Identifier: Apache-2.0

# make run    builds and watches the first receiver found; without one, the built-in simulator (--demo)
# make test   runs all tests; with SANITIZE=address, under the address sanitizer
# Both install what they need on Debian; a second run installs nothing.

SWIFT ?= swift
# Recordings to compare with the peers on.
RECORDINGS ?= ../shared/corpus
# Core Location's documents, to compare their listings with Examples/.
DOCUMENTS ?= ../shared/seeds
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# The recipe that installs Debian packages. Where there is no apt-get it prints their names.
install_packages = { command -v apt-get >/dev/null || { echo "needs the Debian packages $(1), or what they contain" >&2; exit 69; }; \
  echo "installing $(1)" >&2; \
  $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends $(1) >/dev/null; }

# The packages that depend on the product are built in its folder, so that its modules are compiled once. SwiftPM stores the plan of a
# build in the folder and takes that of another package for its own, unless it is not cached.
IN_BUILD := --scratch-path $(CURDIR)/.build --disable-build-manifest-caching

# The tests are compiled once: plain, or with SANITIZE=address under the address sanitizer, on optimised code, as it is installed. Leak
# detection is off, because Swift stores the case of an enum in spare bits of a pointer, and the leak checker reports the memory behind
# such a pointer as lost. Debian's linker warns of the sanitizer's symbols, that of the toolchain does not. These tests count the lines
# that they execute; the tools of the build would leave their counts in this folder.
ifdef SANITIZE
TESTED := $(CURDIR)/.build/sanitize
TEST_FLAGS := -c release --sanitize=$(SANITIZE) --enable-code-coverage -Xswiftc -enable-testing -Xswiftc -use-ld=lld
TEST := ASAN_OPTIONS=detect_leaks=0 LLVM_PROFILE_FILE=/dev/null $(SWIFT) test $(TEST_FLAGS)
TEST_BUILD := ASAN_OPTIONS=detect_leaks=0 LLVM_PROFILE_FILE=/dev/null $(SWIFT) build --build-tests $(TEST_FLAGS)
else
TESTED := $(CURDIR)/.build
TEST := $(SWIFT) test
TEST_BUILD := $(SWIFT) build --build-tests
endif
IN_TESTS := --scratch-path $(TESTED) --disable-build-manifest-caching

# The programs of a debug build. Not by .build/debug: SwiftPM removes this link at each build and makes it again, and a parallel rig
# that starts a program in between fails.
DEBUG := .build/$(shell uname -m)-unknown-linux-gnu/debug

# The measurements; the installed programs do not contain them.
BENCH := .build/release/sextant-bench

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

run: build
	.build/release/sextant watch --demo

build: .build/release/sextant

# Make compares the dates first, because SwiftPM would link its plugin's tool again at the second build.
.build/release/sextant: Package.swift $(shell find Sources CSupport -type f) | dependencies
	$(SWIFT) build -c release --product sextant
	$(SWIFT) build -c release --product sextant-track
	@touch $@

# CI has built them with `test-programs`, and names --skip-build: SwiftPM links its plugin's tool again, and then compiles UBX anew.
TEST_OPTIONS ?=
test: dependencies
	$(TEST) $(TEST_OPTIONS) --package-path Benchmarks $(IN_TESTS)
	$(TEST) $(TEST_OPTIONS) --scratch-path $(TESTED)

# The build of `test`, with its programs and the measurements.
test-programs: dependencies
	$(TEST_BUILD) --scratch-path $(TESTED)
	$(TEST_BUILD) --package-path Benchmarks $(IN_TESTS)

# The tests of MODULES= (a list with commas) and what they are built from, without the rest of the package.
check: dependencies
	SEXTANT_TESTS=$(MODULES) $(SWIFT) test

# The speed of the decoder, relative to a newline scan of the same bytes.
bench: bench-program
	$(BENCH)

# The charge of receivers on simulated days, under the power policy.
bench-energy: bench-program
	$(BENCH) energy

bench-program: dependencies
	$(SWIFT) build -c release --package-path Benchmarks $(IN_BUILD) --product sextant-bench

compiler:
	@command -v $(firstword $(SWIFT)) >/dev/null || { \
	  echo "no Swift compiler: put swift.org's toolchain on the PATH, 6.3 or later" >&2; exit 69; }

# libudev is the only library that is linked; Swift finds it by pkg-config.
dependencies: compiler
	@command -v pkg-config >/dev/null && pkg-config --exists libudev || $(call install_packages,libudev-dev pkg-config)

# The style of .swift-format; the links of the pages; the imports of pure modules; the vocabulary of names (CONTRIBUTING.md); the
# conversions of numbers that trap, by the compiler's index, for which the sources are built.
lint: compiler
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks Examples packaging
	python3 Tests/documentation/links.py
	Tests/lint/pure-modules.sh
	python3 Tests/lint/imports.py --self-test
	python3 Tests/lint/imports.py
	python3 Tests/lint/vocabulary.py
	python3 Tests/lint/conversions.py --self-test
	python3 Tests/lint/conversions.py

# Layers 0 to 2 without an operating system, and the objects of libsextant for this machine and 32-bit ARM; prints their size.
embedded: dependencies
	$(SWIFT) build --product UBXLayoutCompiler
	Tests/embedded/compile.sh .build/embedded $(sort armv7em-none-none-eabi aarch64-none-none-elf $(CLIB_HOST) $(CLIB_ARM))

# libsextant for C: the decoder as Embedded Swift, without a Swift runtime (docs/guides/from-c.md). CLIB_TARGETS names several
# targets, which are compiled side by side.
CLIB := .build/clib
CLIB_HOST := $(shell uname -m | sed 's/aarch64/aarch64-none-none-elf/; s/x86_64/x86_64-unknown-linux-gnu/')
CLIB_ARM := armv6-unknown-linux-gnueabihf
CLIB_TARGETS ?= $(CLIB_HOST)
clib: clib-objects
	for target in $(CLIB_TARGETS); do CSupport/CSextant/library.sh .build/embedded $(CLIB)/$$target $$target || exit; done

clib-objects: dependencies
	$(SWIFT) build --product UBXLayoutCompiler
	Tests/embedded/compile.sh .build/embedded $(CLIB_TARGETS)

# The examples in C and Python print what `sextant decode` prints, and the locations of the service, also under valgrind, and those in
# C for 32-bit ARM in qemu-user; the libraries' symbols.
rig-clib: CLIB_TARGETS = $(CLIB_HOST) $(CLIB_ARM)
rig-clib: clib-packages clib
	$(SWIFT) build --product sextant
	$(SWIFT) build --product sextantd
	python3 Tests/rig/c_library.py $(DEBUG)/sextant $(CLIB)/$(CLIB_HOST) $(RECORDINGS) $(CLIB)/$(CLIB_ARM)

clib-packages:
	@command -v valgrind >/dev/null && command -v nm >/dev/null && command -v cc >/dev/null && command -v qemu-arm-static >/dev/null && \
	  command -v arm-linux-gnueabihf-gcc >/dev/null || \
	  $(call install_packages,valgrind libc6-dbg gcc libc6-dev binutils gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user-static)

# The decoder in a firmware for a Cortex-M4, in QEMU: prints the host's fixes; flash and memory within their limits.
firmware: CLIB_TARGETS = $(CLIB_HOST) armv7em-none-none-eabi
firmware: firmware-packages clib
	python3 Tests/rig/microcontroller.py $(CLIB)/$(CLIB_HOST) $(CLIB)/armv7em-none-none-eabi $(RECORDINGS)

firmware-packages:
	@command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || { \
	  $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm >/dev/null; }

# The interface descriptions by varlink, and every field of every frame of the recordings against pyubx2 and pynmeagps (all
# fetched from PyPI into .build). CI takes the program of the sanitized tests.
DECODER ?= .build/release/sextant
peers: decoder-program
	python3 Tests/peers/varlink_interfaces.py
	@ls $(RECORDINGS)/*/*.log >/dev/null || { echo "no recordings in $(RECORDINGS); name a folder with RECORDINGS=" >&2; exit 66; }
	python3 Tests/peers/compare_messages.py $(DECODER) $(RECORDINGS)/*/*.log

# The speed of other projects' decoders on the same recordings (docs/reference/speed.md). PEERS= names a folder with checkouts of minmea,
# nmea, ublox, RTKLIB, gpsd, pynmeagps, pyubx2 and pyrtcm; those that are missing are skipped. Not in CI.
compare: dependencies compare-packages
	@[ -d "$(PEERS)" ] || { echo "usage: make compare PEERS=folder (with checkouts of the peers)" >&2; exit 64; }
	$(SWIFT) build -c release --package-path Tests/peers/adapters/sextant $(IN_BUILD) --product decoder
	python3 Tests/peers/compare_speed.py $(PEERS) $(RECORDINGS) .build/compare .build/release/decoder

compare-packages:
	@command -v valgrind >/dev/null && command -v scons >/dev/null && command -v cc >/dev/null && command -v taskset >/dev/null || \
	  $(call install_packages,valgrind scons gcc libc6-dev util-linux binutils)

decoder-program: dependencies
	$(SWIFT) build -c release --product sextant

# Ten thousand random days of the power policy, with a check of its invariants.
days: bench-program
	$(BENCH) energy --random-days 10000

# A day of a session with random faults, in virtual time: no wrong fix, no missed recovery, memory as after its first hour.
endurance: bench-program
	$(BENCH) endurance --model m10
	$(BENCH) endurance --model m8

# Every decoder and protocol with generated inputs, SECONDS each. An input that causes a crash is stored in .build/fuzz/artifacts.
SECONDS ?= 60
fuzz: dependencies
	$(SWIFT) build --product UBXLayoutCompiler
	Tests/fuzz/run.sh .build/fuzz $(SECONDS)

# Stores inputs that `make fuzz` has found; the unit tests give them to the targets.
fuzz-corpus:
	Tests/fuzz/corpus.sh .build/fuzz > .build/fuzz/corpus.txt
	mv .build/fuzz/corpus.txt Tests/fuzz/corpus.txt

# All tests under the address sanitizer, and the lines that they execute.
sanitize:
	$(MAKE) test SANITIZE=address
	$(MAKE) check-coverage

# Each file has its share of executed lines, or a reason; of the tests that `make test SANITIZE=address` ran.
check-coverage:
	Tests/coverage/report.py docs/reference/coverage.md .build/sanitize/release/codecov/sextant.json

# Sequences of valid messages with extreme values to the sockets of the daemon, MESSAGES for each of two permissions, under the address
# sanitizer.
MESSAGES ?= 2000000
fuzz-dialogues:
	SEXTANT_FUZZ_MESSAGES=$(MESSAGES) $(MAKE) test-dialogues SANITIZE=address

# With the build of `test`.
test-dialogues: dependencies
	$(TEST) --scratch-path $(TESTED) --filter DialogueFuzzTests

# The suites that start threads, or whose code several threads run, and the service with its programs, under the thread sanitizer. A
# data race ends the run with an error; the reports are in .build/sanitize-threads/reports. Suites in virtual time have one thread.
RACES := $(CURDIR)/.build/sanitize-threads
WITH_THREADS := CoreLocationTests|SerialPortTests|ReceiverRuntimeTests|LocationDaemonTests|HotplugTests|TLSTests|LivePageTests|RecordingTests
sanitize-threads: dependencies
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path $(RACES) -Xswiftc -use-ld=lld
	clang -O1 -shared -fPIC Tests/sanitizer/mutex.c -o $(RACES)/mutex.so
	Tests/sanitizer/threads.sh $(RACES) '$(WITH_THREADS)'

# Hotplug with the real libudev on a mocked machine, and with a real kernel in a virtual machine. Both need root; RIG= is
# the folder with the virtual machine's boot.py and build-image.sh.
rig-umockdev: rig-programs rig-packages
	$(SUDO) Tests/rig/umockdev/run.sh $(DEBUG)

rig-vm: rig-programs
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/run.sh $(DEBUG)
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/sensors.sh $(DEBUG)
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/board.sh $(DEBUG)

# The location service in a virtual machine with systemd as process 1: its units, sandbox and polkit's rule, and a reboot. Needs root;
# the image is that of rig-vm.
rig-vm-service: rig-programs
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/service.sh $(DEBUG)

# The commands with emulated receivers that share no code with the project and have difficult quirks; the ends of commands;
# and a full line. About three minutes.
rig-emulator: rig-programs
	python3 Tests/rig/emulators.py $(DEBUG)
	python3 Tests/rig/ends.py $(DEBUG)
	python3 Tests/rig/configure.py $(DEBUG)

# The commands at simulated receivers of other makers, with their deviations.
rig-families: rig-programs
	python3 Tests/rig/families.py $(DEBUG)

# `sextant track` on a terminal: permission, prompts, unplugging; and a program that is killed while it writes its state.
rig-track: rig-programs
	python3 Tests/rig/authorize.py $(DEBUG)
	python3 Tests/rig/unplug.py $(DEBUG)
	python3 Tests/rig/kills.py $(DEBUG)

# The events of `sextant track` with a simulated receiver on a terminal: from the first fix to beacons.
# Also the transcript of the first hour.
rig-shows: rig-programs rig-packages
	/usr/bin/python3 Tests/rig/shows.py $(DEBUG)
	python3 Tests/documentation/first_hour.py $(DEBUG)

# docs/guides/first-hour.md: a transcript of commands without and with a simulated receiver.
first-hour: rig-programs
	python3 Tests/documentation/first_hour.py $(DEBUG) --write

# The computer's own sensors: a compass in a folder, BlueZ and logind on a private bus. Needs no root.
rig-sensors: rig-programs rig-packages
	/usr/bin/python3 Tests/rig/sensors.py $(DEBUG)

# sextantd with many programs at one simulated receiver; it is killed, and its programs are. As root another user and a full
# disk are played too. About two minutes. Then its questions for permission, which needs root.
rig-daemon: rig-programs
	python3 Tests/rig/daemon.py $(DEBUG)
	$(SUDO) python3 Tests/rig/permissions.py $(DEBUG)

# Two hostile users who try to exhaust sextantd, beside another user's program. Half a minute; needs root. `--times 1` on a machine
# without other work checks the delays too.
rig-boundary-load: rig-programs
	$(SUDO) python3 Tests/rig/boundary_load.py $(DEBUG)

# Attacks on the location service by users, programs, namespaces, clients of gpsd and a full disk, which all have to fail. As root.
# Less than a minute.
rig-boundary: rig-programs
	$(SUDO) python3 Tests/rig/boundary.py $(DEBUG)

# Debian's packages for the rigs, all at once: rigs run in parallel, and apt has one user at a time.
rig-packages:
	@command -v dbus-daemon >/dev/null && command -v systemd-analyze >/dev/null && command -v strace >/dev/null && \
	  command -v umockdev-wrapper >/dev/null && command -v gpsd >/dev/null && command -v gpspipe >/dev/null && \
	  command -v collectd >/dev/null && perl -MNet::GPSD3 -e 1 2>/dev/null && command -v ip >/dev/null && command -v curl >/dev/null && command -v avahi-daemon >/dev/null && command -v mosquitto_sub >/dev/null && [ -x /usr/sbin/mosquitto ] && [ -x /usr/libexec/geoclue-2.0/demos/where-am-i ] && /usr/bin/python3 -c 'import dbus, gi, gps, jsonschema; gi.require_version("UMockdev", "1.0")' 2>/dev/null || { \
	  echo "installing the rigs' packages" >&2; \
	  $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq dbus python3-dbus python3-gi systemd strace umockdev gir1.2-umockdev-1.0 >/dev/null && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends gpsd gpsd-clients python3-gps collectd-core libnet-gpsd3-perl iproute2 bsdutils curl avahi-daemon geoclue-2.0 geoclue-2-demo mosquitto mosquitto-clients libmosquitto1 libcurl4 openssl python3-jsonschema >/dev/null; }

# sextant-uplink with Debian's mosquitto and an HTTP server: kills, certificates, commands. A minute.
rig-uplink: rig-programs rig-packages
	/usr/bin/python3 Tests/rig/uplink.py $(DEBUG)

# sextant-uplink in a network namespace whose link is lossy, slow, cut, and without names. A minute and a half; as root.
rig-uplink-network: rig-programs rig-packages
	$(SUDO) /usr/bin/python3 Tests/rig/uplink_network.py $(DEBUG)

# Fifty kills of a broker and two hundred of sextant-uplink: every due fix arrives. A quarter of an hour; not in CI.
rig-uplink-kills: rig-programs rig-packages
	/usr/bin/python3 Tests/rig/uplink_kills.py $(DEBUG)

# A broker and a server of HTTP that send anything to the uplink's connections: for SECONDS= each. Not in CI.
rig-uplink-hostile: dependencies rig-packages
	SEXTANT_TESTS=Uplink $(SWIFT) build --build-tests
	/usr/bin/python3 Tests/rig/uplink_hostile.py $(DEBUG) --seconds $(SECONDS)

# Figures of docs/guides/uplink.md and fleet.md: wake-ups, memory and bytes of sextant-uplink, and BOARDS= in one process against a
# mosquitto. Not in CI.
BOARDS ?= 100,1000,10000
uplink-figures: rig-programs rig-packages
	/usr/bin/python3 Tests/rig/uplink_figures.py $(DEBUG) no_wake_ups private_memory bytes_of_upload
uplink-load: dependencies rig-packages
	SEXTANT_TESTS=Uplink $(SWIFT) build --build-tests -c release -Xswiftc -enable-testing --scratch-path .build/month
	/usr/bin/python3 Tests/rig/uplink_figures.py .build/month/release many_boards --boards $(BOARDS)

# The asset tracker's day with an uplink, in virtual time: the receiver's charge, connections and bytes.
uplink-day: dependencies
	SEXTANT_UPLINK_HOURS=24 SEXTANT_TESTS=Uplink,LocationService $(SWIFT) test --filter UplinkDayTests

# The messages of sextant-uplink, read by Home Assistant's own code from PyPI, in .build/readers, without what it does not import.
# Python 3.11 or 3.12; not in CI.
READERS := homeassistant==2024.3.3 aiohttp==3.9.3 aiohttp-cors==0.8.1 aiohttp-fast-url-dispatcher==0.3.0 aiohttp-zlib-ng==0.3.1 \
  aiosignal anyio astral==2.2 async-timeout async_interrupt==1.2.2 atomicwrites-homeassistant==1.4.1 attrs awesomeversion bcrypt \
  certifi cffi charset-normalizer ciso8601 cryptography frozenlist h11 httpcore httpx idna ifaddr Jinja2 lru-dict MarkupSafe \
  multidict orjson packaging propcache pycparser PyJWT PyNaCl python-slugify pytz PyYAML requests text-unidecode \
  typing_extensions ulid-transform urllib3 voluptuous==0.13.1 voluptuous-serialize yarl zlib-ng==0.4.0
rig-uplink-readers: rig-programs rig-packages
	[ -x .build/readers/bin/pip ] || python3 -m venv .build/readers
	.build/readers/bin/pip install -q --prefer-binary --no-deps $(READERS)
	.build/readers/bin/python Tests/rig/uplink_readers.py $(DEBUG)

# Corrections of two casters on the loopback for a simulated ZED-F9P of sextantd. Less than a minute.
rig-corrections: rig-programs
	python3 Tests/rig/corrections.py $(DEBUG)

# The commands while sextantd has the receiver. As root another user is played too. Less than a minute.
rig-daemon-commands: rig-programs
	python3 Tests/rig/commands_through_service.py $(DEBUG)

# Batches and power states of simulated receivers with the real commands; readers are killed.
rig-batch: rig-programs
	python3 Tests/rig/batch.py $(DEBUG)

rig-power: rig-programs
	python3 Tests/rig/power.py $(DEBUG)

# The programs of Core Location's documents, with a check of their output. The program sextant simulates their receiver.
examples: rig-programs
	$(SWIFT) build --package-path Examples $(IN_BUILD)
	Tests/rig/examples.sh $(DEBUG)
	@if [ -d $(DOCUMENTS) ]; then python3 Tests/documentation/listings.py $(DOCUMENTS); else \
	  echo "no documents in $(DOCUMENTS): their listings are not compared (DOCUMENTS= names a folder)" >&2; [ -z "$$CI" ]; fi

# The public API of module CoreLocation: every name is compared with Tests/clients/api.txt and with Apple's names, and a client
# package compiles without a warning and runs.
clients: dependencies
	$(SWIFT) build --target CoreLocation
	$(SWIFT) build --product sextant
	python3 Tests/clients/api.py $(DEBUG)
	python3 Tests/clients/names.py
	Tests/clients/run.sh $(CURDIR)/.build
	Tests/clients/deploy.sh $(CURDIR)/.build
	Tests/clients/readme.sh $(CURDIR)/.build

# Rewrites Tests/clients/api.txt and docs/reference/api.md after a deliberate change of the API.
api: dependencies
	$(SWIFT) build --target CoreLocation
	python3 Tests/clients/api.py $(DEBUG) --write
	python3 Tests/clients/names.py --write

# Deferrals without a byte on the line, and pauses in backup with their end, by `sextant track` in real time.
rig-service: rig-programs
	python3 Tests/rig/service.py $(DEBUG)

# The systemd units of sextantd: their settings and sandbox, and the daemon with the messages of a service manager. Needs root, and
# no systemd as process 1.
rig-units: rig-programs rig-packages
	$(SUDO) python3 Tests/rig/units.py $(DEBUG)

# The geocoder by the example WhereAmI, with a local server and with an extract of GeoNames.
rig-geocoder: dependencies rig-packages
	$(SWIFT) build --product sextant
	$(SWIFT) build --package-path Examples $(IN_BUILD) --product WhereAmI
	python3 Tests/rig/geocoder.py $(DEBUG)

# The files of `decode --format` with gpsbabel and Python's parsers. Three recordings of real receivers are read too, if they
# are there.
rig-formats: rig-programs formats-packages
	python3 Tests/rig/formats.py $(DEBUG) $(wildcard $(RECORDINGS)/ubx/ublox-zed-f9p_hpg1.11.log $(RECORDINGS)/gpsd/mt3339.log)

# RINEX files of recordings against convbin; needs the recordings.
rig-rinex: rig-programs rinex-packages
	python3 Tests/rig/rinex.py $(DEBUG) $(RECORDINGS)

rinex-packages:
	@command -v convbin >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends rtklib >/dev/null; }

formats-packages:
	@command -v gpsbabel >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends gpsbabel >/dev/null; }

# The screen of `sextant watch` on a pseudo-terminal: its sizes, keys and locales, and the terminal after each way of ending.
rig-screen: rig-programs
	python3 Tests/rig/screen.py $(DEBUG)

# The page of `sextant view` in Debian's chromium. VIEW="--minutes 10" measures instead, VIEW="--pictures docs/images" writes the
# pictures of the guide (needs pngquant).
rig-view: rig-programs view-packages
	python3 Tests/rig/view.py $(DEBUG) --recordings $(RECORDINGS) $(VIEW)

view-packages:
	@command -v chromium >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium fonts-inter >/dev/null; }

# Clients of gpsd at sextantd and at Debian's gpsd, on the same simulated receivers. Needs root, for networks of their own.
rig-gpsd: rig-programs rig-packages
	$(SUDO) python3 Tests/rig/gpsd_clients.py $(DEBUG)

# Debian's GeoClue gets the position from sextantd's NMEA: by Avahi and by a Unix socket. Needs root, for namespaces.
rig-geoclue: rig-programs rig-packages
	$(SUDO) python3 Tests/rig/geoclue.py $(DEBUG)

# The receiver inside a modem, with AT commands and with ModemManager's interface. Needs root, for namespaces.
rig-modem: rig-programs rig-packages
	$(SUDO) /usr/bin/python3 Tests/rig/modem.py $(DEBUG)

# The same with programs that have windows, and with direwolf. Not in CI: their packages are large.
rig-gpsd-windows: rig-programs rig-packages
	@command -v xgps >/dev/null && command -v foxtrotgps >/dev/null && command -v direwolf >/dev/null && command -v Xvfb >/dev/null && \
	  command -v tesseract >/dev/null && command -v convert >/dev/null || $(SUDO) apt-get install -y -qq --no-install-recommends xvfb \
	  gpsd-tools foxtrotgps direwolf imagemagick tesseract-ocr gir1.2-gtk-3.0 python3-gi-cairo fonts-dejavu-core >/dev/null
	$(SUDO) python3 Tests/rig/gpsd_windows.py $(DEBUG)

# Receivers on the network: Debian's gpsd, TCP, and datagrams of IPv4 and IPv6. Needs root, for networks of their own.
rig-network: rig-programs rig-packages
	$(SUDO) python3 Tests/rig/network.py $(DEBUG)

# Time daemons at sextantd. Needs root, for file systems, networks and shared memory of their own.
rig-clock: rig-programs rig-packages clock-packages
	$(SUDO) python3 Tests/rig/clock.py $(DEBUG) chronyd ntpd gpsd

clock-packages:
	@command -v chronyd >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chrony >/dev/null; }

# Time daemons at sextantd and at gpsd in a virtual machine with systemd: pulses of the kernel and of a modem line, offsets, the sandbox;
# and the sleep of a receiver between its turns. Minutes. Needs root; the image takes two minutes, once.
rig-time: rig-programs clock-packages
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/time.sh $(DEBUG)
	$(SUDO) python3 Tests/rig/clock.py $(DEBUG) rests

# The Python program of docs/guides/from-python.md with PyPI's varlink, which is fetched into .build.
rig-python: rig-programs
	python3 Tests/rig/python_client.py $(DEBUG)

# `sextant bridge` with PyPI's pyserial, which is fetched into .build.
rig-bridge: rig-programs
	python3 Tests/rig/bridge.py $(DEBUG)

# `sextant base` at simulated receivers: its caster with Debian's rtklib as a client, other servers, a rover of sextantd.
rig-base: rig-programs rinex-packages
	python3 Tests/rig/base.py $(DEBUG)

# `sextant check` at simulated receivers, with deviations that are planted.
rig-check: rig-programs
	python3 Tests/rig/check.py $(DEBUG)

# Faults of the host: few descriptors, no threads, closed streams, special files, links, a hidden /proc, hostile text. Some
# checks need root and say so. Less than a minute.
rig-host-faults: rig-programs
	@command -v openssl >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq openssl >/dev/null; }
	python3 Tests/rig/host_faults.py $(DEBUG)

# Each call of the programs into the system fails in turn. The whole sweep takes 50 to 70 minutes; SAMPLE=1000 makes a random
# selection. CI takes a small one.
SAMPLE ?= 0
fault-injection: rig-programs
	python3 Tests/rig/fault_injection.py $(DEBUG) --sample $(SAMPLE)

rig-faults: rig-programs
	python3 Tests/rig/fault_injection.py $(DEBUG) watch record "configure backup" batch track service --sample 24

# The seconds from SIGTERM to the end of each program in difficult states, and what a flooding caster costs.
rig-termination: rig-programs
	python3 Tests/rig/termination.py $(DEBUG)

# The service at ten fixes a second with a plug cycle each minute, in real time.
HOURS ?= 24
long-run: rig-programs
	python3 Tests/rig/long_run.py $(DEBUG) --hours $(HOURS)

# The lines that the unit tests execute, and those that the rigs execute too, in a build of its own. Renews docs/reference/coverage.md.
COVERAGE := .build/coverage
COUNTED_RIGS := rig-track rig-shows rig-emulator rig-families rig-service rig-sensors rig-batch rig-power rig-units rig-python rig-gpsd rig-geoclue rig-modem \
  rig-umockdev rig-host-faults rig-formats rig-view rig-screen rig-daemon rig-daemon-commands rig-clock rig-network rig-bridge rig-base rig-check
# The packages are installed first: apt has one user at a time.
coverage: dependencies rig-packages formats-packages view-packages clock-packages
	LLVM_PROFILE_FILE=/dev/null $(SWIFT) test --enable-code-coverage --scratch-path $(COVERAGE)
	Tests/coverage/rigs.sh $(COVERAGE) make -o rig-programs DEBUG=$(subst .build,$(COVERAGE),$(DEBUG)) -j 2 -k $(COUNTED_RIGS)
	Tests/coverage/report.py docs/reference/coverage.md $(COVERAGE)/debug/codecov/sextant.json --write $(COVERAGE)/all.json

# Thirty days of the service with three programs and random faults, in virtual time, in a release build of its own.
month: dependencies
	SEXTANT_LONG_RUN_HOURS=720 $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/month \
	  --filter LongRunTests

# A day with ordinary clients of gpsd at a simulated M10, in virtual time, with the charge (docs/reference/power.md).
gpsd-day: dependencies
	SEXTANT_GPSD_HOURS=24 $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/month \
	  --filter GPSDDayTests

rig-programs: dependencies
	$(SWIFT) build --product HotplugProbe
	$(SWIFT) build --product StateStoreWriter
	$(SWIFT) build --product sextant
	$(SWIFT) build --product sextant-track
	$(SWIFT) build --product sextantd
	$(SWIFT) build --product sextant-uplink

# docs/reference/ubx-messages.md, from the layouts and the configuration items.
reference:
	$(SWIFT) build --product UBXLayoutCompiler
	"$$($(SWIFT) build --show-bin-path)/UBXLayoutCompiler" markdown docs/reference/ubx-messages.md \
	  Sources/UBX/Layouts/*.ubx Sources/UBX/Layouts/*.keys

# The tables in docs/ that tests generate: measurements in virtual time.
pages: dependencies
	SEXTANT_WRITE_PAGES=1 $(SWIFT) test --filter 'FaultMatrixTests|FamilyFaultTests|KilledProgramTests|KilledFamilyTests|ReadSchedulerTests'

# docs/watch.svg: the screen of `sextant watch` on the simulator.
picture: build
	python3 Tests/documentation/screen-to-svg.py .build/release/sextant

# docs/reference/rules.md: the tests of each rule of Core Location's behaviour.
rules:
	python3 Tests/rules/rules.py

# Fails if a rule has neither a test nor a reason, or if the table is out of date.
check-rules:
	python3 Tests/rules/rules.py --check

# The documentation of the libraries, in .build/documentation; a warning is an error.
documentation: dependencies
	$(SWIFT) build
	Tests/documentation/build.sh .build/documentation

# Programs for machines without Swift, which need only libudev and libstdc++: build here, run on the board. The toolchain exports
# every symbol of the Swift library, which no program needs; docs/reference/size.md has what each flag saves.
PREFIX ?= /usr/local
# Each function has a section of its own, so that the linker drops those that are not called, and merges equal ones. Addresses of
# functions are resolved at the start and read-only then (full RELRO); no folder (RUNPATH) is searched for libraries.
LINK := -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic \
  -Xlinker --icf=all -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now \
  --disable-local-rpath
# Equal programs from any folder: paths of sources begin at the checkout, and the two hashes of debugging information are not in the
# programs (docs/reference/security.md).
REPRODUCIBLE := -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=. \
  -Xlinker --build-id=none -Xlinker $(CURDIR)/packaging/reproducible.ld
STATIC := -c release --static-swift-stdlib --scratch-path .build/static $(LINK) $(REPRODUCIBLE)
INSTALLED ?= sextant sextant-track sextantd sextant-uplink
# sextant-uplink has no handler of C++ exceptions, hence no tables for unwinding, and asks for no name of a Unicode character
# (docs/reference/size.md).
SMALL := -Xlinker --no-eh-frame-hdr -Xlinker $(CURDIR)/packaging/board/discard.ld \
  -Xlinker --wrap=_swift_stdlib_getScalarName -Xlinker $(CURDIR)/.build/static/scalar-names.o
# sextantd's functions in the order of packaging/order.py: less of the file is mapped (docs/reference/size.md). Versions that lack one of
# the names link without a warning.
ORDERED := -Xlinker --symbol-ordering-file=$(CURDIR)/packaging/sextantd.order -Xlinker --no-warn-symbol-ordering
# sextant-track writes English: its Foundation gets no data of other languages. The other programs have no Foundation.
static: dependencies
	@command -v python3 >/dev/null && command -v strip >/dev/null || $(call install_packages,python3 binutils)
	$(SWIFT) package resolve --scratch-path .build/static
	packaging/argument-parser/replace.sh .build/static
	packaging/icu-data.py .build/static/icu-data
	clang -O2 -c packaging/scalar-names.c -o .build/static/scalar-names.o
	for program in $(INSTALLED); do $(SWIFT) build $(STATIC) \
	  $$([ $$program != sextant-track ] || echo "-Xlinker $(CURDIR)/.build/static/icu-data.ld") \
	  $$([ $$program != sextantd ] || echo "$(ORDERED)") \
	  $$([ $$program != sextant-uplink ] || echo "$(SMALL)") --product $$program || exit; done

# packaging/sextantd.order, anew for each release (RELEASING.md): functions that are new, or whose name has changed, are not in an older
# order, and `sextantd` maps more of its file. `make static` then links with it.
order: static
	@command -v valgrind >/dev/null || $(call install_packages,valgrind libc6-dbg)
	packaging/order.py .build/static/release packaging/sextantd.order

# Two builds of the installed programs in different folders, compared byte for byte.
reproducible: dependencies
	packaging/reproducible.sh .build/reproducible $(INSTALLED)

# The hardening of the programs that are installed: position-independent, full RELRO, no executable stack, no RUNPATH.
check-hardening: static
	Tests/lint/hardening.sh $(addprefix .build/static/release/,$(INSTALLED))

# Man pages and completions from the programs' own descriptions of their commands.
manual: static
	rm -rf .build/manual
	python3 docs/man/pages.py .build/static/release .build/manual

# The software bill of materials (SPDX) of the programs as they are installed, without symbols. Python is there by then.
STRIPPED := .build/static/stripped
sbom: manual
	mkdir -p $(STRIPPED)
	for program in $(INSTALLED); do strip -o $(STRIPPED)/$$program .build/static/release/$$program || exit; done
	python3 packaging/sbom.py Package.resolved $(addprefix $(STRIPPED)/,$(INSTALLED)) > .build/static/release/sextant.spdx.json

# The objects of the programs refer to no library that adds a megabyte. Installed programs have another swift-argument-parser.
check-libraries: rig-programs
	EXCEPT=ArgumentParser Tests/lint/large-libraries.sh $(DEBUG) sextant sextantd sextant-uplink

check-manual: rig-programs
	Tests/documentation/manual.sh $(DEBUG) .build/manual-check

SHARE = $(DESTDIR)$(PREFIX)/share
# Only PREFIX is changed. What the service and udev need is in folders of the system, and has targets of its own.
install: static manual sbom install-files
	@echo "installed into $(DESTDIR)$(PREFIX). Not installed: the location service's units, polkit rule and user (make install-units), and the udev rules (make install-hw-rules)"

# Root is needed only where the user cannot write: in the nearest folder that exists.
as_owner = $(shell folder='$(1)'; while [ ! -e "$$folder" ]; do folder=$$(dirname "$$folder"); done; [ -w "$$folder" ] || echo $(SUDO))
in_prefix = $(or $(call as_owner,$(DESTDIR)$(PREFIX)/bin),$(call as_owner,$(SHARE)))

# PROGRAMS is the folder of the programs; one that is not there is not installed. STRIP has to know their architecture. MANUAL has the
# man pages and completions.
PROGRAMS ?= .build/static/release
STRIP ?= strip
MANUAL ?= .build/manual
install-files: SUDO := $(in_prefix)
install-files:
	$(SUDO) install -D -s --strip-program=$(STRIP) -t $(DESTDIR)$(PREFIX)/bin \
	  $(wildcard $(addprefix $(PROGRAMS)/,sextant sextant-track sextantd sextant-uplink))
	$(SUDO) install -D -m 644 -t $(SHARE)/man/man1 $(MANUAL)/man1/*.1
	$(SUDO) install -D -m 644 -t $(SHARE)/bash-completion/completions $(MANUAL)/completions/bash/sextant
	$(SUDO) install -D -m 644 -t $(SHARE)/zsh/site-functions $(MANUAL)/completions/zsh/_sextant
	$(SUDO) install -D -m 644 -t $(SHARE)/fish/vendor_completions.d $(MANUAL)/completions/fish/sextant.fish
	$(SUDO) install -D -m 644 -t $(SHARE)/doc/sextant/examples packaging/examples/config packaging/examples/devices
	$(SUDO) install -D -m 644 -t $(SHARE)/doc/sextantd/examples packaging/examples/policy
	$(SUDO) install -D -m 644 -t $(SHARE)/doc/sextant/docs/guides docs/guides/*.md
	$(SUDO) install -D -m 644 -t $(SHARE)/doc/sextant/docs/reference docs/reference/*.md docs/reference/*.varlink
	[ ! -e $(PROGRAMS)/sextant.spdx.json ] || $(SUDO) install -D -m 644 -t $(SHARE)/doc/sextant $(PROGRAMS)/sextant.spdx.json

# What an installation writes, and where it needs root. Seconds.
rig-install:
	$(SUDO) Tests/rig/install.sh

# libsextant, its header and its pkg-config file. LIBDIR is where the linker searches, such as /usr/lib/x86_64-linux-gnu.
LIBDIR ?= $(PREFIX)/lib
ABI = $(shell sed -n 's/^.define SEXTANT_ABI_VERSION //p' CSupport/CSextant/sextant.h)
install-clib: private SUDO := $(or $(in_prefix),$(call as_owner,$(DESTDIR)$(LIBDIR)))
install-clib: clib
	$(SUDO) install -D -m 644 -t $(DESTDIR)$(PREFIX)/include CSupport/CSextant/sextant.h
	$(SUDO) install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(CLIB)/$(CLIB_HOST)/libsextant.a $(CLIB)/$(CLIB_HOST)/libsextant.so.$(ABI)
	$(SUDO) ln -sf libsextant.so.$(ABI) $(DESTDIR)$(LIBDIR)/libsextant.so
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(ABI)|' CSupport/CSextant/libsextant.pc.in > $(CLIB)/$(CLIB_HOST)/libsextant.pc
	$(SUDO) install -D -m 644 -t $(DESTDIR)$(LIBDIR)/pkgconfig $(CLIB)/$(CLIB_HOST)/libsextant.pc

uninstall: SUDO := $(in_prefix)
uninstall:
	$(SUDO) rm -f $(DESTDIR)$(PREFIX)/bin/sextant $(DESTDIR)$(PREFIX)/bin/sextant-track $(DESTDIR)$(PREFIX)/bin/sextantd \
	  $(DESTDIR)$(PREFIX)/bin/sextant-uplink \
	  $(SHARE)/man/man1/sextant.1 $(SHARE)/man/man1/sextantd.1 \
	  $(SHARE)/man/man1/sextant-*.1 $(SHARE)/bash-completion/completions/sextant $(SHARE)/zsh/site-functions/_sextant \
	  $(SHARE)/fish/vendor_completions.d/sextant.fish
	$(SUDO) rm -rf $(SHARE)/doc/sextant $(SHARE)/doc/sextantd

# The location service in the folders of the system: units, which are not enabled (docs/guides/service.md), polkit's rule, and the user.
# The folders are those outside of the distribution's packages (systemd.unit(5), sysusers.d(5), polkit(8), udev(7)).
LIB ?= /usr/local/lib
UNITS ?= $(LIB)/systemd/system
USER_UNITS ?= /etc/systemd/user
POLKIT ?= /etc/polkit-1/rules.d
UDEV ?= /etc/udev
install-units:
	$(SUDO) install -D -m 644 -t $(DESTDIR)$(UNITS) hw-rules/sextantd.service hw-rules/sextantd.socket \
	  hw-rules/sextantd-gpsd.socket hw-rules/sextantd-nmea.socket hw-rules/sextant-uplink.service
	$(SUDO) install -D -m 644 -t $(DESTDIR)$(USER_UNITS) hw-rules/sextant-launcher.service
	$(SUDO) install -D -m 644 hw-rules/sextant.rules $(DESTDIR)$(POLKIT)/60-sextant.rules
	$(SUDO) sed -i 's|/usr/local/bin/|$(PREFIX)/bin/|' $(DESTDIR)$(UNITS)/sextantd.service \
	  $(DESTDIR)$(UNITS)/sextant-uplink.service $(DESTDIR)$(USER_UNITS)/sextant-launcher.service
	$(SUDO) install -D -m 644 hw-rules/sextant.sysusers.conf $(DESTDIR)$(LIB)/sysusers.d/sextant.conf
	$(SUDO) install -D -m 644 hw-rules/sextant.tmpfiles.conf $(DESTDIR)$(LIB)/tmpfiles.d/sextant.conf
	[ -n "$(DESTDIR)" ] || [ ! -d /run/systemd/system ] || { $(SUDO) systemd-sysusers sextant.conf && \
	  $(SUDO) systemd-tmpfiles --create sextant.conf && $(SUDO) systemctl daemon-reload; }

uninstall-units:
	$(SUDO) rm -f $(DESTDIR)$(UNITS)/sextantd.service $(DESTDIR)$(UNITS)/sextantd.socket \
	  $(DESTDIR)$(UNITS)/sextantd-gpsd.socket $(DESTDIR)$(UNITS)/sextantd-nmea.socket \
	  $(DESTDIR)$(UNITS)/sextant-uplink.service $(DESTDIR)$(USER_UNITS)/sextant-launcher.service \
	  $(DESTDIR)$(POLKIT)/60-sextant.rules \
	  $(DESTDIR)$(LIB)/sysusers.d/sextant.conf $(DESTDIR)$(LIB)/tmpfiles.d/sextant.conf

install-hw-rules:
	$(SUDO) install -D -m 644 -t $(DESTDIR)$(UDEV)/hwdb.d hw-rules/60-sextant-gnss.hwdb
	$(SUDO) install -D -m 644 -t $(DESTDIR)$(UDEV)/rules.d hw-rules/60-sextant-gnss.rules
	[ -n "$(DESTDIR)" ] || { $(SUDO) groupadd --system --force gnss && $(SUDO) systemd-hwdb update && \
	  $(SUDO) udevadm control --reload && \
	  $(SUDO) udevadm trigger --settle --subsystem-match=usb --subsystem-match=tty --subsystem-match=gnss; }

# The programs for 64-bit ARM boards, in .build/board/build/release; tried with the recordings and on a line (docs/guides/cross-build.md).
BOARD := $(CURDIR)/.build/board
FOR_BOARD = -c release --static-swift-stdlib $(LINK) -Xlinker --strip-all --swift-sdks-path $(BOARD)/sdks \
  --pkg-config-path $(BOARD)/sysroot/usr/lib/aarch64-linux-gnu/pkgconfig
CROSS = $(FOR_BOARD) --swift-sdk arm64 -Xlinker --wrap=_swift_stdlib_getScalarName -Xlinker --no-eh-frame-hdr \
  -Xlinker $(CURDIR)/packaging/board/discard.ld
board: board-programs
	Tests/rig/board.sh $(BOARD) $(RECORDINGS)

board-programs: dependencies
	packaging/board/setup.sh $(BOARD)
	$(SWIFT) package resolve --scratch-path $(BOARD)/build
	packaging/argument-parser/replace.sh $(BOARD)/build
	$(SWIFT) build $(CROSS) --scratch-path $(BOARD)/build --product sextant
	$(SWIFT) build $(CROSS) $(ORDERED) --scratch-path $(BOARD)/build --product sextantd
	$(SWIFT) build $(CROSS) --scratch-path $(BOARD)/build --product sextant-uplink
	$(MAKE) board-client CLIENT=$(CURDIR) PRODUCT=sextant-track CLIENT_BUILD=$(BOARD)/client
	cp -f $(BOARD)/client/release/sextant-track $(BOARD)/build/release/

# A client of Core Location for 64-bit ARM boards: product PRODUCT of the package in folder CLIENT, in its .build/board/release.
# Foundation there is that of another compiler, which inside.sh runs. Its data are those of English and of LANGUAGES.
CLIENT_BUILD ?= $(abspath $(CLIENT))/.build/board
board-client: dependencies
	@[ -n "$(CLIENT)" ] && [ -n "$(PRODUCT)" ] || { echo "usage: make board-client CLIENT=folder PRODUCT=name [LANGUAGES=\"de fr\"]" >&2; exit 64; }
	packaging/board/setup.sh $(BOARD)
	packaging/board/compiler.sh $(BOARD)
	LIBRARY=$(BOARD)/foundation/lib/swift_static/linux/lib_FoundationICU.a CC="clang --target=aarch64-linux-gnu" AR=llvm-ar \
	  OBJCOPY=llvm-objcopy packaging/icu-data.py $(BOARD)/icu-data $(LANGUAGES)
	$(SWIFT) package resolve --package-path $(CLIENT) --scratch-path $(CLIENT_BUILD)
	rm -f $(CLIENT_BUILD)/release/$(PRODUCT)
	packaging/board/inside.sh $(BOARD) swift build $(FOR_BOARD) --swift-sdk arm64-foundation --package-path $(abspath $(CLIENT)) \
	  --scratch-path $(CLIENT_BUILD) --disable-automatic-resolution --product $(PRODUCT)

# Instructions per byte of the decoder on aarch64 and x86-64, in qemu-user (docs/reference/speed.md).
count-instructions: bench-program
	packaging/board/setup.sh $(BOARD)
	$(SWIFT) package resolve --package-path Benchmarks --scratch-path $(BOARD)/bench
	packaging/argument-parser/replace.sh $(BOARD)/bench
	$(SWIFT) build $(CROSS) --package-path Benchmarks --scratch-path $(BOARD)/bench --product sextant-bench
	Tests/instructions/count.sh $(BOARD)/count $(BOARD)/sysroot $(BOARD)/bench/release/sextant-bench $(BENCH) $(RECORDINGS) $(COUNT)

# The same without one of the fast paths each, which are built anew for it.
WITHOUT ?= scan numbers sums carryless
count-without-fast-paths: count-instructions
	Tests/instructions/without.sh .build/without $(BOARD) $(RECORDINGS) $(WITHOUT)

# Debian packages in .build/deb (docs/guides/install-on-a-board.md), for this machine or, cross-built, with ARCH=arm64. Man pages and
# completions are those of this machine's programs.
HOST_ARCH := $(shell command -v dpkg >/dev/null && dpkg --print-architecture)
ARCH ?= $(HOST_ARCH)
DEB_VERSION ?= $(shell sed -n 's/.*static let text = "\(.*\)"/\1/p' Sources/LinuxIO/EventLoop/SextantVersion.swift)
TREE = $(CURDIR)/.build/deb/tree-$(ARCH)
ifneq ($(ARCH),$(HOST_ARCH))
deb: board-programs
FOREIGN = PROGRAMS=$(BOARD)/build/release STRIP=true
# The compiler of C and its libraries are Debian's packages for cross-building.
FOREIGN_LIBRARY = CLIB_HOST=aarch64-none-none-elf
export CROSS_COMPILE = aarch64-linux-gnu-
export SYSROOT = $(BOARD)/sysroot
endif
deb: deb-packages sbom
	rm -rf $(TREE)
	$(MAKE) install-files install-units install-hw-rules SUDO= DESTDIR=$(TREE) PREFIX=/usr LIB=/usr/lib USER_UNITS=/usr/lib/systemd/user \
	  POLKIT=/usr/share/polkit-1/rules.d UDEV=/usr/lib/udev $(FOREIGN)
	$(if $(wildcard CSupport/CSextant/sextant.h),$(MAKE) deb-library)
	packaging/deb.sh $(TREE) $(ARCH) $(DEB_VERSION) .build/deb

deb-packages:
	@command -v dpkg-shlibdeps >/dev/null && command -v dpkg-architecture >/dev/null || $(call install_packages,dpkg-dev)

# libsextant, in the folder of libraries of the architecture.
deb-library:
	$(if $(FOREIGN),@command -v $(CROSS_COMPILE)gcc >/dev/null || \
	  $(call install_packages,gcc-aarch64-linux-gnu libc6-dev-arm64-cross))
	$(MAKE) install-clib SUDO= DESTDIR=$(TREE) PREFIX=/usr \
	  LIBDIR=/usr/lib/$(shell dpkg-architecture -A$(ARCH) -qDEB_TARGET_MULTIARCH) $(FOREIGN_LIBRARY)
	$(CROSS_COMPILE)strip --strip-unneeded $(TREE)/usr/lib/*/libsextant.so.*

# The packages in a chroot of each suite: installed, upgraded, used and purged; and what lintian finds. Needs root.
SUITES ?= bookworm
rig-deb: deb
	@command -v debootstrap >/dev/null && command -v lintian >/dev/null || { $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends debootstrap lintian >/dev/null; }
	packaging/deb.sh $(TREE) $(ARCH) $(DEB_VERSION)+1 .build/deb
	for suite in $(SUITES); do $(SUDO) Tests/rig/packages.sh .build/deb $(DEB_VERSION) $(ARCH) $$suite .build/rig-deb || exit 1; done

# A signed apt repository in REPOSITORY=, a folder that any web server serves, with the packages of ARCHITECTURES (RELEASING.md). KEY= is
# the gpg key that signs; two while one replaces the other.
ARCHITECTURES ?= amd64 arm64
REPOSITORY ?= .build/repository
repository: deb-packages
	@[ -n "$(KEY)" ] || { echo "usage: make repository KEY=\"a key of gpg\" [REPOSITORY=folder] [ARCHITECTURES=amd64]" >&2; exit 64; }
	@command -v gpg >/dev/null || $(call install_packages,gnupg)
	for architecture in $(ARCHITECTURES); do $(MAKE) deb ARCH=$$architecture || exit; done
	packaging/repository.sh .build/deb $(DEB_VERSION) "$(KEY)" $(REPOSITORY) $(ARCHITECTURES)

# The repository in a bare chroot of each suite, over HTTP on the loopback by README's lines: installed, upgraded from OLD_VERSION, removed.
# The packages of OLD_VERSION are this tree's, if there are none in .build/deb. Needs root and Debian's archive.
OLD_VERSION ?= 0.2.0~rig
rig-repository: deb
	@command -v debootstrap >/dev/null && command -v gpg >/dev/null || $(call install_packages,debootstrap gnupg)
	[ -e .build/deb/sextant_$(OLD_VERSION)_$(ARCH).deb ] || packaging/deb.sh $(TREE) $(ARCH) $(OLD_VERSION) .build/deb
	for suite in $(SUITES); do $(SUDO) python3 Tests/rig/repository.py .build/deb $(OLD_VERSION) $(DEB_VERSION) $(ARCH) $$suite \
	  .build/rig-deb $(BOARD)/qemu/qemu-aarch64 || exit 1; done

# The hour of a newcomer in the bare chroot of the first suite, by README's words: packages from a repository, the first fix, the page in
# a browser, README's packages of Swift, `make deb`. STEPS= names some of `packages fix page clone deb programs`: the first three take two
# minutes, the last two compile the checkout once each. Not in CI. Needs root and Debian's archive.
rig-newcomer: deb view-packages
	@command -v debootstrap >/dev/null && command -v gpg >/dev/null || $(call install_packages,debootstrap gnupg)
	$(SUDO) python3 Tests/rig/newcomer.py .build/deb $(DEB_VERSION) $(ARCH) $(firstword $(SUITES)) .build/rig-deb $(STEPS)

# The files of the container image, run as in a container; the image itself where there is buildah. Needs root.
rig-container: static
	$(SUDO) Tests/rig/container.sh .build/static/release

# 64-bit ARM: the repository in chroots of bookworm and trixie in qemu-user; then a machine in QEMU with Debian's kernel: boot, packages, a
# receiver that is plugged in and out. Needs root, the chroot of `make rig-deb ARCH=arm64`, and ../shared/rig/vm.
rig-board:
	$(MAKE) rig-repository ARCH=arm64 SUITES="bookworm trixie"
	$(SUDO) $(if $(RIG),RIG=$(RIG)) Tests/rig/vm/arm64.sh .build/deb $(DEB_VERSION) .build/rig-deb/bookworm-arm64 $(BOARD)/qemu/qemu-aarch64

clean:
	rm -rf .build
