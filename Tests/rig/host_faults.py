#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the host: few descriptors, no threads, little memory, closed streams, special files, links, a hidden /proc, hostile text.

usage: host_faults.py FOLDER [CHECK...]      FOLDER holds sextant, sextant-track and sextantd

Root is needed to play another user and to hide /proc; those checks say so without it.
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "packages": {"openssl": "openssl"}, "seconds": 22, "ci": True}

import os
import resource
import signal
import socket
import ssl
import stat
import subprocess
import threading

import harness
from harness import Program, Simulator, environment, expect, expect_equal, matches, program
from ublox import MODELS, Quirks, Receiver

# Seconds within which a program ends by SIGTERM, with a margin for a loaded machine.
END = 30
CODES = (0, 66, 69, 71, 73, 74)


def programs(folder):
    """The long-running programs, with a simulated receiver."""
    return {
        "watch": (program(), "watch", "--json", "--device", "sim:parked-van"),
        "track": (program("sextant-track"), "--json", "--device", "sim:parked-van"),
        "service": (program("sextantd"), "--socket", f"{folder}/location", "--device", "sim:parked-van"),
    }


def ends(folder, words, prepare, **options):
    """Starts a program under a limit, ends it by SIGTERM once it waits, and returns its code and its words."""
    with Program(*words, env=environment(folder, SEXTANT_SERVICE="none"), prepare=prepare, **options) as one:
        # Its own end, or the handling of SIGTERM.
        harness.wait_until(lambda: one.process.poll() is not None or one.handles(signal.SIGTERM), f"{words} does not start")
        if one.process.poll() is None:
            one.process.terminate()
        code = one.wait_for_exit(None, seconds=END)
    # Before it catches the signal it ends by it.
    expect(code in (*CODES, -signal.SIGTERM), f"{words[0]} ended with {code}: {one.errors!r}")
    if code == 71:
        expect(matches("descriptors|threads|open files|files", one.errors), f"no resource is named: {one.errors!r}")
    return code


def descriptors(folder):
    refused = 0
    for name, words in programs(folder).items():
        # Below four the dynamic loader ends.
        for number in (4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 32, 40, 48, 64):
            refused += ends(folder, words, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))) == 71
    return f"57 starts, {refused} refused with the name of the resource"


def threads(folder):
    if os.geteuid() != 0:
        return "not checked: needs root, to play another user"
    os.chmod(folder, 0o777)
    for name, words in programs(folder).items():
        def prepare():
            os.setgroups([])
            os.setgid(64999)
            os.setuid(64999)
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        code = ends(folder, words, prepare)
        if name != "watch":
            expect_equal(code, 71, f"the code of {name}")


def memory(folder):
    """Address space from too little for the loader to plenty. Swift ends a program that gets no memory by a trap, which no program
    can catch: required is an end, and that the next start finds its files whole."""
    ends = {}
    for name, words in programs(folder).items():
        for megabytes in (8, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 512):
            def prepare():
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            env = environment(folder, SEXTANT_SERVICE="none", SWIFT_BACKTRACE="enable=no")
            with Program(*words, env=env, prepare=prepare) as one:
                harness.wait_until(lambda: one.process.poll() is not None or one.handles(signal.SIGTERM), f"{words} does not start")
                if one.process.poll() is None:
                    one.process.terminate()
                code = one.wait_for_exit(None, seconds=END)
            kind = "trap" if code < 0 and code != -signal.SIGTERM else "loader" if code == 127 else str(max(code, 0))
            ends[kind] = ends.get(kind, 0) + 1
        with Program(*words, env=environment(folder, SEXTANT_SERVICE="none")) as one:
            harness.wait_until(lambda: one.handles(signal.SIGTERM), f"{name} does not start afterwards")
            one.terminate((0, 69))
            expect("damaged" not in one.errors and "unreadable" not in one.errors, f"{name}: {one.errors!r}")
    return ", ".join(f"{kind}: {count}" for kind, count in sorted(ends.items()))


def closed_streams(folder):
    for words in programs(folder).values():
        for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            ends(folder, words, lambda: [os.close(number) for number in closed])


def special_files(folder):
    """A FIFO, a sparse file of 10 GB and a link in the place of state and configuration files."""
    os.makedirs(f"{folder}/config/sextant")
    for name in ("config", "state/newest-location", "state/apps/sextant-track/authorization", "state/apps/sextant-track/regions"):
        path = f"{folder}/config/sextant/config" if name == "config" else f"{folder}/{name}"
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        for kind in ("fifo", "sparse", "link"):
            if kind == "fifo":
                os.mkfifo(path)
            elif kind == "sparse":
                with open(path, "w") as file:
                    file.truncate(10 << 30)
            else:
                os.symlink("/dev/zero", path)
            for words in programs(folder).values():
                device = words[-2:] if name != "config" else ()
                with Program(*words[:-2], *device, env=environment(folder, SEXTANT_SERVICE="none")) as one:
                    harness.wait_until(lambda: one.process.poll() is not None or one.handles(signal.SIGTERM), f"{words} waits for {path}")
                    if one.process.poll() is None:
                        one.process.terminate()
                    one.wait_for_exit(None, seconds=END)
                    expect(one.process.returncode >= 0 or -one.process.returncode == signal.SIGTERM, f"{words}: {one.process.returncode}")
            if os.path.lexists(path):
                os.unlink(path)


def links_in_state(folder):
    """Nothing is written through a link in the state folder."""
    victim = f"{folder}/victim"
    with open(victim, "w") as file:
        file.write("precious")
    apps = f"{folder}/state/apps/sextant-track"
    os.makedirs(f"{apps}/batch", mode=0o700)
    with Simulator(folder, "m8-batching") as receiver:
        name = "".join(letter if letter.isalnum() else "_" for letter in receiver.link)
        for path in (f"{apps}/batch/{name}.log", f"{folder}/state/newest-location", f"{apps}/regions", f"{apps}/deferred"):
            os.symlink(victim, path)
        with Program(program("sextant-track"), "--json", "--device", receiver.link, "--region", "a,47,8,100", "--accuracy", "best",
                     env=environment(folder, SEXTANT_SERVICE="none")) as one:
            one.wait_for_event("didUpdateLocations")
            one.terminate(None)
    with open(victim) as file:
        expect_equal(file.read(), "precious", "the target of the links")


def folder_of_others(folder):
    os.makedirs(f"{folder}/state")
    os.chmod(f"{folder}/state", 0o777)
    with Program(program("sextant-track"), "--json", "--device", "sim:walk", env=environment(folder, SEXTANT_SERVICE="none")) as one:
        one.wait_for_message("other users can write in this folder.*chmod go-w|chmod go-w|other users can write")
        one.terminate(None)
    expect_equal(os.listdir(f"{folder}/state"), [], "what was written into it")


def hidden_proc(folder):
    if os.geteuid() != 0:
        return "not checked: needs root, to hide /proc"
    for name, words in {"sextant": "watch --device /dev/x", "sextant-track": "--device /dev/x", "sextantd": "--version"}.items():
        done = subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs none /proc && exec {program(name)} {words}"],
                              capture_output=True, text=True, timeout=END, env=environment(folder), check=False)
        expect_equal(done.returncode, 71, f"the code of {name}")
        expect("mount /proc" in done.stderr, f"{name} says {done.stderr!r}")


ESCAPE = "\x1b]0;forged\x07\x1b[2J\x9b31m"


def expect_clean(text, subject):
    found = [letter for letter in text if (ord(letter) < 0x20 and letter not in "\n\t") or 0x7F <= ord(letter) < 0xA0]
    expect(not found, f"{subject} has control characters: {text!r}")


def hostile_receiver(folder):
    """MON-VER with terminal escapes in each of its strings."""
    class Hostile(Receiver):
        def apply(self, identity, payload):
            if identity == (0x0A, 0x04) and not payload:
                def field(text, size):
                    return text.encode("latin-1")[:size].ljust(size, b"\0")
                return self.reply(identity, field("EXT\x1b[2J\x9b1m", 30) + field("\x1b]0;h\x07", 10)
                                  + b"".join(field(key + ESCAPE, 30) for key in ("FWVER=HPG", "PROTVER=27.31", "MOD=ZED")))
            return super().apply(identity, payload)

    receiver = Hostile(MODELS["f9p"], Quirks(), f"{folder}/receiver")
    receiver.start()
    try:
        for words in (("probe",), ("probe", "--json"), ("poll", "MON-VER"), ("configure", "get", "rate"), ("watch", "--count", "1")):
            with Program(program(), *words, "--device", f"{folder}/receiver", env=environment(folder, SEXTANT_SERVICE="none")) as one:
                one.wait_for_exit(None)
            expect_clean(one.output, f"the output of {words}")
            expect_clean(one.errors, f"the errors of {words}")
    finally:
        receiver.stop()


def caster(answer, requests):
    """An NTRIP caster that gives one answer to each request. Its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            requests.append(one.recv(65536))
            one.sendall(answer)
            one.close()
    threading.Thread(target=serve, daemon=True).start()
    return listener, listener.getsockname()[1]


def hostile_caster(folder):
    requests = []
    listener, port = caster(f"ERROR - {ESCAPE}\r\nsextant: forged\r\n".encode(), requests)
    with listener, Simulator(folder, "f9p") as receiver:
        with open(f"{folder}/password", "w") as file:
            file.write("secret\n")
        variables = {"SEXTANT_SERVICE": "none", "SEXTANT_NTRIP_PASSWORD_FILE": f"{folder}/password"}
        with Program(program(), "watch", "--json", "--device", receiver.link, "--corrections", f"ntrip://me@127.0.0.1:{port}/M",
                     env=environment(folder, **variables)) as one:
            one.wait_for_message("refuses: ")
            one.terminate(None)
        expect_clean(one.errors, "the message about the caster")
    # RFC 7617: "me:secret".
    expect(b"Basic bWU6c2VjcmV0" in requests[0], f"the request is {requests[0]!r}")


def certificates(folder):
    """An authority, and certificates of it and of nobody for a caster: openssl-req(1), openssl-x509(1)."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout")

    def openssl(*words):
        done = subprocess.run(("openssl", *words), cwd=folder, capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"openssl {words}: {done.stderr[-500:]}")
    openssl("req", "-x509", *key, "authority.key", "-out", "authority.pem", "-subj", "/CN=Authority", "-days", "2")
    openssl("req", "-x509", *key, "unknown.key", "-out", "unknown.pem", "-subj", "/CN=caster", "-days", "2",
            "-addext", "subjectAltName=DNS:localhost")
    for name, host, days in (("good", "localhost", "2"), ("other", "elsewhere.example", "2"), ("expired", "localhost", "-1")):
        openssl("req", *key, f"{name}.key", "-out", f"{name}.request", "-subj", "/CN=caster")
        with open(f"{folder}/{name}.names", "w") as file:
            file.write(f"subjectAltName=DNS:{host}\n")
        openssl("x509", "-req", "-in", f"{name}.request", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
                "-extfile", f"{name}.names", "-days", days, "-out", f"{name}.pem")


def tls_caster(folder, certificate, received, answer):
    """A caster with TLS and one of the certificates, which gives one answer to each request. Its listener."""
    listener = socket.create_server(("127.0.0.1", 0))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key")

    def serve(one):
        try:
            with context.wrap_socket(one, server_side=True) as secured:
                received.append(secured.recv(65536))
                secured.sendall(answer)
                while piece := secured.recv(65536):
                    received.append(piece)
        except OSError:
            pass

    def accept():
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(one,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return listener


def casters_with_tls(folder):
    """A caster gets user and password only if its certificate is good for its name; each refusal is in words."""
    certificates(folder)
    # Without corrections it waits for the position.
    granted = b"ICY 200 OK\r\n\r\n"
    cases = [("good", "localhost", None), ("other", "localhost", "is for another host"), ("expired", "localhost", "has expired"),
             ("unknown", "localhost", "no authority that this computer trusts"), ("good", "127.0.0.1", "is for another host")]
    with Simulator(folder, "f9p") as receiver:
        def watch(listener, host, trusted):
            port = listener.getsockname()[1]
            variables = {"SEXTANT_SERVICE": "none", "SEXTANT_NTRIP_PASSWORD": "secret"}
            if trusted:
                variables["SSL_CERT_FILE"] = f"{folder}/authority.pem"
            return Program(program(), "watch", "--json", "--device", receiver.link, "--corrections", f"ntrips://me@{host}:{port}/M",
                           env=environment(folder, **variables))
        for certificate, host, words in cases:
            received = []
            with tls_caster(folder, certificate, received, granted) as listener, watch(listener, host, True) as one:
                if words:
                    one.wait_for_message(words)
                else:
                    # The request, then the position that it waits for.
                    harness.wait_until(lambda: len(received) > 1 and b"GGA" in b"".join(received[1:]), "the caster gets no position")
                one.terminate(None)
                expect(words or "localhost" not in one.errors, f"a good caster is reported: {one.errors!r}")
            if words:
                expect_equal(received, [], f"what a caster got whose certificate is {certificate}")
            else:
                # RFC 7617: "me:secret".
                expect(b"Basic bWU6c2VjcmV0" in received[0], f"the request is {received[0]!r}")
        received = []
        with tls_caster(folder, "good", received, granted) as listener, watch(listener, "localhost", False) as one:
            one.wait_for_message("no authority that this computer trusts")
            one.terminate(None)
        expect_equal(received, [], "what a caster got whose authority is not trusted")
        listener, port = caster(b"ICY 200 OK\r\n\r\n", [])
        with listener, watch(listener, "localhost", True) as one:
            one.wait_for_message("check host and port")
            one.terminate(None)
    return f"{len(cases) + 2} casters"


def caster_without_openssl(folder):
    """Without OpenSSL a caster with TLS is refused with the next step before a byte is sent to it, and one without TLS is not."""
    os.mkdir(f"{folder}/libraries")
    # The dynamic loader ends its search at a file that is not a library.
    with open(f"{folder}/libraries/libssl.so.3", "w"):
        pass
    requests = []
    listener, port = caster(b"ICY 200 OK\r\n\r\n", requests)
    variables = {"SEXTANT_SERVICE": "none", "SEXTANT_NTRIP_PASSWORD": "secret", "LD_LIBRARY_PATH": f"{folder}/libraries"}
    with listener, Simulator(folder, "f9p") as receiver:
        def watch(scheme):
            return Program(program(), "watch", "--json", "--device", receiver.link, "--corrections", f"{scheme}://me@127.0.0.1:{port}/M",
                           env=environment(folder, **variables))
        with watch("ntrips") as one:
            one.wait_for_exit(69)
            expect(matches("TLS needs OpenSSL 3; install it", one.errors), f"no next step: {one.errors!r}")
            expect("secret" not in one.errors + one.output, f"the password is shown: {one.errors!r}")
        expect_equal(requests, [], "what the caster got")
        with watch("ntrip") as one:
            harness.wait_until(lambda: requests, lambda: f"the caster without TLS gets no request: {one.errors!r}")
            one.terminate(None)


def recordings(folder):
    """`record` is private, and deletes nothing that it did not create."""
    with open(f"{folder}/empty", "w"):
        pass
    os.symlink("nowhere", f"{folder}/link")
    for name in ("empty", "link"):
        harness.run(program(), "record", "--device", f"{folder}/absent", f"{folder}/{name}", code=66, env=environment(folder))
        expect(os.path.lexists(f"{folder}/{name}"), f"{name} was deleted")
    harness.run(program(), "record", "--device", f"{folder}/absent", f"{folder}/new", code=66, env=environment(folder))
    expect(not os.path.exists(f"{folder}/new"), "an empty recording is left")
    with Simulator(folder, "m10") as receiver:
        for words, name in ((("record", "--seconds", "2"), "recording"), (("configure", "backup"), "backup")):
            harness.run(program(), *words, "--device", receiver.link, f"{folder}/{name}", env=environment(folder, SEXTANT_SERVICE="none"))
            expect_equal(stat.S_IMODE(os.stat(f"{folder}/{name}").st_mode), 0o600, f"the mode of the {name}")


def litter(folder):
    """A simulated run leaves neither a batch log nor a link with a name that can be guessed."""
    for _ in range(2):
        with Program(program("sextant-track"), "--once", "--json", "--device", "sim:walk",
                     env=environment(folder, SEXTANT_SERVICE="none", TMPDIR=folder)) as one:
            one.wait_for_exit(0)
    left = [name for _, _, names in os.walk(f"{folder}/state") for name in names if name.endswith(".log")]
    expect_equal(left, [], "batch logs")
    with Program(program(), "watch", "--json", "--device", "sim:walk", env=environment(folder, SEXTANT_SERVICE="none", TMPDIR=folder)) as one:
        one.wait_for_line('"TPV"')
        expect(not os.path.lexists(f"/tmp/sextant-simulator-{one.process.pid}"), "the link can be guessed")
        one.terminate(None)
    expect_equal([name for name in os.listdir(folder) if name.startswith("sextant-")], [], "temporary folders")


CHECKS = (descriptors, threads, memory, closed_streams, special_files, links_in_state, folder_of_others, hidden_proc, hostile_receiver,
          hostile_caster, casters_with_tls, caster_without_openssl, recordings, litter)

if __name__ == "__main__":
    harness.run_checks(CHECKS, harness.arguments(__doc__).checks)
