# SPDX-License-Identifier: Apache-2.0
"""Drives Debian's chromium without a window, by the DevTools protocol over two pipes (`--remote-debugging-pipe`).

A page records what a check needs: the messages and errors of its console, and every address that it requested.
"""
import base64
import fcntl
import json
import os
import subprocess
import tempfile
import threading
import time

LIMIT = 60  # Seconds; it only ends a wait that would never end.


class BrowserError(Exception):
    pass


class Browser:
    """A browser with a profile of its own. It has no network but loopback: no proxy, no updates, no look-ups."""

    def __init__(self, executable="chromium"):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        request_read, self.requests = os.pipe()
        self.replies, reply_write = os.pipe()
        # The protocol is on the descriptors 3 and 4. A shell puts them there: in this process other threads use these numbers. Copies
        # above them are not overwritten by the first of the two.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (request_read, reply_write)]
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec 3<&"$0" 4>&"$1"; exec "${@:2}"', *map(str, high),
             executable, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--no-pings",
             "--disable-default-apps", "--disable-dev-shm-usage", "--disable-crash-reporter", "--no-proxy-server",
             "--disable-features=OptimizationHints,MediaRouter,Translate", "--enable-precise-memory-info",
             f"--user-data-dir={self.folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=True,
            pass_fds=high, env={**os.environ, "HOME": self.folder.name})
        for end in (request_read, reply_write, *high):
            os.close(end)
        self.changed = threading.Condition()
        self.answers, self.pages, self.number, self.is_open = {}, {}, 0, True
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.reader.join(10)
        os.close(self.requests)
        os.close(self.replies)
        self.folder.cleanup()

    def _read(self):
        rest = b""
        while data := os.read(self.replies, 1 << 20):
            *messages, rest = (rest + data).split(b"\0")
            with self.changed:
                for message in map(json.loads, messages):
                    if "id" in message:
                        self.answers[message["id"]] = message
                    elif page := self.pages.get(message.get("sessionId")):
                        page._take(message["method"], message["params"])
                self.changed.notify_all()
        with self.changed:
            self.is_open = False
            self.changed.notify_all()

    def call(self, method, session=None, **parameters):
        """The result of a method of the protocol."""
        with self.changed:
            self.number += 1
            number = self.number
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self.requests, data):]
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.answers or not self.is_open, LIMIT) or number not in self.answers:
                raise BrowserError(f"{method}: no answer of the browser")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, address, width=1600, height=1000, scheme="light"):
        """A page of this size, in pixels, after its load."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, target, session)
        for domain in ("Page", "Runtime", "Network", "Log", "Performance"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.call("Page.navigate", url=address)
        page.wait("document.readyState === 'complete'")
        return page

    def processes(self):
        """The processes of the browser: their numbers."""
        found, queue = [], [self.process.pid]
        while queue:
            parent = queue.pop()
            found.append(parent)
            try:
                for task in os.listdir(f"/proc/{parent}/task"):
                    with open(f"/proc/{parent}/task/{task}/children") as file:
                        queue += map(int, file.read().split())
            except FileNotFoundError:
                pass  # Ended meanwhile.
        return found


class Page:
    """A tab. `errors` has the errors of its console, `addresses` the addresses that it requested, `failures` the failed requests."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        self.errors, self.addresses, self.failures = [], [], []

    def _take(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(one.get("value", one.get("description"))) for one in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.addresses.append(parameters["request"]["url"])
        elif method == "Network.loadingFailed" and not parameters.get("canceled"):
            self.failures.append(parameters["errorText"])

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def value(self, expression):
        """The value of an expression of JavaScript in the page; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if details := answer.get("exceptionDetails"):
            raise BrowserError(f"{expression}: {details.get('exception', {}).get('description') or details['text']}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=LIMIT):
        """Waits until an expression is true. Returns its value."""
        limit = time.monotonic() + seconds
        while not (found := self.value(expression)):
            if time.monotonic() > limit:
                raise BrowserError(f"not true within {seconds} s: {expression}; errors: {self.errors[-3:]}")
            time.sleep(0.1)
        return found

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})?.textContent")

    def field(self, name):
        """A value of the page by its name."""
        return self.text(f'[data-field="{name}"]')

    KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "ArrowDown": ("ArrowDown", 40, ""),
            "ArrowUp": ("ArrowUp", 38, ""), "ArrowLeft": ("ArrowLeft", 37, ""), "Tab": ("Tab", 9, "")}

    def press(self, *keys):
        """Presses keys: names of KEYS, or text."""
        for key in keys:
            for name, code, text in [self.KEYS[key]] if key in self.KEYS else [(one, ord(one.upper()), one) for one in key]:
                down = {"text": text} if text else {}
                self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=name,
                          windowsVirtualKeyCode=code, **down)
                self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def picture(self, path, height=None):
        """A picture of the page as PNG: of the window, or of this height."""
        clip = {}
        if height:
            width = self.value("innerWidth")
            clip = {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}, "captureBeyondViewport": True}
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", **clip)["data"])
        with open(path, "wb") as file:
            file.write(data)
        return len(data)

    def metrics(self):
        """The browser's own measures of the page: JSHeapUsedSize in bytes, TaskDuration in s, Nodes, …"""
        return {one["name"]: one["value"] for one in self.call("Performance.getMetrics")["metrics"]}

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
