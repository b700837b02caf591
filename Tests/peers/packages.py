# SPDX-License-Identifier: Apache-2.0
"""The peers from PyPI, installed into .build/peers, once."""
import fcntl
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PEERS = TOP / ".build" / "peers"
PACKAGES = ["pyubx2==1.4.0", "pynmeagps==1.1.8", "varlink==31.0.0", "gpsd-py3==0.3.0", "gpsdclient==1.3.2", "pyte==0.8.2", "pyserial==3.5",
            "pygnssutils==1.3.1"]


def install_peers():
    """Installs the packages that are missing, and adds them to the import path."""
    stamp = PEERS / "installed"
    PEERS.mkdir(parents=True, exist_ok=True)
    # Two tests may come at the same time.
    with open(PEERS / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != " ".join(PACKAGES):
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(PEERS), "--upgrade", *PACKAGES]
            subprocess.run(command, check=True)
            stamp.write_text(" ".join(PACKAGES))
    sys.path.insert(0, str(PEERS))
