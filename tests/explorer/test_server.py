"""The explorer's server: whom it answers, what it refuses, and that it goes on."""

from __future__ import annotations

import http.client
import io
import json
import re
import signal
import socket
import subprocess
import sys
from html import unescape
from urllib.parse import urlencode, urlsplit

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal
from PIL import Image as Pillow

import pskclust
from pskclust import PSKC
from pskclust.cli.app import cli, run
from pskclust.explorer import answers, launch
from pskclust.explorer.colours import palette, to_hex
from pskclust.explorer.launch import explore, serve
from pskclust.explorer.recipes import command_line, python_code
from pskclust.explorer.requests import MAX_BODY_BYTES
from pskclust.explorer.security import Guard, RefusedError
from pskclust.explorer.server import page_files
from pskclust.explorer.subject import ImageSubject, Origin, TableSubject
from tests.helpers.explorer_client import FRAME, Client, blobs, explored, fresh_labels, painting

JSON = {"Content-Type": "application/json"}
START = {"psi": 16, "tau": 0.08, "n_partitions": 50}


@pytest.fixture(scope="module")
def server():
    with serve(TableSubject.of(blobs(), name="blobs"), START, port=0) as server:
        yield server


@pytest.fixture
def client(server):
    client = Client(server.url)
    yield client
    client.post("/api/end", {})


def error_of(status, headers, content):
    return status, json.loads(content)["error"]


class TestAnswers:
    def test_a_move_changes_what_was_found(self, client):
        first = client.go()
        second = client.go(tau=0.05)
        assert (first["clusters"], second["clusters"]) == (5, 4)
        assert second["seconds"]["cells"] == 0
        assert first["id"] != second["id"]

    def test_a_picture_says_which_fit_it_shows(self, client):
        fit = client.go()
        status, headers, content = client.picture(fit["id"])
        assert status == 200
        assert headers["x-fit"] == fit["id"]
        assert Pillow.open(io.BytesIO(content)).size == (300, 200)

    def test_the_newest_setting_wins(self, client):
        for tau in np.linspace(0.02, 0.3, 20):
            asked = client.post("/api/fit", {**client.first, "tau": float(tau)})["asked"]
        state = client.wait(asked)
        assert state["fit"]["settings"]["tau"] == 0.3
        assert state["answered"] == state["asked"] == asked

    def test_a_fit_can_be_stopped(self, client):
        asked = client.post("/api/fit", {**client.first, "n_partitions": 1000})["asked"]
        client.post("/api/stop", {})
        state = client.wait(asked)
        assert state["doing"] is None
        assert client.go()["clusters"] == 5

    def test_what_a_fit_cannot_do_is_said_and_the_next_one_works(self, client):
        asked = client.post("/api/fit", {**client.first, "psi": 601})["asked"]
        error = client.wait(asked)["error"]
        assert error.startswith("psi 601 is more than the 600 rows.")
        assert client.go()["clusters"] == 5

    def test_clusters_rows_and_the_map_are_told(self, client):
        fit = client.go()["id"]
        answer = client.get("/api/clusters", fit=fit)
        assert sum(line["size"] for line in answer["clusters"]) == 600
        assert client.get("/api/plane", fit=fit)["names"] == ["column_1", "column_2"]
        row = client.get("/api/row", fit=fit, **FRAME, x=150, y=100)
        assert row["cluster"] >= 0
        assert client.get("/api/map", fit=fit)["tau"]
        other = client.go(tau=0.05)["id"]
        assert 0.5 < client.get("/api/compare", fit=fit, other=other)["agreement"] < 1

    def test_advice_is_given_for_the_clusters_that_are_named(self, client):
        fit = client.go(tau=0.05)
        largest = client.get("/api/clusters", fit=fit["id"])["clusters"][0]["cluster"]
        client.post("/api/advice", {"kind": "split", "fit": fit["id"], "clusters": [largest]})
        state = client.wait()
        while state["advice"] is None:
            state = client.wait()
        assert "raise psi" in state["advice"]["text"]
        assert client.go(tau=0.05, **state["advice"]["change"])["clusters"] > fit["clusters"]

    def test_payload_of_a_move_is_small(self, client):
        fit = client.go(tau=0.1)
        sizes = [len(client.picture(fit["id"], w=900, h=700)[2])]
        for path in ("/api/clusters", "/api/map", "/api/recipes", "/api/plane"):
            sizes.append(len(client.request("GET", f"{path}?fit={fit['id']}")[2]))
        sizes.append(len(client.request("GET", "/api/news?after=0")[2]))
        assert sum(sizes) < 400_000


@pytest.fixture(scope="module")
def found():
    with serve(TableSubject.of(blobs(), name="blobs"), {}, port=0) as server:
        yield Client(server.url)


class TestChosen:
    def test_it_opens_with_what_pskc_chooses(self, found):
        model = PSKC(random_state=0).fit(blobs())
        assert found.first["tau"] is found.first["psi"] is found.first["n_clusters"] is None
        fit = found.go()
        assert fit["clusters"] == model.n_clusters_ == fit["found"]["clusters"]
        assert fit["reason"] == fit["found"]["reason"] == model.auto_.reason
        assert fit["stability"] == model.auto_.chosen.stability
        assert sum(option["is_chosen"] for option in fit["found"]["options"]) == 1

    def test_a_number_gives_exactly_so_many_and_what_was_found_is_still_told(self, found):
        number = found.go()["clusters"]
        fit = found.go(n_clusters=3)
        assert fit["clusters"] == 3
        assert fit["reason"] == "3 clusters, the number that was set"
        assert fit["found"]["clusters"] == number
        assert found.go(n_clusters=3, random_state=9)["found"] is None

    def test_growth_is_for_clusters_that_grew(self, found):
        fit = found.go()
        status, _, content = found.picture(fit["id"], mode="growth")
        assert status == 400
        assert "these clusters were chosen and did not grow" in json.loads(content)["error"]
        assert found.picture(fit["id"], mode="similarity")[0] == 200
        grown = found.go(psi=16, tau=0.08)
        assert found.picture(grown["id"], mode="growth")[0] == 200
        assert grown["found"] is grown["stability"] is None

    def test_confidence_is_told_of_clusters_and_rows(self, found):
        fit = found.go()["id"]
        answer = found.get("/api/clusters", fit=fit)
        assert all(0 <= line["confidence"] <= 1 for line in answer["clusters"])
        row = found.get("/api/row", fit=fit, **FRAME, x=150, y=100)
        assert row["step"] is None
        assert 0 <= row["confidence"] <= 1

    def test_one_candidate_for_a_number_has_no_confidence(self, found):
        assert found.go()["has_confidences"]
        fit = found.go(n_clusters=150)
        assert not fit["has_confidences"]
        answer = found.get("/api/clusters", fit=fit["id"])
        assert all(line["confidence"] is None for line in answer["clusters"])
        row = found.get("/api/row", fit=fit["id"], **FRAME, x=150, y=100)
        assert row["confidence"] is None

    def test_where_growth_starts_is_told(self, server):
        opened = Client(server.url).post("/api/session", {})
        assert opened["grown"] == {"psi": 64, "tau": 0.01}

    def test_clusters_are_compared_with_known_classes(self, tmp_path, monkeypatch):
        rows = blobs()
        names = ["known", "x", "y"]
        known = np.array(["a", "b"])[(rows[:, 0] > rows[:, 0].mean()).astype(int)]
        table = pyarrow.table([known, *map(pyarrow.array, rows.T)], names=names)
        pyarrow.csv.write_csv(table, tmp_path / "blobs.csv")
        monkeypatch.chdir(tmp_path)
        with explored("blobs.csv", monkeypatch, "--label", "known", "--sample", "300") as server:
            client = Client(server.url)
            fit = client.go()
            assert client.picture(fit["id"], mode="classes")[0] == 200
            row = client.get("/api/row", fit=fit["id"], **FRAME, x=150, y=100)
        assert 0 < fit["agreement"] < 1
        assert client.data["classes"]["names"] == ["a", "b"]
        assert row["class"] == known[row["row"]]
        with serve(TableSubject.of(rows, classes=known == "a"), {}, port=0) as server:
            assert 0 < Client(server.url).go()["agreement"] < 1
        with serve(TableSubject.of(rows), {}, port=0) as server:
            assert Client(server.url).go()["agreement"] is None

    def test_known_classes_are_sorted_and_keep_their_colours(self):
        names = ("10", "b", "9", "a")
        subject = TableSubject.of(blobs(), classes=np.arange(600) % 4, class_names=names)
        classes = answers.known_classes(subject)
        assert classes["names"] == ["9", "10", "a", "b"]
        expected = [to_hex(palette("light")[code]) for code in (2, 0, 3, 1)]
        assert classes["colours"]["light"] == expected

    @pytest.mark.slow
    @pytest.mark.parametrize("options", [(), ("--n-clusters", "3", "--noise", "nearest")])
    def test_code_and_command_give_chosen_labels(self, options, tmp_path, monkeypatch, capsys):
        table = pyarrow.table([pyarrow.array(column) for column in blobs().T], names=["x", "y"])
        pyarrow.csv.write_csv(table, tmp_path / "blobs.csv")
        monkeypatch.chdir(tmp_path)
        with explored("blobs.csv", monkeypatch, *options) as server:
            client = Client(server.url)
            fit = client.go()["id"]
            recipes = client.get("/api/recipes", fit=fit)
            exported = pyarrow.csv.read_csv(io.BytesIO(client.export(fit, "labels.csv")))
            assert b"How the clusters were chosen" in client.export(fit, "report")
        labels = exported["cluster"].to_numpy()
        assert "psi" not in recipes["python"] + recipes["command"]
        assert_array_equal(fresh_labels(recipes["python"], tmp_path), labels)
        assert run(recipes["command"].split()[1:]) == 0
        written = pyarrow.csv.read_csv(tmp_path / "labels.csv")
        assert_array_equal(written["cluster"].to_numpy(), labels)

    def test_a_recipe_of_chosen_colours_names_what_segment_would_not_do(self):
        fitter = launch.Fitter(ImageSubject(painting(), origin=Origin("a.png")))
        settings = launch.first_settings(600, is_image=True, n_clusters=3)
        assert command_line(fitter, settings) == (
            "pskclust segment a.png --psi auto --tau auto --n-clusters 3 --seed 0 --color lab "
            "-o segments"
        )
        assert "segment(image, psi='auto', tau='auto', n_clusters=3," in python_code(
            fitter, settings
        )


class TestRefusals:
    def test_another_origin_is_refused(self, client):
        body = json.dumps({**client.first})
        for origin in ("https://evil.example", "null", f"http://{client.address}.evil.example"):
            answer = client.request("POST", "/api/fit", body, **JSON, Origin=origin)
            assert error_of(*answer) == (403, f"Origin {origin!r} may not use this server.")
        own = f"http://{client.address}"
        assert client.request("POST", "/api/fit", body, **JSON, Origin=own)[0] == 200

    def test_a_request_that_a_browser_says_is_of_another_site_is_refused(self, client):
        other = {"Sec-Fetch-Site": "cross-site"}
        link = {**other, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        frame = {**link, "Sec-Fetch-Dest": "iframe"}
        assert client.request("GET", "/", **other)[0] == 403
        assert client.request("GET", "/", **frame)[0] == 403
        assert client.request("GET", "/api/news", **link)[0] == 403
        assert client.request("POST", "/", **link)[0] == 403
        # A link, such as a notebook shows, opens the page, which holds no data.
        assert client.request("GET", "/", **link)[0] == 200
        assert client.request("GET", "/", **{"Sec-Fetch-Site": "none"})[0] == 200

    @pytest.mark.parametrize(
        "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "a@127.0.0.1", ""]
    )
    def test_a_wrong_host_is_refused(self, client, host):
        for path in ("/", "/api/news"):
            status, words = error_of(*client.request("GET", path, Host=host))
            assert status == 403
            assert "is not this server" in words

    def test_without_a_session_nothing_is_told(self, client):
        fit = client.go()["id"]
        answer = client.request("GET", f"/api/clusters?fit={fit}", **{"X-Session": "guessed"})
        assert answer[0] == 410

    def test_an_oversized_body_is_refused(self, client):
        body = json.dumps({"psi": 4, "x": "y" * MAX_BODY_BYTES})
        status, words = error_of(*client.request("POST", "/api/fit", body, **JSON))
        assert (status, words) == (413, f"the body is larger than {MAX_BODY_BYTES:,} bytes.")
        assert client.go()["clusters"] == 5

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ("", "the body is not JSON."),
            ("{", "the body is not JSON."),
            ("[" * 10_000, "the body is not JSON."),
            (b"\xff\xfe\x00", "the body is not JSON."),
            ("[1]", "the body must be a JSON object."),
            ('{"tau": 0.1}', "psi is missing"),
            ('{"psi": 1e999, "tau": 0.1}', "psi inf must be a whole number"),
            ('{"psi": NaN, "tau": 0.1}', "psi nan must be a whole number"),
            ('{"psi": {"a": 1}, "tau": 0.1}', "psi={'a': 1} must be a whole number"),
        ],
    )
    def test_a_malformed_body_is_refused(self, client, body, words):
        status, said = error_of(*client.request("POST", "/api/fit", body, **JSON))
        assert status == 400
        assert words in said

    def test_a_body_that_says_it_is_something_else_is_refused(self, client):
        # A form of another page can send text/plain without being asked first.
        answer = client.request("POST", "/api/fit", "{}", **{"Content-Type": "text/plain"})
        assert error_of(*answer) == (415, "the content type of the body must be application/json.")

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"w": 100_000}, "sides of 1 to 4,000 pixels"),
            ({"w": 3000, "h": 3000}, "at most 2,000,000 pixels"),
            ({"left": "nan"}, "left must be a finite number."),
            ({"left": 20}, "left must be less than right"),
            ({"w": "1.5"}, "w must be a whole number."),
            ({"mode": "<script>"}, "mode must be one of"),
            ({"isolated": "99999999999"}, "isolated must list existing clusters"),
            ({"isolated": "0,1,2"}, "at most 2 clusters"),
            ({"view": "../../etc"}, "view must be one of"),
            ({"vx": 7}, "vx and vy must be columns from 0 to 1."),
            ({"scale": 100}, "scale must be from 0.5 to 4."),
            ({"fit": "../../etc/passwd"}, "has expired"),
        ],
    )
    def test_a_picture_nobody_can_draw_is_refused(self, client, changes, words):
        status, _, content = client.picture(**{"fit": client.go()["id"], **changes})
        assert status in (400, 410)
        assert words in json.loads(content)["error"]

    @pytest.mark.parametrize(
        "path",
        [
            "/../../../../etc/passwd",
            "/js/../../launch.py",
            "/js/%2e%2e/%2e%2e/launch.py",
            "//etc/passwd",
            "/js/main.js/../../../server.py",
            "/page/index.html",
            "/.git/config",
            "/js/",
        ],
    )
    def test_no_path_reaches_the_file_system(self, client, path):
        # As it is, where http.client and browsers would tidy it up.
        with socket.create_connection(tuple(client.address.split(":"))) as connection:
            request = f"GET {path} HTTP/1.1\r\nHost: {client.address}\r\nConnection: close\r\n\r\n"
            connection.sendall(request.encode())
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        assert answer.split()[1] in (b"404", b"400")
        assert b"root:" not in answer
        assert b"import" not in answer

    @pytest.mark.parametrize("kind", ["../model", "", "/etc/passwd", "labels.exe"])
    def test_only_known_files_are_exported(self, client, kind):
        fit = client.go()["id"]
        query = urlencode({"fit": fit, "kind": kind})
        status, words = error_of(*client.request("GET", f"/api/export?{query}"))
        assert status == 400
        assert "there is no export named" in words

    @pytest.mark.parametrize(
        "body",
        [
            {"kind": "join", "clusters": [0]},
            {"kind": "join", "clusters": [0, 0]},
            {"kind": "split", "clusters": [99]},
            {"kind": "split", "clusters": ["0"]},
            {"kind": "delete", "clusters": [0]},
        ],
    )
    def test_advice_for_what_is_not_there_is_refused(self, client, body):
        content = json.dumps({"fit": client.go()["id"], **body})
        assert client.request("POST", "/api/advice", content, **JSON)[0] == 400

    def test_methods_and_paths_that_are_not_there_are_refused(self, client):
        assert client.request("DELETE", "/api/fit")[0] == 405
        assert client.request("GET", "/api/files")[0] == 404

    def test_every_answer_forbids_what_the_page_does_not_need(self, client):
        for path in ("/", "/style.css", "/api/news?after=-1", "/nothing"):
            _, headers, _ = client.request("GET", path)
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["content-security-policy"].startswith(
                "default-src 'none'; script-src 's"
            )
            assert headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in headers

    def test_nothing_is_loaded_from_elsewhere(self):
        for name, (content, _) in page_files().items():
            words = content.replace(b"http://www.w3.org/2000/svg", b"")
            assert b"http" not in words.replace(b"https", b"http"), name
            assert b"innerHTML" not in content, name
            assert b" style=" not in content, name


@pytest.fixture(scope="module")
def guarded():
    with serve(TableSubject.of(blobs(100)), START, host="127.0.0.1", port=0) as server:
        yield server


def answer_of(url, path="/", **headers):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


class TestToken:
    def test_without_the_token_nothing_is_served(self, guarded):
        for path in ("/", "/js/main.js", "/api/news", "/?token=", "/?token=guess"):
            status, words = error_of(*answer_of(guarded.url, path))
            assert (status, words) == (
                401,
                "the token is missing or wrong. Open the full address that was printed.",
            )
        assert answer_of(guarded.url, Cookie="pskclust_1=guess")[0] == 401

    def test_the_token_opens_the_page_and_leaves_the_address(self, guarded):
        parts = urlsplit(guarded.url)
        status, headers, _ = answer_of(guarded.url, f"/?{parts.query}")
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        status, _, content = answer_of(guarded.url, Cookie=cookie.partition(";")[0])
        assert status == 200
        assert b"<!doctype html>" in content
        client = Client(guarded.url, Cookie=cookie.partition(";")[0])
        assert client.data["rows"] == 100

    def test_tokens_are_long_and_new_each_time(self, guarded):
        with serve(TableSubject.of(blobs(100)), START, host="127.0.0.1", port=0) as other:
            tokens = {urlsplit(url).query for url in (guarded.url, other.url)}
        assert len(tokens) == 2
        assert all(len(token) > 36 for token in tokens)

    def test_names_need_a_token_and_numbers_of_this_machine_are_enough_then(self):
        open_guard = Guard("127.0.0.1", 8765)
        closed_guard = Guard("0.0.0.0", 8765, "secret")
        open_guard.check({"host": "localhost:8765"})
        closed_guard.check({"host": "192.168.0.7:8765"})
        closed_guard.check({"host": f"{socket.gethostname()}:8765"})
        for guard, host in ((open_guard, "192.168.0.7:8765"), (closed_guard, "evil.example:8765")):
            with pytest.raises(RefusedError, match="is not this server"):
                guard.check({"host": host})


class TestTakingAway:
    NASTY = ('<img src=x onerror="window.hacked=1">', "=cmd|' /C calc'!A0", 'a,"b"; rm -rf $HOME\\')

    @pytest.fixture
    def csv_file(self, tmp_path):
        X = np.column_stack([blobs(), np.sin(np.arange(600))])
        path = tmp_path / "it's $(data).csv"
        names = [pyarrow.array(column) for column in X.T]
        pyarrow.csv.write_csv(pyarrow.table(names, names=list(self.NASTY)), path)
        return path

    @pytest.mark.slow
    def test_code_and_command_give_the_labels_of_a_table(
        self, csv_file, tmp_path, monkeypatch, capsys
    ):
        monkeypatch.chdir(tmp_path)
        with explored(csv_file.name, monkeypatch, "--scale", "standard") as server:
            assert server.url in capsys.readouterr().out
            client = Client(server.url)
            fit = client.go(psi=32, tau=0.05, min_cluster_size=10, random_state=7)["id"]
            recipes = client.get("/api/recipes", fit=fit)
            exported = pyarrow.csv.read_csv(io.BytesIO(client.export(fit, "labels.csv")))
            parquet = pyarrow.parquet.read_table(io.BytesIO(client.export(fit, "labels.parquet")))
            (tmp_path / "model.npz").write_bytes(client.export(fit, "model"))
        assert tuple(client.data["columns"]) == self.NASTY
        labels = exported["cluster"].to_numpy()
        assert len(set(labels.tolist())) > 2
        assert exported.equals(parquet.cast(exported.schema))
        assert_array_equal(fresh_labels(recipes["python"], tmp_path), labels)
        words = subprocess.run(
            ["sh", "-c", f'python3() {{ :; }}; set -- {recipes["command"]}; printf "%s\\0" "$@"'],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")[:-1]
        assert words[:3] == ["pskclust", "fit", csv_file.name]
        assert run(words[1:]) == 0
        written = pyarrow.csv.read_csv(tmp_path / "labels.csv")
        assert_array_equal(written["cluster"].to_numpy(), labels)
        model = pskclust.load(tmp_path / "model.npz")
        assert_array_equal(model.labels_, labels)

    @pytest.mark.slow
    def test_code_and_command_give_the_labels_of_a_sampled_table(
        self, tmp_path, monkeypatch, capsys
    ):
        np.save(tmp_path / "rows.npy", blobs(900))
        monkeypatch.chdir(tmp_path)
        with explored("rows.npy", monkeypatch, "--sample", "300") as server:
            client = Client(server.url)
            assert client.data["sampled"]
            assert (client.data["rows"], client.data["explored"]) == (900, 300)
            fit = client.go(psi=16, tau=0.08)["id"]
            recipes = client.get("/api/recipes", fit=fit)
            exported = pyarrow.csv.read_csv(io.BytesIO(client.export(fit, "labels.csv")))
            (tmp_path / "model.npz").write_bytes(client.export(fit, "model"))
        labels = exported["cluster"].to_numpy()
        assert len(labels) == 900
        assert_array_equal(fresh_labels(recipes["python"], tmp_path), labels)
        assert recipes["command"] == "pskclust predict model.npz rows.npy -o labels.csv"
        assert run(recipes["command"].split()[1:]) == 0
        written = pyarrow.csv.read_csv(tmp_path / "labels.csv")
        assert_array_equal(written["cluster"].to_numpy(), labels)

    @pytest.mark.slow
    def test_code_and_command_give_the_labels_of_an_image(self, tmp_path, monkeypatch, capsys):
        Pillow.fromarray(painting()).save(tmp_path / "painting.png")
        monkeypatch.chdir(tmp_path)
        with explored("painting.png", monkeypatch) as server:
            client = Client(server.url)
            assert client.data["size"] == [90, 60]
            fit = client.go(psi=8, tau=0.15, color_space="rgb")["id"]
            recipes = client.get("/api/recipes", fit=fit)
            exported = pyarrow.csv.read_csv(io.BytesIO(client.export(fit, "labels.csv")))
        labels = np.full((60, 90), -9)
        labels[exported["y"].to_numpy(), exported["x"].to_numpy()] = exported["cluster"].to_numpy()
        assert_array_equal(fresh_labels(recipes["python"], tmp_path), labels)
        assert run(recipes["command"].split()[1:]) == 0
        assert_array_equal(np.load(tmp_path / "segments" / "labels.npy"), labels)

    @pytest.mark.slow
    def test_weights_and_missing_values_are_part_of_the_recipe(self, tmp_path, monkeypatch, capsys):
        X = blobs(200)
        columns = {"x": X[:, 0], "y": X[:, 1], "w": 1.0 + np.arange(200) % 3}
        columns["x"][5] = np.nan
        table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
        pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
        monkeypatch.chdir(tmp_path)
        options = ("--weight", "w", "--missing", "drop")
        with explored("rows.parquet", monkeypatch, *options) as server:
            client = Client(server.url)
            fit = client.go(psi=8, tau=0.1)["id"]
            recipes = client.get("/api/recipes", fit=fit)
            exported = pyarrow.csv.read_csv(io.BytesIO(client.export(fit, "labels.csv")))
        labels = exported["cluster"].to_pylist()
        assert labels[5] is None
        known = [label for label in labels if label is not None]
        assert_array_equal(fresh_labels(recipes["python"], tmp_path), known)
        assert run(recipes["command"].split()[1:]) == 0
        assert pyarrow.csv.read_csv(tmp_path / "labels.csv")["cluster"].to_pylist() == labels

    def test_the_encoding_is_part_of_the_recipe(self, tmp_path, monkeypatch):
        lines = [f"{x},{y}" for x, y in blobs(200)]
        content = "\n".join(["größe,maß", *lines]).encode("latin-1")
        (tmp_path / "rows.csv").write_bytes(content)
        monkeypatch.chdir(tmp_path)
        with explored("rows.csv", monkeypatch, "--encoding", "latin-1") as server:
            client = Client(server.url)
            recipes = client.get("/api/recipes", fit=client.go(psi=8, tau=0.1)["id"])
        assert client.data["columns"] == ["größe", "maß"]
        assert "--encoding latin-1" in recipes["command"]
        assert len(fresh_labels(recipes["python"], tmp_path)) == 200

    def test_a_recipe_names_only_parameters_that_differ_from_the_defaults(self):
        fitter = launch.Fitter(TableSubject.of(blobs(50)), {"n_jobs": 1, "scratch_dir": "/tmp"})
        settings = launch.first_settings(50, psi=8, tau=0.1, refine="auto")
        assert "model = PSKC(psi=8, tau=0.1, random_state=0)\n" in python_code(fitter, settings)
        assert command_line(fitter, settings) == (
            "pskclust fit X.npy --psi 8 --tau 0.1 --seed 0 -o labels.csv"
        )
        off = launch.first_settings(50, psi=8, tau=0.1, refine=False)
        assert "refine=False, random_state=0)" in python_code(fitter, off)
        assert " --no-refine " in command_line(fitter, off)

    @pytest.mark.usefixtures("undrawn")
    def test_the_report_of_a_file_is_that_of_the_command(self, tmp_path, monkeypatch):
        kinds = pyarrow.array(["one", "two", None] * 200)
        table = pyarrow.table([*map(pyarrow.array, blobs().T), kinds], names=["x", "y", "kind"])
        pyarrow.csv.write_csv(table, tmp_path / "t.csv")
        monkeypatch.chdir(tmp_path)
        with explored("t.csv", monkeypatch, "--label", "kind") as server:
            client = Client(server.url)
            report = client.export(client.go(n_clusters=3)["id"], "report").decode()
        words = " ".join(unescape(re.sub("<[^>]*>", " ", report)).split())
        assert "Clusters in t.csv" in words
        assert "pskclust fit t.csv --label kind --n-clusters 3 --seed 0" in words
        assert 'Rows of each cluster by their class in the column "kind"' in words
        assert "F1 matches each class" in words
        assert "ask for more --n-clusters 4" in words
        # A number that was set was not chosen.
        assert "3, chosen" not in words

    def test_the_report_is_a_page_about_the_fit(self, client):
        fit = client.go()["id"]
        report = client.export(fit, "report")
        assert b"<html" in report[:500]
        assert b"blobs" in report

    def test_what_is_in_a_name_stays_in_its_quotes(self):
        table = TableSubject.of(blobs(50), name="x\nimport os", origin=Origin("a'b\nc.csv"))
        fitter = launch.Fitter(table)
        settings = launch.first_settings(50)
        code = python_code(fitter, settings)
        compile(code, "code", "exec")
        assert code.startswith("# Clusters of x?import os, as")
        assert "import os" not in code.splitlines()
        assert "'a'\"'\"'b\nc.csv'" in command_line(fitter, settings)

    def test_a_text_column_is_named_before_anything_is_served(self, tmp_path, capsys):
        path = tmp_path / "text.csv"
        path.write_text("x,y\n1,<script>alert(1)</script>\n2,b\n")
        assert run(["explore", str(path), "--no-browser"]) == 3
        assert 'column "y" is text' in capsys.readouterr().err


class TestStarting:
    @pytest.mark.slow
    def test_the_example_of_the_help_serves_until_it_is_interrupted(self, tmp_path):
        assert run(["demo", str(tmp_path / "demo.csv"), "--rows", "2000"]) == 0
        example = cli.commands["explore"].epilog.split("pskclust ")[1].split()
        command = [sys.executable, "-m", "pskclust", *example, "--no-browser", "--port", "0"]
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Where tests run in the background, interrupts are ignored, and that is inherited.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        with process:
            line = process.stdout.readline()
            client = Client(line.split()[2])
            assert client.data["columns"] == ["x", "y"]
            process.send_signal(signal.SIGINT)
            assert process.wait(300) == 0
            assert process.stderr.read() == ""

    def test_explore_returns_a_link_in_a_notebook(self, monkeypatch):
        opened = []
        monkeypatch.setattr(launch, "_in_notebook", lambda: True)
        monkeypatch.setattr(launch.webbrowser, "open", opened.append)
        with pskclust.explore(blobs(100), psi=8, port=0) as server:
            assert server.url in server._repr_html_()
            assert Client(server.url).first["psi"] == 8
        assert opened == []

    def test_a_script_opens_the_browser_and_waits(self, monkeypatch, capsys):
        opened, waited = [], []
        monkeypatch.setattr(launch.webbrowser, "open", opened.append)
        monkeypatch.setattr(launch.ExplorerServer, "wait", lambda self: waited.append(self))
        with explore(blobs(100), port=0) as server:
            assert opened == [server.url]
            assert waited == [server]
            assert server.url in capsys.readouterr().err

    def test_an_estimator_is_where_exploring_starts(self):
        model = PSKC(psi=12, tau=0.2, noise="nearest", min_cluster_size=5)
        with model.explore(blobs(100), port=0, block=False, open_browser=False) as server:
            client = Client(server.url)
            assert (client.first["psi"], client.first["tau"]) == (12, 0.2)
            assert client.first["min_cluster_size"] == 5
            fit = client.go()
            assert "noise='nearest'" in client.get("/api/recipes", fit=fit["id"])["python"]

    def test_a_port_in_use_is_said(self, server):
        port = urlsplit(server.url).port
        with pytest.raises(OSError, match=f"port {port} of 127.0.0.1 cannot be used"):
            serve(TableSubject.of(blobs(50)), START, port=port)

    def test_a_number_of_clusters_with_tau_cannot_be_explored(self):
        with pytest.raises(
            ValueError, match="n_clusters=3 and tau=0.1 cannot be explored together"
        ):
            PSKC(n_clusters=3, tau=0.1).explore(blobs(50))

    def test_an_estimator_with_a_number_of_clusters_is_explored(self):
        with PSKC(n_clusters=3).explore(
            blobs(100), port=0, block=False, open_browser=False
        ) as server:
            client = Client(server.url)
            assert client.first["n_clusters"] == 3
            assert client.first["tau"] is None
            assert client.go()["clusters"] == 3

    def test_a_missing_package_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "uvicorn", None)
        with pytest.raises(ImportError, match=r'pip install "pskclust\[explore\]"'):
            serve(TableSubject.of(blobs(50)), START)

    def test_closing_ends_all_threads_and_frees_the_port(self):
        server = serve(TableSubject.of(blobs(50)), START, port=0)
        port = urlsplit(server.url).port
        server.close()
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", port))
        assert not server._thread.is_alive()

    def test_an_image_can_be_explored_from_memory(self):
        with serve(ImageSubject(painting()), {"psi": 8}, port=0) as server:
            client = Client(server.url)
            fit = client.go()
            query = {"view": "image", "left": 0, "right": 90, "top": 0, "bottom": 60}
            status, _, _ = client.picture(fit["id"], **query, mode="original")
            assert status == 200
            assert "np.load('image.npy')" in client.get("/api/recipes", fit=fit["id"])["python"]
