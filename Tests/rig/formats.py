#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the files of `sextant decode --format` with programs that share no code with it.

Debian's gpsbabel converts the GPX and back, and the positions and times stay those of the TPV lines. Python's
parsers read the KML, the GeoJSON and the table, with the same positions. A recording is made by the simulator.
usage: formats.py FOLDER RECORDINGS; FOLDER has sextant. Two recordings of real receivers are read too, if RECORDINGS has them.
"""
RIG = {"programs": ["sextant"], "packages": {"gpsbabel": "gpsbabel"}, "arguments": ["{programs}", "{recordings}"], "seconds": 54,
       "ci": True}

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

PROGRAM = str(pathlib.Path(sys.argv[1]) / "sextant")
REAL = ("ubx/ublox-zed-f9p_hpg1.11.log", "gpsd/mt3339.log")
GPX = "{http://www.topografix.com/GPX/1/1}"
KML = "{http://www.opengis.net/kml/2.2}"
# The last digit of the formats, in degrees: half of 1e-8, and gpsbabel's own nine digits.
ROUNDING = 2e-8


def decode(recording, form):
    return subprocess.run([PROGRAM, "decode", "--format", form, recording], check=True, capture_output=True).stdout


def same(found, expected, what):
    assert len(found) == len(expected), f"{what}: {len(found)} points, expected {len(expected)}"
    for (lat, lon), (wantedLat, wantedLon) in zip(found, expected):
        turn = abs(lon - wantedLon)
        assert abs(lat - wantedLat) < ROUNDING and min(turn, 360 - turn) < ROUNDING, f"{what}: {lat},{lon}"


def points(text):
    return [(float(p.get("lat")), float(p.get("lon"))) for p in xml.fromstring(text).iter(GPX + "trkpt")]


def check(recording, folder):
    fixes = {}
    for line in decode(recording, "tpv").splitlines():
        fix = json.loads(line)
        if fix["class"] == "TPV" and fix["mode"] >= 2 and "time" in fix:
            fixes[fix["time"]] = (fix["lat"], fix["lon"])
    expected = list(fixes.values())
    assert expected, f"{recording}: no fix"

    table = list(csv.DictReader(decode(recording, "csv").decode().splitlines()))
    same([(float(row["lat_deg"]), float(row["lon_deg"])) for row in table], expected, "csv")
    assert [row["time_utc"] for row in table] == list(fixes), "csv: times"

    gpx = decode(recording, "gpx")
    same(points(gpx), expected, "gpx")
    paths = [os.path.join(folder, name) for name in ("track.gpx", "track.kml", "back.gpx", "again.gpx")]
    pathlib.Path(paths[0]).write_bytes(gpx)
    subprocess.run(["gpsbabel", "-i", "gpx", "-f", paths[0], "-o", "gpx,gpxver=1.1", "-F", paths[2]], check=True)
    back = pathlib.Path(paths[2]).read_bytes()
    same(points(back), expected, "gpsbabel gpx")
    subprocess.run(
        ["gpsbabel", "-i", "gpx", "-f", paths[0], "-o", "unicsv,utc=0", "-F", paths[1]], check=True)
    subprocess.run(["gpsbabel", "-i", "unicsv", "-f", paths[1], "-o", "gpx", "-F", paths[3]], check=True)

    kml = xml.fromstring(decode(recording, "kml"))
    places = []
    for coordinates in list(kml.iter(KML + "coordinates")):
        part = [tuple(float(n) for n in place.split(",")) for place in coordinates.text.split()]
        # A part begins with the last point of the one before.
        places += [(p[1], p[0]) for p in (part[1:] if places and (part[0][1], part[0][0]) == places[-1] else part)]
    assert {round(p[0], 6) for p in places} == {round(p[0], 6) for p in expected}, "kml: latitudes"

    collection = json.loads(decode(recording, "geojson"))
    assert collection["type"] == "FeatureCollection"
    for feature in collection["features"]:
        geometry = feature["geometry"]
        positions = [geometry["coordinates"]] if geometry["type"] == "Point" else geometry["coordinates"]
        assert len(positions) == len(feature["properties"]["time"]), "geojson: times"
        assert all(-180 <= p[0] <= 180 and -90 <= p[1] <= 90 for p in positions), "geojson: range"

    sentences = os.path.join(folder, "track.nmea")
    nmea = decode(recording, "nmea")
    pathlib.Path(sentences).write_bytes(nmea)
    # A fix outside of the receiver's limits has status V, which gpsbabel leaves out.
    valid = sum(1 for line in nmea.decode().splitlines() if line[3:6] == "RMC" and line.split(",")[2] == "A")
    assert 0 < valid <= len(expected), f"nmea: {valid} valid fixes"
    babel = subprocess.run(
        ["gpsbabel", "-i", "nmea", "-f", sentences, "-o", "gpx", "-F", "-"], check=True, capture_output=True).stdout
    read = xml.fromstring(babel)
    count = sum(1 for element in read.iter() if element.tag.endswith("trkpt"))
    # One epoch of the simulator is missing in gpsbabel's track; all of the recordings of real receivers are there.
    assert valid - 1 <= count <= valid, f"gpsbabel nmea: {count} points, expected {valid}"
    print(f"{os.path.basename(recording)}: {len(expected)} fixes, gpx, kml, csv, geojson and nmea are read")

    times = list(fixes)
    begin, end = times[len(times) // 3], times[2 * len(times) // 3]
    part = subprocess.run([PROGRAM, "decode", "--format", "csv", "--from", begin, "--to", end, recording], check=True, capture_output=True)
    found = [row["time_utc"] for row in csv.DictReader(part.stdout.decode().splitlines())]
    assert found == times[len(times) // 3:2 * len(times) // 3 + 1], f"--from {begin} --to {end}: {found[:1]} to {found[-1:]}"
    refused("--to is before --from", 64, "decode", "--from", end, "--to", begin, recording)
    refused("no such message", 64, "decode", "--messages", "NAV-PVTT", recording)
    report(recording, folder)


def refused(words, code, *arguments):
    one = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert one.returncode == code and words in one.stderr, f"{arguments}: {one.returncode} {one.stderr}"


def report(recording, folder):
    """The page is private, names each recording, and replaces a former one only when it is whole."""
    page, empty = os.path.join(folder, "page.html"), os.path.join(folder, "empty")
    pathlib.Path(page).write_text("former")
    pathlib.Path(empty).touch()
    refused("empty", 65, "report", "--output", page, recording, empty)
    assert pathlib.Path(page).read_text() == "former", "report: the former page is lost"
    refused("--truth must be", 64, "report", "--truth", "91,0", "--output", page, recording)
    refused("one of the recordings", 64, "report", "--output", recording, recording)
    subprocess.run([PROGRAM, "report", "--truth", "48.164,11.605,556", "--output", page, recording, recording], check=True, capture_output=True)
    text = pathlib.Path(page).read_text()
    assert text.count(f"<th>{os.path.basename(recording)}</th>") >= 2, "report: a recording has no column"
    assert text.count(recording) == 2, "report: a file is not named once in the details"
    assert os.stat(page).st_mode & 0o777 == 0o600, f"report: mode {os.stat(page).st_mode:o}"
    printed = subprocess.run([PROGRAM, "report", "--output", "-", recording], check=True, capture_output=True, text=True).stdout
    assert printed.startswith("<!") and printed.rstrip().endswith("</html>"), "report: no whole page on standard output"


def main():
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "simulated.rec")
        environment = dict(os.environ, SEXTANT_STATE_DIR=folder, SEXTANT_SERVICE="none")
        subprocess.run(
            [PROGRAM, "record", "--device", "sim:walk", "--configure", "--seconds", "45", recording], check=True, env=environment)
        real = [os.path.join(sys.argv[2], name) for name in REAL]
        for path in [recording, *filter(os.path.exists, real)]:
            check(path, folder)


main()
