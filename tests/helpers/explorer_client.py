"""What the page does, without the page: a client of the explorer's server."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from urllib.parse import urlencode, urlsplit

import numpy as np
from sklearn.datasets import make_blobs

from pskclust.cli.app import run
from pskclust.explorer.launch import ExplorerServer

FRAME = {"w": 300, "h": 200, "left": -15, "right": 15, "bottom": -15, "top": 15}


def blobs(n_rows=600):
    """Return five blobs, two of them close together."""
    centers = [(-8, -8), (8, -8), (0, 0), (-8, 8), (-5, 8)]
    X, _ = make_blobs(n_rows, centers=centers, cluster_std=0.8, random_state=3)
    return X


def painting(height=60, width=90):
    """Return an image of three colours with some noise in it."""
    rng = np.random.RandomState(0)
    image = np.empty((height, width, 3), dtype=np.int64)
    image[:] = 200, 190, 150
    image[:, : width // 3] = 40, 60, 140
    image[height // 2 :, width // 2 :] = 180, 50, 40
    noise = rng.randint(-12, 13, size=image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def explored(path, monkeypatch, *options):
    """Return the server that ``pskclust explore`` starts for a file."""
    started = []
    with monkeypatch.context() as patch:
        patch.setattr(ExplorerServer, "wait", lambda self: started.append(self))
        patch.setattr(ExplorerServer, "close", lambda self: None)
        assert run(["explore", path, "--no-browser", "--port", "0", *options]) == 0
    return started[0]


def fresh_labels(code, folder):
    """Run exported code in a process of its own and return its labels."""
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, timeout=300)
    return np.load(folder / "labels.npy")


class Client:
    """One page at an explorer."""

    def __init__(self, url, **headers):
        parts = urlsplit(url)
        self.address = parts.netloc
        self.headers = headers
        opened = self.post("/api/session", {})
        self.first, self.data = opened["first"], opened["data"]
        self.headers = {**headers, "X-Session": opened["session"]}
        self.version = 0

    def request(self, method, path, body=None, **headers):
        """Return status, headers and content."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.request(method, path, body, {**self.headers, **headers})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def post(self, path, content):
        headers = {"Content-Type": "application/json"}
        return self._json(*self.request("POST", path, json.dumps(content), **headers))

    def get(self, path, **parameters):
        return self._json(*self.request("GET", f"{path}?{urlencode(parameters)}"))

    def _json(self, status, headers, content):
        assert status == 200, content
        return json.loads(content)

    def wait(self, asked=0):
        """Return the state when nothing is in progress."""
        while True:
            state = self.get("/api/news", after=self.version)
            self.version = state["version"]
            if state["doing"] is None and state["asked"] >= asked:
                return state

    def go(self, **changes):
        """Go to a setting and return what was found."""
        asked = self.post("/api/fit", {**self.first, **changes})["asked"]
        state = self.wait(asked)
        assert state["error"] is None, state["error"]
        return state["fit"]

    def picture(self, fit, **parameters):
        """Return the status, headers and content of a picture."""
        query = urlencode({"fit": fit, **FRAME, **parameters})
        return self.request("GET", f"/api/picture?{query}")

    def export(self, fit, kind):
        status, _, content = self.request(
            "GET", f"/api/export?{urlencode({'fit': fit, 'kind': kind})}"
        )
        assert status == 200, content
        return content
