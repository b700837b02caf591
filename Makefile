# SPDX-License-Identifier: Apache-2.0

# The commands that a person types. docs/reference/tests.md has the other checks: rigs are run by Tests/rig/run, and generated pages are
# renewed by docs/generate.
#   make run    builds and watches the first receiver found; without one, the built-in simulator (--demo)
#   make test   runs all tests; with SANITIZE=address, under the address sanitizer
# Both install what they need on Debian; a second run installs nothing.

SWIFT ?= swift
install_packages := packaging/debian-packages.sh

# The tests are compiled once: plain, with SANITIZE=address under the address sanitizer, on optimised code, as it is installed, or with
# OPTIMISED=1 for long runs in virtual time. Leak detection is off, because Swift stores the case of an enum in spare bits of a
# pointer, and the leak checker reports the memory behind such a pointer as lost. Debian's linker warns of the sanitizer's symbols, that
# of the toolchain does not. These tests count the lines that they execute; the tools of the build would leave their counts in this folder.
ifdef SANITIZE
TESTED := $(CURDIR)/.build/sanitize
TEST_FLAGS := -c release --sanitize=$(SANITIZE) --enable-code-coverage -Xswiftc -enable-testing -Xswiftc -use-ld=lld
TEST := ASAN_OPTIONS=detect_leaks=0 LLVM_PROFILE_FILE=/dev/null $(SWIFT) test $(TEST_FLAGS)
TEST_BUILD := ASAN_OPTIONS=detect_leaks=0 LLVM_PROFILE_FILE=/dev/null $(SWIFT) build --build-tests $(TEST_FLAGS)
else
TESTED := $(CURDIR)/.build$(if $(OPTIMISED),/optimised)
TEST_FLAGS := $(if $(OPTIMISED),-c release -Xswiftc -enable-testing)
TEST := $(SWIFT) test $(TEST_FLAGS)
TEST_BUILD := $(SWIFT) build --build-tests $(TEST_FLAGS)
endif
# The packages that depend on the product are built in its folder, so that its modules are compiled once. SwiftPM stores the plan of a
# build in the folder and takes that of another package for its own, unless it is not cached.
IN_TESTS := --scratch-path $(TESTED) --disable-build-manifest-caching
IN_BUILD := --scratch-path $(CURDIR)/.build --disable-build-manifest-caching

# Of the installation; packaging/install.sh has the folders of the system.
export DESTDIR PREFIX LIBDIR LIB UNITS USER_UNITS POLKIT UDEV

.PHONY: run build test test-programs check lint bench compare fuzz dependencies static install install-clib install-units install-hw-rules \
  uninstall uninstall-units deb repository board board-client clean

run: build
	.build/release/sextant watch --demo

build: .build/release/sextant

# Make compares the dates first, because SwiftPM would link its plugin's tool again at the second build.
.build/release/sextant: Package.swift $(shell find Sources CSupport -type f) | dependencies
	$(SWIFT) build -c release --product sextant
	$(SWIFT) build -c release --product sextant-track
	@touch $@

# All tests, or with FILTER= those whose names match. CI has built them with `test-programs`, and names --skip-build: SwiftPM links its
# plugin's tool again, and then compiles UBX anew.
test: dependencies
	$(if $(FILTER),,$(TEST) $(TEST_OPTIONS) --package-path Benchmarks $(IN_TESTS))
	$(TEST) $(TEST_OPTIONS) --scratch-path $(TESTED) $(if $(FILTER),--filter '$(FILTER)')

# The build of `test`, with its programs and the measurements.
test-programs: dependencies
	$(TEST_BUILD) --scratch-path $(TESTED)
	$(TEST_BUILD) --package-path Benchmarks $(IN_TESTS)

# The tests of MODULES= (a list with commas) and what they are built from, without the rest of the package: in a folder of its own,
# because the simulator is optimised in it (Package.swift). Without information for debuggers, which is a sixth of the compilation, and
# without the compiler's index, which is a quarter; `swift test` has both.
check: dependencies
	@echo $(MODULES) | tr , '\n' | while read -r module; do [ -d "Tests/$${module}Tests" ] || { \
	  echo "no tests named \"$$module\": MODULES= takes names of folders of Tests, without their last \`Tests\`" >&2; exit 64; }; done
	SEXTANT_TESTS=$(MODULES) $(SWIFT) test --enable-swift-testing --disable-xctest -debug-info-format none --disable-index-store \
	  --scratch-path $(CURDIR)/.build/check $(if $(FILTER),--filter '$(FILTER)')

# The style of .swift-format; the links of the pages; the imports of pure modules; the vocabulary of names (CONTRIBUTING.md); the
# division of text by bytes; the USB ids for udev; the tests of each rule; the conversions of numbers that trap, by the compiler's index,
# for which the sources are built.
lint: compiler
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks Examples packaging
	python3 Tests/documentation/links.py
	python3 Tests/rules/rules.py --check
	Tests/lint/pure-modules.sh
	python3 Tests/lint/imports.py --self-test
	python3 Tests/lint/imports.py
	python3 Tests/lint/vocabulary.py
	python3 Tests/lint/bytes.py --self-test
	python3 Tests/lint/bytes.py
	python3 Tests/lint/usb-ids.py --self-test
	python3 Tests/lint/usb-ids.py
	python3 Tests/lint/conversions.py --self-test
	python3 Tests/lint/conversions.py

# The measurements; the installed programs do not contain them. The speed of the decoder relative to a newline scan of the same bytes, or
# with MEASURE= another measurement, such as MEASURE=energy.
bench: dependencies
	$(SWIFT) build -c release --package-path Benchmarks $(IN_BUILD) --product sextant-bench
	.build/release/sextant-bench $(MEASURE)

# The decoder and its peers on the same recordings, from the checkouts of minmea, gpsd and others in PEERS= (docs/reference/speed.md).
compare: dependencies
	@[ -n "$(PEERS)" ] || { echo "usage: make compare PEERS=\"a folder with checkouts of the peers\"" >&2; exit 64; }
	Tests/peers/speed.sh $(PEERS)

# Every decoder and protocol with generated inputs, SECONDS each. An input that causes a crash is stored in .build/fuzz/artifacts.
fuzz: dependencies
	Tests/fuzz/run.sh .build/fuzz $(or $(SECONDS),60)

compiler:
	@command -v $(firstword $(SWIFT)) >/dev/null || { \
	  echo "no Swift compiler: put swift.org's toolchain on the PATH, 6.3 or later" >&2; exit 69; }

# libudev is the only library that is linked; Swift finds it by pkg-config.
dependencies: compiler
	@command -v pkg-config >/dev/null && pkg-config --exists libudev || $(install_packages) libudev-dev pkg-config

# The programs for machines without Swift, their man pages and completions, and their bill of materials, in .build/static/release.
# INSTALLED= names some of them.
static: dependencies
	packaging/static.sh $(INSTALLED)

# Only PREFIX is changed. The location service and udev need folders of the system, which have targets of their own.
install: static
	packaging/install.sh programs
	@echo "installed into $(DESTDIR)$(or $(PREFIX),/usr/local). Not installed: the location service's units, polkit rule and user (make install-units), and the udev rules (make install-hw-rules)"

# libsextant for C (docs/guides/from-c.md).
install-clib: dependencies
	CSupport/CSextant/build.sh
	packaging/install.sh clib

install-units:
	packaging/install.sh units

install-hw-rules:
	packaging/install.sh hw-rules

uninstall:
	packaging/install.sh remove-programs

uninstall-units:
	packaging/install.sh remove-units

# Debian packages in .build/deb (docs/guides/install-on-a-board.md), for this machine or, cross-built, with ARCH=arm64.
deb: dependencies
	packaging/debian.sh $(ARCH)

# A signed apt repository in REPOSITORY=, a folder that any web server serves, with the packages of ARCHITECTURES (RELEASING.md). KEY= is
# the gpg key that signs; two while one replaces the other.
repository: dependencies
	@[ -n "$(KEY)" ] || { echo "usage: make repository KEY=\"a key of gpg\" [REPOSITORY=folder] [ARCHITECTURES=amd64]" >&2; exit 64; }
	@command -v gpg >/dev/null || $(install_packages) gnupg
	for architecture in $(or $(ARCHITECTURES),amd64 arm64); do packaging/debian.sh $$architecture || exit; done
	packaging/repository.sh .build/deb $$(packaging/version.sh) "$(KEY)" $(or $(REPOSITORY),.build/repository) $(or $(ARCHITECTURES),amd64 arm64)

# The programs for 64-bit ARM boards, in .build/board/build/release; tried with the recordings and on a line (docs/guides/cross-build.md).
board: dependencies
	Tests/rig/run board

# A client of Core Location for 64-bit ARM boards: product PRODUCT of the package in folder CLIENT, in its .build/board/release. Its data
# are those of English and of LANGUAGES.
board-client: dependencies
	@[ -n "$(CLIENT)" ] && [ -n "$(PRODUCT)" ] || { echo "usage: make board-client CLIENT=folder PRODUCT=name [LANGUAGES=\"de fr\"]" >&2; exit 64; }
	packaging/board/client.sh $(CLIENT) $(PRODUCT) $(LANGUAGES)

clean:
	rm -rf .build
