#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `sextant view` in Debian's chromium: on the built-in simulator and on a recording.

usage: view.py FOLDER-OF-PROGRAMS [CHECK...] [--recordings FOLDER] [--minutes N] [--pictures FOLDER]

Values are read out of the page and compared with the stream and with `sextant decode`; filter, pause and theme are driven by
the keyboard. No page may have an error in its console or request another origin. `--minutes` measures the processor time and
memory of page and program; it asks the simulator for ten fixes a second and prints how many positions came. `--pictures` writes the pictures of the guide.
"""
import http.client
import json
import os
import re
import socket
import subprocess
import time
import urllib.parse

import harness
from browser import Browser
from harness import Program, Simulator, expect, expect_equal, program, wait_until

RECORDING = "ubx/ublox-zed-f9p_hpg1.11.log"
WALK = "start 48.1642,11.6056 512m\nhot\nwalk by 400m,200m\nwalk home\nrepeat\n"


class View(Program):
    """`sextant view` at a free port of loopback. `address` is the printed one, with the token if it has one."""

    def __init__(self, folder, *arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        super().__init__(program(), "view", "--listen", f"127.0.0.1:{port}", *arguments,
                         env=harness.environment(folder, SEXTANT_SERVICE="none"))
        self.address = self.wait_for_message(r"the page is at (http://\S+)")[1]
        parts = urllib.parse.urlsplit(self.address)
        self.port, self.origin = parts.port, f"{parts.scheme}://{parts.netloc}"
        self.token = urllib.parse.parse_qs(parts.query).get("token", [None])[0]

    def request(self, method, path, body=None, **headers):
        """Status and text of a reply; of a stream, its first kilobyte."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.LIMIT)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        reply = connection.getresponse()
        text = reply.read1(1024).decode()
        connection.close()
        return reply.status, text


def expect_quiet(page, view):
    """The page has no error, and has requested nothing from elsewhere."""
    expect(not page.errors, f"errors in the console: {page.errors}")
    elsewhere = {one for one in page.addresses if not one.startswith((view.origin + "/", "data:", "about:"))}
    expect(not elsewhere, f"requests to another origin: {elsewhere}")


def degrees(text):
    number, sign = re.fullmatch(r"([\d.]+)° ([NESW])", text).groups()
    return -float(number) if sign in "SW" else float(number)


def simulated(folder):
    with View(folder, "--device", "sim:walk", "--control") as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("document.querySelector('#kind').textContent === 'SIMULATED'")
        page.wait("state.fix.mode === 3 && state.sky.satellites.some((one) => one.used)")
        page.wait("document.querySelector('[data-field=status]').textContent !== 'no fix'")
        page.press("p")
        expect_equal(page.text("#connection"), "paused", "the state after p")
        shown = [page.field(name) for name in ("lat", "lon", "time")]
        time.sleep(1.5)
        expect_equal([page.field(name) for name in ("lat", "lon", "time")], shown, "a paused page")
        page.press("p")
        # Both are read in one step: the page draws later than it receives.
        page.wait(f"document.querySelector('[data-field=time]').textContent !== {json.dumps(shown[2])}")
        drawn = page.wait("""(() => {
          const text = (name) => document.querySelector(`[data-field=${name}]`).textContent;
          return text('time').slice(11, 23) === state.fix.time.slice(11, 23)
            && {lat: text('lat'), lon: text('lon'), used: text('satellitesUsed'), fix: state.fix};
        })()""")
        for name in ("lat", "lon"):
            expect(abs(degrees(drawn[name]) - drawn["fix"][name]) < 1e-7, f"{name}: {drawn}")
        expect_equal(drawn["used"], str(drawn["fix"]["satellitesUsed"]), "satellites used")

        page.wait("document.querySelectorAll('#console tr[data-name]').length > 3")
        page.press("/", "nav-pvt")
        page.wait("document.querySelectorAll('#console tr[data-name]').length === 1")
        page.press("Enter", "Enter")
        page.wait("document.querySelector('[data-detail] dd[data-name=numSV]') !== null")
        bytes_shown = page.text("[data-detail] pre")
        expect(bytes_shown.startswith("0000  b5 62 01 07 5c 00"), f"the bytes of NAV-PVT are {bytes_shown[:60]!r}")
        page.value("document.querySelector('#filter').focus()")
        page.press("Escape")
        page.wait("document.querySelectorAll('#console tr[data-name]').length > 3")

        page.value("document.activeElement.blur()")
        themes = []
        for _ in range(3):
            page.press("t")
            themes.append(page.value("[document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor].join(' ')"))
        expect(len(set(themes)) == 3 and themes[0].split(" ", 1)[1] != themes[1].split(" ", 1)[1], f"themes: {themes}")
        page.press("?")
        expect(page.value("document.querySelector('#keys').open"), "? does not open the keys")
        page.press("Escape")
        for width in (360, 1600):
            page.resize(width, 900)
            expect(page.value("document.documentElement.scrollWidth") <= width, f"the page is wider than {width} pixels")
        page.value("document.querySelector('#power').scrollIntoView()")  # A part outside of the window is not drawn.
        demands = page.wait("document.querySelector('#power table').textContent.includes('sextant view') && "
                            "document.querySelector('#power table').textContent")
        expect_quiet(page, view)
        page.close()
        view.terminate()
        return f"{themes[0].split()[0]} and dark, {len(page.addresses)} requests; demand: {demands.strip()[-40:]}"


def recorded(folder):
    path = os.path.join(options.recordings, RECORDING)
    if not os.path.exists(path):
        return f"left out: no {path}"
    lines = subprocess.run([program(), "decode", "--format", "tpv", path], check=True, capture_output=True).stdout.splitlines()
    fixes = {one["time"]: one for one in map(json.loads, lines) if one["class"] == "TPV" and one["mode"] >= 2 and "time" in one}
    with View(folder, "--speed", "max", path) as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("document.querySelector('#kind').textContent === 'RECORDING'")
        page.wait("document.querySelector('#connection').dataset.state === 'ended'")
        fix = page.value("state.fix")
        wanted = fixes[fix["time"]]
        for name in ("lat", "lon"):
            expect(abs(fix[name] - wanted[name]) < 1e-9, f"{name}: {fix[name]}, decode has {wanted[name]}")
        page.wait(f"document.querySelector('[data-field=time]').textContent.includes({json.dumps(fix['time'][11:19])})")
        expect(abs(degrees(page.field("lat")) - wanted["lat"]) < 1e-7, f"the page has {page.field('lat')}")
        page.wait("document.querySelector('[data-field=positions]').textContent !== '0'")
        expect_quiet(page, view)
        view.terminate()
        return f"{len(fixes)} fixes; the last at {fix['time']} is decode's"


def refused(folder):
    with View(folder, "--device", "sim:walk", "--control") as view:
        body = '{"set":{"CFG-RATE-MEAS":1}}'
        for text, wanted, status in [
            ("another origin reads", (403,), view.request("GET", "/events", Origin="http://example.org")[0]),
            ("another host's name", (421, 403), view.request("GET", "/", Host="example.org")[0]),
            ("no token", (401, 403), view.request("POST", "/control", body)[0]),
            ("a wrong token", (401, 403), view.request("POST", "/control", body, X_Sextant_Token="0" * 32)[0]),
            ("another origin with the token", (403,),
             view.request("POST", "/control", body, X_Sextant_Token=view.token, Origin="http://example.org")[0]),
        ]:
            expect(status in wanted, f"{text}: {status}, not {wanted}")
        view.terminate()
        return "five requests"


def closed(folder):
    """After the last page is closed, the line is closed too, and the program waits without using the processor."""
    with View(folder, "--device", "sim:walk") as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("state.fix.mode === 3")
        page.close()
        def ticks():
            with open(f"/proc/{view.process.pid}/stat") as file:
                fields = file.read().rsplit(") ", 1)[1].split()
            return int(fields[11]) + int(fields[12])
        last = [ticks()]
        def is_idle():
            time.sleep(2)
            last.append(ticks())
            return last[-1] - last[-2] == 0
        wait_until(is_idle, lambda: f"the program uses the processor without a page: {last}")
        view.terminate()
        return "no processor time in two seconds"


def crowd(folder):
    """A thousand connections, idle, without HTTP, or without a reader: a page goes on, and nothing of them is left."""
    with View(folder, "--device", "sim:walk") as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("state.fix.mode === 3")

        def use():
            with open(f"/proc/{view.process.pid}/status") as file:
                memory = int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])
            return memory, len(os.listdir(f"/proc/{view.process.pid}/fd"))
        memory, descriptors = use()
        greetings = [b"", b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\0" * 512, b"GET / HT", b"x" * 4096]
        sockets = []
        for number in range(1000):
            one = socket.create_connection(("127.0.0.1", view.port), timeout=harness.LIMIT)
            try:
                one.sendall(greetings[number % len(greetings)])
            except OSError:
                pass  # The connection was refused before this text.
            sockets.append(one)
        shown = page.field("time")
        page.wait(f"document.querySelector('[data-field=time]').textContent !== {json.dumps(shown)}")
        crowded = use()
        # The page, the most connections and as many refusals.
        expect(crowded[1] <= descriptors + 128, f"{crowded[1]} descriptors, {descriptors} before")
        expect(crowded[0] < memory + 16_384, f"{crowded[0]} KiB, {memory} before")
        for one in sockets:
            one.close()
        wait_until(lambda: use()[1] <= descriptors, lambda: f"{use()[1]} descriptors are left of {descriptors}")
        status = view.request("GET", "/")[0]
        expect_equal(status, 200, "the reply after them")
        expect_quiet(page, view)
        view.terminate()
        return f"{memory} to {crowded[0]} KiB, {descriptors} to {crowded[1]} descriptors"


def measure(folder):
    """Processor time and memory of page and program, at the rate that the receiver accepts."""
    with Simulator(f"{folder}/simulator", "m10", "--usb", scenario=WALK) as simulator, \
            View(folder, "--device", simulator.link, "--control") as view, Browser() as browser:
        page = browser.open(view.address)
        page.wait("state.fix.mode === 3")
        reply = view.request("POST", "/control", '{"set":{"rate":"10Hz"}}', X_Sextant_Token=view.token)
        def use(pid):
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(") ", 1)[1].split()
            with open(f"/proc/{pid}/status") as file:
                found = re.search(r"VmRSS:\s+(\d+)", file.read())
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(found[1]) / 1024 if found else 0
        time.sleep(20)
        rows, begin = [], time.monotonic()
        while True:
            page.call("HeapProfiler.collectGarbage")
            metrics = page.metrics()
            rows.append((time.monotonic() - begin, *use(view.process.pid), metrics["TaskDuration"], metrics["JSHeapUsedSize"] / 2 ** 20,
                         metrics["Nodes"], page.value("track.count")))
            if rows[-1][0] >= options.minutes * 60:
                break
            time.sleep(min(30, options.minutes * 60 / 4))
        first, last = rows[0], rows[-1]
        seconds = last[0] - first[0]
        expect(last[4] < first[4] + 8, f"the page's memory grows: {rows}")
        expect_quiet(page, view)
        view.terminate()
        return (f"control: {reply}; {seconds:.0f} s: program {100 * (last[1] - first[1]) / seconds:.1f} % of a processor, "
                f"{first[2]:.1f} to {last[2]:.1f} MB; page {100 * (last[3] - first[3]) / seconds:.1f} %, heap {first[4]:.1f} to "
                f"{last[4]:.1f} MB, nodes {first[5]:.0f} to {last[5]:.0f}; {(last[6] - first[6]) / seconds:.1f} positions a second")


def pictures(folder):
    """The pictures of the guide: both widths, light and dark."""
    sizes = {}
    path = os.path.join(options.recordings, RECORDING)
    with View(folder, "--device", "sim:walk") as view, Browser() as browser:
        for width, height in ((1600, 1330), (360, 1330)):
            for scheme in ("light", "dark"):
                page = browser.open(view.address, width, height, scheme)
                page.wait("state.fix.mode === 3")
                if not sizes:
                    time.sleep(45)
                time.sleep(8)
                name = f"{options.pictures}/view-{width}-{scheme}.png"
                sizes[name] = page.picture(name)
                page.close()
        view.terminate()
    # A palette of 256 colours suffices.
    subprocess.run(["pngquant", "--force", "--ext", ".png", "--speed", "1", *sizes], check=True)
    sizes = {name: os.path.getsize(name) for name in sizes}
    expect(max(sizes.values()) < 250_000, f"a picture is larger than 250 kB: {sizes}")
    return f"{sizes}"


options = harness.arguments(__doc__, recordings="../shared/corpus", minutes=0, pictures="")
checks = {check.__name__: check for check in (simulated, recorded, refused, closed, crowd)}
if options.minutes:
    checks = {"measure": measure}
if options.pictures:
    checks = {"pictures": pictures}
harness.run_checks(checks, options.checks)
