#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The messages of sextant-uplink in readers by others: Home Assistant's own code for OwnTracks and for trackers of MQTT discovery.

usage: uplink_readers.py FOLDER [CHECK ...]

It runs in an environment that has `homeassistant` of PyPI, in .build/readers; not in CI. That needs Python 3.11 or 3.12.
"""
RIG = {"programs": ["sextant", "sextantd", "sextant-uplink"],
       "packages": {"mosquitto": "/usr/sbin/mosquitto", "mosquitto-clients": "mosquitto_sub", "openssl": "openssl",
           "libcurl4": "library: libcurl.so.4", "python3-jsonschema": "python: jsonschema"}, "needs": ["PyPI"], "seconds": 120}

import asyncio
import collections
import json
import os
import pathlib
import subprocess
import sys
import types

# Home Assistant without what is not imported here.
PACKAGES = """homeassistant==2024.3.3 aiohttp==3.9.3 aiohttp-cors==0.8.1 aiohttp-fast-url-dispatcher==0.3.0 aiohttp-zlib-ng==0.3.1
  aiosignal anyio astral==2.2 async-timeout async_interrupt==1.2.2 atomicwrites-homeassistant==1.4.1 attrs awesomeversion bcrypt
  certifi cffi charset-normalizer ciso8601 cryptography frozenlist h11 httpcore httpx idna ifaddr Jinja2 lru-dict MarkupSafe
  multidict orjson packaging propcache pycparser PyJWT PyNaCl python-slugify pytz PyYAML requests text-unidecode
  typing_extensions ulid-transform urllib3 voluptuous==0.13.1 voluptuous-serialize yarl zlib-ng==0.4.0""".split()
READERS = pathlib.Path(__file__).resolve().parents[2] / ".build" / "readers"
if pathlib.Path(sys.prefix) != READERS:
    if not (READERS / "bin/pip").exists():
        subprocess.run([sys.executable, "-m", "venv", READERS], check=True)
    subprocess.run([READERS / "bin/pip", "install", "-q", "--prefer-binary", "--no-deps", *PACKAGES], check=True)
    os.execv(READERS / "bin/python", [READERS / "bin/python", *sys.argv])

import harness
from harness import expect, expect_equal, run_checks, wait_until

# The rig's own checks of schemas are by Debian's jsonschema, which this environment does not have. The reader of OwnTracks imports
# Home Assistant's cloud for messages by its web hook.
for unused in ("jsonschema", "homeassistant.components.cloud"):
    sys.modules.setdefault(unused, types.ModuleType(unused))
from uplink import Broker, Uplink, service  # noqa: E402


def messages_of(folder, text, enough):
    """The topics and texts until `enough` holds, with a region that the walk leaves, and the death of the program."""
    broker = Broker(f"{folder}/broker")
    with service(folder) as path:
        broker.start()
        with Uplink(f"{folder}/client", path, f"server = mqtt://localhost:{broker.port}\nclient-id = van\n{text}") as uplink:
            wait_until(lambda: enough(broker, uplink), lambda: f"{broker.messages[-3:]}; {uplink.errors[-500:]}")
            uplink.process.kill()
            wait_until(lambda: any("lwt" in one or one == "offline" for _, one in broker.messages), "the broker has no last will")
        broker.kill()
    return broker.messages


def owntracks(folder):
    """Home Assistant's reader of OwnTracks takes location, transition, waypoints and last will."""
    from homeassistant.components.owntracks import OwnTracksContext
    from homeassistant.components.owntracks.messages import HANDLERS

    asked = []

    def enough(broker, _):
        if broker.locations() and not asked:
            here = broker.locations()[-1]
            asked.append(here)
            broker.publish("owntracks/ann/van/cmd", json.dumps({
                "_type": "cmd", "action": "setWaypoints", "waypoints": {"_type": "waypoints", "waypoints": [
                    {"_type": "waypoint", "desc": "yard", "lat": here["lat"], "lon": here["lon"], "rad": 20, "tst": 1700000000}]}}))
        return broker.locations("transition")

    found = messages_of(folder, "topic = owntracks/ann/van\ninterval = 1 s\nallow = setWaypoints\n", enough)
    seen = []
    hass = types.SimpleNamespace(states=types.SimpleNamespace(get=lambda _: None))
    context = OwnTracksContext(hass, None, max_gps_accuracy=200, import_waypoints=False, waypoint_whitelist=None,
                               region_mapping={}, events_only=False, mqtt_topic="owntracks/#")
    context.async_see = lambda **values: seen.append(values)
    context.async_see_beacons = lambda *_: None
    kinds = collections.Counter()

    async def read():
        for topic, text in found:
            message = json.loads(text)
            if topic.endswith("/cmd"):
                continue
            # As its MQTT handler does it.
            message["topic"] = topic
            kinds[message["_type"]] += 1
            handler = HANDLERS.get(message["_type"])
            expect(handler or message["_type"] == "status", f"Home Assistant does not know {message['_type']}")
            if handler:
                await handler(hass, context, message)

    asyncio.run(read())
    locations = [json.loads(text) for topic, text in found if json.loads(text).get("_type") == "location"]
    expect(len(seen) >= len(locations), f"{len(seen)} positions are read of {len(locations)}")
    expect_equal(seen[0]["gps"], (locations[0]["lat"], locations[0]["lon"]), "the position that is read")
    expect_equal({one["dev_id"] for one in seen}, {"ann_van"}, "the device")
    expect(kinds["transition"] and kinds["waypoints"] and kinds["lwt"], f"{kinds}")
    return f"{len(seen)} positions of {dict(kinds)} are read"


def discovery(folder):
    """Home Assistant's schema of a tracker takes the discovery message, and its reader of attributes the position."""
    from homeassistant.components.mqtt.device_tracker import DISCOVERY_SCHEMA

    found = messages_of(folder, "format = homeassistant\ntopic = sextant/van\n",
                        lambda broker, _: any(topic == "sextant/van/attributes" for topic, _ in broker.messages))
    config = next(json.loads(text) for topic, text in found if topic == "homeassistant/device_tracker/van/config")
    valid = DISCOVERY_SCHEMA(config)
    expect_equal(valid["json_attributes_topic"], "sextant/van/attributes", "the topic of the attributes")
    attributes = next(json.loads(text) for topic, text in found if topic == valid["json_attributes_topic"])
    # The fields that MqttDeviceTracker reads.
    expect(all(isinstance(attributes[name], float) for name in ("latitude", "longitude", "gps_accuracy")), f"{attributes}")
    return f"the schema takes {len(config)} members, {sorted(attributes)} are read"


if __name__ == "__main__":
    options = harness.arguments(__doc__)
    run_checks([owntracks, discovery], options.checks)
