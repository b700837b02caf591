#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of sextant-uplink for docs/guides/uplink.md and fleet.md: wake-ups between two uploads, private memory, the bytes of an
upload, and the load of many boards.

usage: uplink_figures.py FOLDER [CHECK ...] [--boards N,N,...] [--seconds S] [--interval S] [--burst N]

Not in CI. FOLDER has the programs. Without a name all checks but `many_boards` are made; that one runs the tests' process (LoadTests.swift)
of a release build, which it makes in .build/optimised.
"""
RIG = {"programs": ["sextant", "sextantd", "sextant-uplink"],
       "packages": {"mosquitto": "/usr/sbin/mosquitto", "mosquitto-clients": "mosquitto_sub", "openssl": "openssl",
           "libcurl4": "library: libcurl.so.4", "python3-jsonschema": "python: jsonschema", "strace": "strace", "gcc": "gcc",
           "libc6-dev": "/usr/include/stdio.h"}, "seconds": 180}

import contextlib
import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import threading
import time

import harness
from harness import expect, expect_equal, run_checks, wait_until
from uplink import Broker, Certificates, Uplink, end_subscriber, free_port, service


TOP = pathlib.Path(__file__).resolve().parents[2]


def tests_process():
    """The tests' process of an optimised build, which is made."""
    built = TOP / ".build/optimised"
    subprocess.run(["swift", "build", "--build-tests", "-c", "release", "-Xswiftc", "-enable-testing", "--scratch-path", built], cwd=TOP,
                   env={**os.environ, "SEXTANT_TESTS": "Uplink"}, stdout=subprocess.DEVNULL, check=True)
    return str(built / "release/sextantPackageTests.xctest")


def switches(process):
    """How often the threads of a process waited: each wake-up ends with one. proc(5), status."""
    total = 0
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/status") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
    return total


def private_kilobytes(process):
    """The written private memory of a process, and what of it belongs to libraries: their relocated pages. Pages of the program's
    file count as private only while no other process has them."""
    private, of_libraries, name = 0, 0, ""
    with open(f"/proc/{process}/smaps") as file:
        for line in file:
            words = line.split()
            if "-" in words[0] and not words[0].endswith(":"):
                name = words[5] if len(words) > 5 else ""
            elif words[0] == "Private_Dirty:":
                private += int(words[1])
                of_libraries += int(words[1]) if ".so" in name else 0
    return private, of_libraries


def idle(folder, seconds):
    """Between two uploads of a long interval no thread of the program runs."""
    broker = Broker(f"{folder}/broker")
    with service(folder) as path:
        broker.start()
        text = f"server = mqtt://localhost:{broker.port}\nclient-id = van\ninterval = 15 min\n"
        with Uplink(f"{folder}/client", path, text) as uplink:
            status = uplink.wait_for_status(lambda now: now["acknowledged"] == 1 and now["queued"] == 0, "no upload")
            wait_until(lambda: not uplink.status()["connected"], "the connection is not closed")
            # The end of the connection, and the answers to `status` here.
            time.sleep(3)
            before, counts = switches(uplink.process.pid), {}
            time.sleep(seconds)
            waits = switches(uplink.process.pid) - before
            trace = f"{folder}/trace"
            with harness.Program("strace", "-f", "-c", "-o", trace, "-p", str(uplink.process.pid)) as tracer:
                tracer.wait_for_message("attached")
                time.sleep(seconds)
                tracer.process.send_signal(2)
                tracer.process.wait(30)
            with open(trace) as file:
                for line in file:
                    words = line.split()
                    if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
                        counts[words[-1]] = int(words[3])
            expect_equal(uplink.status()["sent"], status["sent"], "the number of uploads")
            # Attaching ends the wait of each thread once, which begins it again.
            threads = len(os.listdir(f"/proc/{uplink.process.pid}/task"))
            calls = sum(counts.values())
            expect(calls <= 2 * threads, f"{counts} in {seconds} s")
            private, of_libraries = private_kilobytes(uplink.process.pid)
            expect(private - of_libraries < 4096, f"{private - of_libraries} kB are private beside the libraries")
            uplink.terminate()
        broker.kill()
    expect_equal(waits, 0, "the number of wake-ups")
    return (f"twice {seconds:.0f} s between two uploads: {waits} wake-ups of {threads} threads; {calls} system calls while strace is "
            f"attached; private memory {private} kB, {of_libraries} kB of it pages of libraries")


def memory(folder, _):
    """The private memory with a connection that stays open."""
    broker = Broker(f"{folder}/broker")
    with service(folder) as path:
        broker.start()
        with Uplink(f"{folder}/client", path, f"server = mqtt://localhost:{broker.port}\nclient-id = van\ninterval = 1 s\n") as uplink:
            uplink.wait_for_status(lambda now: now["acknowledged"] > 30, "nothing is acknowledged")
            private, of_libraries = private_kilobytes(uplink.process.pid)
            uplink.terminate()
        broker.kill()
    own = private - of_libraries
    expect(own < 4096, f"{own} kB are private beside the libraries")
    return f"{private} kB are private, {own} kB of them beside the libraries' pages"


def upload(folder, _):
    """The bytes and the connection of an upload with TLS 1.3 and certificates of both sides; a connection for each fix."""
    made = Certificates(folder)
    made.make(2)
    broker = made.broker("require_certificate true", "use_identity_as_username true")
    broker.options += ["--cert", f"{folder}/server.crt", "--key", f"{folder}/server.key"]
    with service(folder) as path:
        broker.start()
        text = (f"server = mqtts://localhost:{broker.port}\nca = {folder}/ca.crt\ncert = {folder}/server.crt\nkey = {folder}/server.key\n"
                "client-id = board17\ntopic = owntracks/board17/board\nkeepalive = 5 s\ninterval = 10 s\n")
        with Uplink(f"{folder}/client", path, text) as uplink:
            uplink.wait_for_status(lambda now: now["acknowledged"] >= 1 and not now["connected"], "no upload")
            begin, connections = broker.gate.bytes, broker.gate.connections
            uplink.wait_for_status(lambda now: now["acknowledged"] >= 5 and not now["connected"], "no further upload")
            count = uplink.status()["acknowledged"] - 1
            size, connections = (broker.gate.bytes - begin) / count, broker.gate.connections - connections
            uplink.terminate()
        broker.kill()
    expect_equal(connections, count, "the number of connections")
    day = 96
    return (f"{size:.0f} bytes of TCP's content an upload with a handshake of TLS, {connections} connections for {count} fixes; "
            f"a fix in 15 min: {day} connections and {day * size / 1000:.0f} kB a day")


SHIM = """
#include <errno.h>
#include <sys/socket.h>
/* libmosquitto's own pair of sockets wakes a loop that this client does not use: without it a client has one descriptor. */
int socketpair(int a, int b, int c, int d[2]) { (void)a; (void)b; (void)c; (void)d; errno = EMFILE; return -1; }
"""


def resident(process):
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) * 1024


def load(folder, boards, options):
    """Boards in one process against one mosquitto on the loopback, with a subscriber of all."""
    tests = tests_process()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with open(f"{folder}/shim.c", "w") as file:
        file.write(SHIM)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", f"{folder}/shim.so", f"{folder}/shim.c"], check=True)
    lines = []
    for count in boards:
        # Ten thousand queues on one disk would wait for its writes: the folder is in memory.
        place = tempfile.mkdtemp(dir="/dev/shm")
        os.chmod(place, 0o755)
        port = free_port()
        with open(f"{place}/mosquitto.conf", "w") as file:
            file.write(f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\nmax_queued_messages 0\n")
        broker = subprocess.Popen(["/usr/sbin/mosquitto", "-c", f"{place}/mosquitto.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def answers():
                return subprocess.run(["mosquitto_pub", "-p", str(port), "-t", "x", "-n"], stderr=subprocess.DEVNULL).returncode == 0
            wait_until(answers, "mosquitto does not listen")
            before = resident(broker.pid)
            with open(f"{place}/messages", "w") as messages:
                subscriber = subprocess.Popen(["mosquitto_sub", "-p", str(port), "-t", "owntracks/+/+", "-q", "1", "-F", "%p"], stdout=messages)
                time.sleep(1)
                largest, ended = [before], threading.Event()

                def watch():
                    while not ended.wait(1):
                        with contextlib.suppress(OSError, StopIteration):
                            largest.append(resident(broker.pid))
                watcher = threading.Thread(target=watch)
                watcher.start()
                found = subprocess.run(
                    [tests, "--testing-library", "swift-testing", "--filter", "UplinkLoadTests"],
                    cwd=place, capture_output=True, text=True, timeout=900,
                    env={**os.environ, "SEXTANT_UPLINK_LOAD": f"{count} {port} {options.seconds} {place} {options.interval} {options.burst}", "LD_PRELOAD": f"{folder}/shim.so"})
                ended.set()
                watcher.join()
                line = next((line for line in found.stdout.splitlines() if line.startswith("uplink-load: ")), None)
                expect(found.returncode == 0 and line, f"{found.stdout[-1500:]}{found.stderr[-800:]}")
                figures = json.loads(line.removeprefix("uplink-load: "))

                def arrived():
                    with open(f"{place}/messages") as file:
                        identifiers = {one["_id"] for one in map(json.loads, filter(str.strip, file)) if one["_type"] == "location"}
                    return len(identifiers) == figures["fixes"]
                wait_until(arrived, lambda: "the subscriber has not every fix")
                end_subscriber(subscriber)
        finally:
            broker.kill()
            broker.wait()
        figures["bytesAConnectionOfTheBroker"] = round((max(largest) - before) / count)
        lines.append(figures)
        print(json.dumps(figures), flush=True)
        shutil.rmtree(place)
    return f"{len(lines)} sizes; every fix arrived"


if __name__ == "__main__":
    options = harness.arguments(__doc__, boards="100,1000,10000", seconds=60, interval=10.0, burst=10)

    def no_wake_ups(folder):
        return idle(folder, options.seconds)

    def private_memory(folder):
        return memory(folder, options)

    def bytes_of_upload(folder):
        return upload(folder, options)

    def many_boards(folder):
        return load(folder, [int(count) for count in options.boards.split(",")], options)

    run_checks([no_wake_ups, private_memory, bytes_of_upload, many_boards],
               options.checks or ["no_wake_ups", "private_memory", "bytes_of_upload"])
