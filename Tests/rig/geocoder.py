#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The geocoder of module CoreLocation by the example WhereAmI: with a local server that speaks as Nominatim does, with an
extract of GeoNames, and without either.

usage: geocoder.py FOLDER

FOLDER has the programs of package Examples. The server is a part of this rig: no request leaves the machine.
"""
RIG = {"programs": ["sextant", "Examples/WhereAmI"], "seconds": 10, "ci": True}

import http.server
import json
import os
import threading
import time
import urllib.parse

import harness
from harness import expect, expect_equal, program, run, run_checks

# The start of sim:walk.
HERE = "48.164,11.606"


class Server:
    """A server that has one house, and notes its requests."""

    def __init__(self, status=200, body=None):
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                outer.requests.append((time.monotonic(), url.path, query, dict(self.headers)))
                text = body if body is not None else json.dumps(outer.answer(url.path, query))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                try:
                    self.wfile.write(text.encode())
                except (BrokenPipeError, ConnectionResetError):
                    # The client does not read an answer that is too long to its end.
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)

    def answer(self, path, query):
        house = {"lat": query.get("lat", "52.5"), "lon": query.get("lon", "13.4"), "category": "building", "type": "yes",
                 "name": "", "boundingbox": ["48.1", "48.2", "11.5", "11.7"],
                 "address": {"house_number": "8", "road": "Hügelweg", "city": "Beispiel", "state": "Land",
                             "postcode": "12345", "country": "Deutschland", "country_code": "de"}}
        if path == "/nominatim/reverse":
            return {"error": "Unable to geocode"} if float(query["lat"]) < 0 else house
        expect_equal(path, "/nominatim/search", "the path")
        return [house] if query["q"] == "Hügelweg 8, Beispiel" else []

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}/nominatim/"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


HOUSE = "Hügelweg 8|Hügelweg|8|12345|Beispiel|Land|Deutschland|DE"


def extract(folder):
    """Lines of GeoNames, with the places of the simulated walk."""
    os.makedirs(f"{folder}/geonames", exist_ok=True)
    columns = "DE\t\t02\t091\t\t\t{}\t\t524\tEurope/Berlin\t2024-01-01"
    with open(f"{folder}/geonames/cities500.txt", "w") as file:
        for name, code, latitude, longitude, people in (("Munich", "PPLA", 48.13743, 11.57549, 1260391),
                                                       ("Schwabing", "PPLX", 48.16667, 11.58333, 60000)):
            file.write(f"1\t{name}\t{name}\t\t{latitude}\t{longitude}\tP\t{code}\t{columns.format(people)}\n")
    with open(f"{folder}/geonames/admin1CodesASCII.txt", "w") as file:
        file.write("DE.02\tBavaria\tBavaria\t1\n")
    return f"{folder}/geonames"


def where_am_i(folder, *arguments, code=0, **variables):
    standards = {"LANG": "en_US.UTF-8", "SEXTANT_GEONAMES": "", "GNSS_DEVICE": "sim:walk", "SEXTANT_AUTHORIZATION": "always",
                 "SEXTANT_APP_STATE": "foreground"}
    env = harness.environment(folder, **{**standards, **variables})
    return run(program("WhereAmI"), *arguments, code=code, env=env)


def current_location_by_server(folder):
    with Server() as server:
        ran = where_am_i(folder, SEXTANT_GEOCODER=server.address)
        lines = ran.output.splitlines()
        expect(lines[0].startswith("location 48.16") and lines[1].endswith(" " + HOUSE), ran.output)
        expect_equal(len(server.requests), 1, "the number of requests")
        _, _, query, headers = server.requests[0]
        expect_equal((query["format"], query["addressdetails"]), ("jsonv2", "1"), "the format")
        expect(query["accept-language"].startswith("en"), f"the languages are {query}")
        expect(headers["User-Agent"].startswith("WhereAmI "), f"the client is {headers['User-Agent']}")
        return lines[1]


def configured_server(folder):
    with Server() as server:
        os.makedirs(f"{folder}/config/sextant")
        with open(f"{folder}/config/sextant/config", "w") as file:
            file.write(f"geocoder {server.address}   # ours\n")
        ran = where_am_i(folder, "at", HERE)
        expect(HOUSE in ran.output, ran.output + ran.errors)


def pace_and_cache(folder):
    with Server() as server:
        ran = where_am_i(folder, "at", HERE, "1,1", HERE, "1,1", "2,2", SEXTANT_GEOCODER=server.address)
        expect_equal(ran.output.count(HOUSE), 5, "the number of addresses")
        times = [request[0] for request in server.requests]
        expect_equal(len(times), 3, "the number of requests")
        # The server may note a request later than it was sent, and the next one at once.
        expect(times[2] - times[0] > 1.5, f"the requests came within {times[2] - times[0]:.1f} s")


def address_by_server(folder):
    with Server() as server:
        ran = where_am_i(folder, "find", "Hügelweg 8, Beispiel", SEXTANT_GEOCODER=server.address)
        expect_equal(ran.output.strip(), f"52.5000,13.4000 {HOUSE}", "the house")


def no_result(folder):
    with Server() as server:
        ran = where_am_i(folder, "at", "-1,1", code=1, SEXTANT_GEOCODER=server.address)
        expect_equal(ran.output.strip(), "error 8", "the answer")
        ran = where_am_i(folder, "find", "Atlantis", code=1, SEXTANT_GEOCODER=server.address)
        expect_equal(ran.output.strip(), "error 8", "the answer")


def broken_servers(folder):
    for status, body, word in (500, "{}", "HTTP status 500"), (429, "", "HTTP status 429"), (200, "<html>", "not JSON"), \
            (200, " " * (2 << 20), ""):
        with Server(status, body) as server:
            ran = where_am_i(folder, "at", HERE, code=1, SEXTANT_GEOCODER=server.address)
            expect_equal(ran.output.strip(), "error 2", f"the answer to {status}")
            expect(f"the geocoder {server.address} does not answer" in ran.errors and word in ran.errors, ran.errors)
    ran = where_am_i(folder, "at", HERE, code=1, SEXTANT_GEOCODER="file:///etc/passwd")
    expect(ran.output.strip() == "error 2" and "http://" in ran.errors, ran.errors)


def offline(folder):
    ran = where_am_i(folder, SEXTANT_GEOCODER="", SEXTANT_GEONAMES=extract(folder))
    expect(ran.output.splitlines()[-1].endswith("Schwabing|-|-|-|Munich|Bavaria|Germany|DE"), ran.output + ran.errors)
    ran = where_am_i(folder, "find", "Munich, Germany", SEXTANT_GEOCODER="", SEXTANT_GEONAMES=extract(folder))
    expect(ran.output.startswith("48.1374,11.5755 Munich|"), ran.output)
    ran = where_am_i(folder, "at", "0,0", code=1, SEXTANT_GEOCODER="", SEXTANT_GEONAMES=extract(folder))
    expect_equal(ran.output.strip(), "error 8", "the address of the ocean")


def server_away(folder):
    with Server() as server:
        address = server.address
    ran = where_am_i(folder, "at", HERE, SEXTANT_GEOCODER=address, SEXTANT_GEONAMES=extract(folder))
    expect("Munich|Bavaria" in ran.output and "does not answer" in ran.errors, ran.output + ran.errors)


def no_source(folder):
    ran = where_am_i(folder, "at", HERE, "1,1", code=1, SEXTANT_GEOCODER="")
    expect_equal(ran.output.split("\n")[:2], ["error 2"] * 2, "the answers")
    expect_equal(ran.errors.count("geocoding has no source"), 1, "the number of lines")


if __name__ == "__main__":
    harness.arguments(__doc__)
    run_checks([current_location_by_server, configured_server, pace_and_cache, address_by_server, no_result, broken_servers,
                offline, server_away, no_source])
