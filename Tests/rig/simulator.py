"""`sextant simulate`: a receiver on a pseudo-terminal."""
import os
import subprocess
import time


class Simulator:
    """A receiver of a model that goes through a scenario, given as text; without one it walks."""

    def __init__(self, sextant, folder, model="m10", scenario=None):
        self.link = os.path.join(folder, "receiver")
        words = [sextant, "simulate", "--model", model, "--link", self.link]
        if scenario is not None:
            path = os.path.join(folder, "scenario")
            with open(path, "w") as file:
                file.write(scenario)
            words += ["--scenario", path]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while not os.path.exists(self.link):
            if self.process.poll() is not None:
                raise OSError(f"the simulator ended with {self.process.returncode}")
            time.sleep(0.05)
        self.began = time.time()

    def order(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait()
