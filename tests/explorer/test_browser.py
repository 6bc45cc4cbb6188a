"""What a person does on the explorer's page, in a real browser."""

from __future__ import annotations

import os
import shutil
import threading
from urllib.parse import urlsplit

import numpy as np
import pyarrow.csv
import pytest
from numpy.testing import assert_array_equal
from PIL import Image as Pillow

from pskclust import PSKC
from pskclust.explorer.fits import Fitter
from tests.helpers.explorer_client import blobs, explored, fresh_labels, painting

CHROMIUM = os.environ.get("PSKCLUST_CHROMIUM") or shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START = ("--psi", "16", "--tau", "0.08", "--n-partitions", "50")
PATIENCE = 180_000
NASTY = ('<img src=x onerror="window.hacked=1">', "</script><script>window.hacked=1</script>")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="browser tests need chromium (see tools/install_chromium.sh)"
    ),
]


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=ARGUMENTS
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    columns = [pyarrow.array(column) for column in blobs().T]
    pyarrow.csv.write_csv(pyarrow.table(columns, names=["x", "y"]), folder / "blobs.csv")
    third = pyarrow.array(np.sin(np.arange(600)))
    nasty = pyarrow.table([*columns, third], names=[*NASTY, "z"])
    pyarrow.csv.write_csv(nasty, folder / "nasty.csv")
    Pillow.fromarray(painting()).save(folder / "painting.png")
    return folder


@pytest.fixture(scope="module")
def start(folder):
    """Start explorers of files, and end them."""
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    servers = {}

    def started(name, *options):
        if name not in servers:
            servers[name] = explored(name, patch, *options)
        return servers[name].url

    yield started
    for server in servers.values():
        server.close()
    patch.undo()


class Person:
    """Somebody at the page."""

    def __init__(self, page, url):
        self.page, self.url = page, url
        self.trouble, self.elsewhere = [], []
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("console", self._console)
        page.on("request", self._request)
        page.goto(url)
        self.wait_for_picture()

    def _console(self, message):
        # A refusal is shown on the page; the browser notes it besides.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.trouble.append(message.text)

    def _request(self, request):
        if urlsplit(request.url).netloc != urlsplit(self.url).netloc and request.url[:5] != "blob:":
            self.elsewhere.append(request.url)

    def text(self, selector):
        return self.page.inner_text(selector)

    @property
    def n_clusters(self):
        return int(self.text("#n-clusters"))

    def wait_for_picture(self, before=None):
        """Wait until the picture is of another setting and complete."""
        self.page.wait_for_function(
            """before => {
                const shown = document.querySelector("#pane-right canvas").dataset.fit;
                return shown && shown !== before
                    && document.getElementById("work-words").textContent === "Ready";
            }""",
            arg=before,
        )

    @property
    def shown(self):
        return self.page.get_attribute("#pane-right canvas", "data-fit")

    def set(self, name, value):
        before = self.shown
        self.page.fill(f"#{name}", str(value))
        self.page.press(f"#{name}", "Enter")
        self.wait_for_picture(before)

    def press(self, name, key):
        """Press a key at a control; wait for its picture, or answers mix with the next key's."""
        before = self.shown
        self.page.press(f"#{name}", key)
        self.wait_for_picture(before)

    def pixels(self):
        """Return how many pixels of the picture have each colour."""
        return self.page.evaluate(
            """() => {
                const canvas = document.querySelector("#pane-right canvas");
                const context = canvas.getContext("2d");
                const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
                const counts = {};
                for (let i = 0; i < data.length; i += 4) {
                    const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
                    counts[key] = (counts[key] ?? 0) + 1;
                }
                return counts;
            }"""
        )

    def wait_until(self, script):
        self.page.wait_for_function(script)


@pytest.fixture
def visit(browser, start):
    """Return somebody who opens the page of a file; in the end nothing must have gone wrong."""
    people = []

    def opened(name, *options, link="", size=(1280, 720), theme="light"):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=theme,
            accept_downloads=True,
        )
        person = Person(context.new_page(), start(name, *options) + link)
        people.append((context, person))
        return person

    yield opened
    for context, person in people:
        context.close()
        assert person.trouble == []
        assert person.elsewhere == []


@pytest.fixture
def person(visit):
    return visit("blobs.csv", *START)


def colour_of(person, cluster):
    """Return the colour of a cluster, as `pixels` names it."""
    # A locator waits until the table is there.
    swatch = person.page.locator(f'[data-cluster="{cluster}"] .swatch').first
    style = swatch.evaluate("element => element.style.background")
    return style.removeprefix("rgb(").removesuffix(")").replace(" ", "")


def test_moving_tau_and_psi_changes_clusters_and_picture(person):
    assert person.n_clusters == 5
    before = person.pixels()
    person.press("tau", "ArrowLeft")
    while person.n_clusters == 5:
        person.press("tau", "PageDown")
    assert person.n_clusters < 5
    assert float(person.page.input_value("#tau-number")) < 0.08
    assert person.pixels() != before
    person.set("tau-number", 0.08)
    person.set("psi-number", 64)
    assert person.n_clusters > 5
    assert "16 clusters" in person.page.title()


def test_it_opens_with_chosen_clusters_and_candidates_are_one_click_away(visit, folder):
    (folder / "open.csv").write_bytes((folder / "blobs.csv").read_bytes())
    person = visit("open.csv")
    page = person.page
    found = PSKC(random_state=0).fit(blobs()).n_clusters_
    assert person.n_clusters == found
    assert page.get_attribute("[data-way=chosen]", "aria-checked") == "true"
    assert page.locator("#psi").is_hidden()
    assert person.text("#found-words") == "Chosen automatically."
    assert page.input_value("#n_clusters") == str(found)
    assert person.text("#reason").startswith(f"{found} clusters, stable")
    assert page.locator("[data-mode=growth]").is_disabled()
    page.click("#tab-map")
    assert page.locator("#map-none").is_visible()
    assert page.locator("#map-all").is_hidden()
    first = person.shown
    other = page.locator("#options tr:not(.current)").first
    number = int(other.get_attribute("data-number"))
    other.click()
    person.wait_for_picture(first)
    assert person.n_clusters == number != found
    assert f"n_clusters={number}" in page.evaluate("location.hash")
    assert person.text("#found-words") == f"You asked for {number}. The choice was {found}."
    page.click("#tab-export")
    assert f"PSKC(n_clusters={number}, random_state=0)" in person.text("#python-code")
    second = person.shown
    page.click("#find")
    person.wait_for_picture(second)
    assert person.shown == first
    person.press("n_clusters", "ArrowLeft")
    assert person.n_clusters == found - 1
    before = person.shown
    page.click("#undo")
    person.wait_for_picture(before)
    assert person.shown == first


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 720), (820, 1180)])
def test_a_click_shows_another_layer_of_the_fit(visit, folder, size, theme):
    (folder / "open.csv").write_bytes((folder / "blobs.csv").read_bytes())
    person = visit("open.csv", size=size, theme=theme)
    page, first = person.page, person.shown
    model = PSKC(random_state=0).fit(blobs())
    numbers = [layer.n_clusters for layer in model.layers_]
    lines = page.locator("#layers tr")
    assert [int(line.get_attribute("data-number")) for line in lines.all()] == numbers
    few, many = numbers
    assert lines.nth(1).inner_text().split()[:2] == [str(many), "(fit)"]
    table = page.locator("#layers-table")
    assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")
    assert lines.first.bounding_box()["height"] < 40
    colours = {colour_of(person, cluster) for cluster in range(many)}
    lines.first.click()
    person.wait_for_picture(first)
    assert person.n_clusters == few
    person.wait_until(f"() => document.querySelectorAll('#clusters tr').length === {few}")
    assert {colour_of(person, cluster) for cluster in range(few)} < colours
    assert page.input_value("#n_clusters") == str(few)
    assert person.text("#found-words") == f"A layer of {few} clusters. The choice was {many}."
    assert page.locator("#find").is_visible()
    assert page.locator(".options tr.current").count() == 1
    assert lines.first.locator("button").get_attribute("aria-pressed") == "true"
    assert f"layer={few}" in page.evaluate("location.hash")
    page.click("#tab-export")
    person.wait_until("() => document.getElementById('command-part').hidden")
    assert "A layer has no command" in person.text("#panel-export")
    assert f"relabel(n_clusters={few})" in person.text("#python-code")
    with page.expect_download() as download:
        page.click("[data-export='labels.csv']")
    labels = pyarrow.csv.read_csv(download.value.path())["cluster"].to_numpy()
    assert_array_equal(labels, model.relabel(n_clusters=few))
    assert_array_equal(fresh_labels(person.text("#python-code"), folder), labels)
    page.click("#tab-history")
    assert f"Layer of {few} clusters; Automatic" in person.text("#history li.current")
    second = person.shown
    page.click("#undo")
    person.wait_for_picture(second)
    assert person.shown == first
    lines.first.locator("button").press("Enter")
    person.wait_for_picture(first)
    # Any other setting is one of a fit.
    person.set("random_state", 1)
    assert "layer=" not in page.evaluate("location.hash")


def test_chosen_and_grown_are_a_click_apart_and_a_link_keeps_them(visit, folder):
    (folder / "open.csv").write_bytes((folder / "blobs.csv").read_bytes())
    person = visit("open.csv")
    page, first = person.page, person.shown
    page.click('[data-cluster="0"] .name')
    person.wait_until("() => document.querySelector('tr.chosen')")
    page.click("[data-way=grown]")
    person.wait_for_picture(first)
    assert person.text("#selection-words").startswith("Click a cluster")
    assert page.input_value("#psi-number") == "64"
    assert page.input_value("#tau-number") == "0.01"
    assert page.locator("#n_clusters").is_hidden()
    page.click("[data-mode=growth]")
    person.wait_until("() => !document.getElementById('growth').hidden")
    grown = person.shown
    page.click("[data-way=chosen]")
    person.wait_for_picture(grown)
    assert person.shown == first
    assert page.get_attribute("[data-mode=clusters]", "aria-checked") == "true"
    other = visit("open.csv", link="#n_clusters=3&random_state=0")
    assert other.n_clusters == 3
    assert other.page.input_value("#n_clusters") == "3"


def test_a_cluster_is_isolated_by_the_table_and_by_the_picture(person):
    page = person.page
    own, other = colour_of(person, 0), colour_of(person, 1)
    both = person.pixels()
    assert min(both[own], both[other]) > 50
    page.click('[data-cluster="0"] .name')
    person.wait_until("() => document.querySelector('tr.chosen')")
    page.wait_for_timeout(400)
    alone = person.pixels()
    assert alone[own] >= both[own]
    assert alone.get(other, 0) == 0
    page.keyboard.press("Escape")
    person.wait_until("() => !document.querySelector('tr.chosen')")
    canvas = page.locator("#pane-right canvas").bounding_box()
    # The blob at (8, -8), alone in the lower right of the picture.
    place = canvas["x"] + 0.82 * canvas["width"], canvas["y"] + 0.82 * canvas["height"]
    page.mouse.move(*place)
    person.wait_until("() => !document.getElementById('hover').hidden")
    words = person.text("#hover")
    assert "Cluster" in words
    assert "similarity" in words
    assert "x" in words.split()
    page.mouse.click(*place)
    person.wait_until("() => document.querySelector('tr.chosen')")
    chosen = page.get_attribute("tr.chosen", "data-cluster")
    assert f"Cluster {chosen}" in words
    assert page.get_attribute(f'[data-cluster="{chosen}"] .name', "aria-pressed") == "true"


def test_growth_plays_from_the_seeds_to_the_end(person):
    page = person.page
    page.click("[data-mode=growth]")
    person.wait_until("() => !document.getElementById('legend').hidden")
    page.click("#play")
    person.wait_until("() => /^step [1-9]/.test(document.getElementById('step-words').textContent)")
    early = sum(person.pixels().get(colour_of(person, n), 0) for n in range(5))
    person.wait_until("() => document.getElementById('play').textContent === 'Play'")
    page.wait_for_timeout(400)
    steps = person.text("#step-words").split()
    assert steps[1] == steps[3]
    late = sum(person.pixels().get(colour_of(person, n), 0) for n in range(5))
    assert 0 < early < late
    page.fill("#step", "3")
    assert person.text("#step-words").startswith("step 3 of ")


def test_every_mode_has_its_picture_and_legend(person):
    pictures = []
    for key, words in (
        ("2", "similarity to own cluster"),
        ("3", "similarity of each place"),
        ("4", "step (early is bright)"),
    ):
        person.page.keyboard.press(key)
        person.wait_until(
            f"() => document.getElementById('legend-words').textContent === {words!r}"
        )
        pictures.append(person.pixels())
    assert pictures[0] != pictures[1] != pictures[2]


def test_a_click_on_the_map_goes_there(person):
    page = person.page
    page.click("#tab-map")
    person.wait_until("() => document.querySelector('#map button:not(.unknown):not(.here)')")
    spot = page.locator("#map button:not(.unknown):not(.here)").first
    psi, tau = spot.get_attribute("data-place").split(",")
    before = person.shown
    spot.click()
    person.wait_for_picture(before)
    assert page.input_value("#psi-number") == psi
    assert float(page.input_value("#tau-number")) == float(tau)


def test_advice_is_followed(person):
    page = person.page
    person.page.keyboard.press("Escape")
    lines = page.locator("#clusters tr").all()
    x_low = [line for line in lines if "y high" in line.inner_text()]
    assert len(x_low) == 2
    for line in x_low:
        line.locator(".pick").check()
    page.click("#ask-join")
    page.wait_for_selector("#advice-answer .do-it")
    assert "lower tau" in person.text("#advice-answer")
    before = person.shown
    page.click("#advice-answer .do-it")
    person.wait_for_picture(before)
    assert person.n_clusters == 4
    page.locator("#clusters tr", has_text="240").locator(".name").click()
    page.click("#ask-split")
    page.wait_for_selector("#advice-answer .do-it")
    assert "raise psi" in person.text("#advice-answer")
    before = person.shown
    page.click("#advice-answer .do-it")
    person.wait_for_picture(before)
    assert person.n_clusters >= 5


def test_exported_code_gives_the_exported_labels(person, folder):
    page = person.page
    person.set("tau-number", 0.11)
    page.click("#tab-export")
    with page.expect_download() as download:
        page.click("[data-export='labels.csv']")
    labels = pyarrow.csv.read_csv(download.value.path())["cluster"].to_numpy()
    assert download.value.suggested_filename == "labels.csv"
    assert len(labels) == 600
    code = person.text("#python-code")
    assert "tau=0.11" in code
    assert_array_equal(fresh_labels(code, folder), labels)
    assert person.text("#command-line").startswith("pskclust fit blobs.csv --psi 16 --tau 0.11")
    for kind, name in (("model", "model.npz"), ("picture", "clusters.png")):
        with page.expect_download() as download:
            page.click(f"[data-export='{kind}']")
        assert download.value.suggested_filename == name


def test_a_link_restores_what_was_seen(person, visit):
    page = person.page
    person.set("tau-number", 0.05)
    person.set("psi-number", 20)
    page.click("[data-mode=similarity]")
    page.click("#zoom-in")
    page.click('[data-cluster="1"] .name')
    person.wait_until("() => location.hash.includes('chosen=1')")
    person.wait_until("() => location.hash.includes('box=')")
    link, found = page.evaluate("location.hash"), person.n_clusters
    page.reload()
    person.wait_for_picture()
    other = visit("blobs.csv", *START, link=link)
    for somebody in (person, other):
        assert somebody.n_clusters == found
        assert somebody.page.input_value("#psi-number") == "20"
        assert somebody.page.input_value("#tau-number") == "0.05"
        assert somebody.page.get_attribute("[data-mode=similarity]", "aria-checked") == "true"
        somebody.page.wait_for_selector("tr.chosen[data-cluster='1']")
        assert somebody.page.evaluate("location.hash") == link


def test_undo_redo_and_two_settings_side_by_side(person):
    page = person.page
    first = person.shown
    person.set("tau-number", 0.05)
    second = person.shown
    page.keyboard.press("Escape")
    page.click("#undo")
    person.wait_for_picture(second)
    assert person.shown == first
    assert page.input_value("#tau-number") == "0.08"
    page.click("#redo")
    person.wait_for_picture(first)
    page.click("#tab-history")
    page.locator("#history .compare").last.click()
    person.wait_until(
        f"() => document.querySelector('#pane-left canvas').dataset.fit === {first!r}"
    )
    assert "5 clusters" in person.text("#pane-left figcaption")
    assert "4 clusters" in person.text("#pane-right figcaption")
    person.wait_until(
        "() => /Agreement of the two: 0/.test(document.getElementById('picture-words').textContent)"
    )


def test_an_image_is_segmented_beside_the_original(visit):
    person = visit("painting.png", "--psi", "8", "--tau", "0.1")
    person.wait_until("() => document.querySelector('#pane-left canvas').dataset.fit")
    assert person.text("#pane-left figcaption") == "Original"
    assert "90 \u00d7 60 pixels" in person.text("#data-words")
    found = person.n_clusters
    assert found >= 2
    colours = person.pixels()
    person.set("psi-number", 32)
    assert person.n_clusters != found
    assert person.pixels() != colours
    person.page.select_option("#color_space", "rgb")
    person.wait_until("() => document.getElementById('python-code').textContent.includes('rgb')")


def test_what_is_wrong_is_said_and_the_page_goes_on(person):
    page = person.page
    page.fill("#psi-number", "100000")
    page.press("#psi-number", "Enter")
    person.wait_until("() => !document.getElementById('error').hidden")
    assert person.text("#error-words").startswith("psi 100000 must be a whole number from 2 to")
    page.fill("#psi-number", "5000")
    page.press("#psi-number", "Enter")
    person.wait_until(
        "() => document.getElementById('error-words').textContent.includes('600 rows')"
    )
    page.click("#error-close")
    assert page.input_value("#psi-number") == "16"
    person.set("psi-number", 24)
    assert page.locator("#error").is_hidden()
    page.click("#tab-clusters")
    page.select_option("#scaling", "standard")
    person.wait_until("() => document.getElementById('work-words').textContent === 'Ready'")
    page.select_option("#metric", "haversine")
    person.wait_until("() => !document.getElementById('error').hidden")
    assert person.text("#error-words") == (
        "Metric haversine needs degrees, which Scaling standard changes. Use Scaling none."
    )
    assert page.input_value("#metric") == "euclidean"
    page.fill("#random_state", "-1")
    page.press("#random_state", "Enter")
    person.wait_until("() => !document.getElementById('error').hidden")
    assert person.text("#error-words").startswith("Seed -1 must be a whole number from 0 to")
    page.fill("#random_state", "0")  # as before, so no fit follows
    assert page.locator("#error").is_hidden()


def test_an_invalid_number_leaves_the_settings_of_a_running_fit(person, monkeypatch):
    page, gate, fit = person.page, threading.Event(), Fitter.fit

    def held(*arguments):
        gate.wait(60)
        return fit(*arguments)

    monkeypatch.setattr(Fitter, "fit", held)
    before = person.shown
    page.fill("#min_cluster_size", "20")
    page.press("#min_cluster_size", "Enter")
    person.wait_until("() => document.getElementById('work-words').textContent !== 'Ready'")
    page.fill("#psi-number", "100000")
    page.press("#psi-number", "Enter")
    person.wait_until("() => !document.getElementById('error').hidden")
    assert page.input_value("#psi-number") == "16"
    assert page.input_value("#min_cluster_size") == "20"
    assert "min_cluster_size=20" in page.url
    gate.set()
    person.wait_for_picture(before)
    assert page.input_value("#min_cluster_size") == "20"


def test_the_axes_never_show_the_same_column(visit):
    page = visit("nasty.csv", *START).page
    page.select_option("#view-x", "0")
    assert page.input_value("#view-y") == "1"
    page.select_option("#view-x", "1")
    assert page.input_value("#view-y") == "0"
    page.select_option("#view-y", "1")
    assert page.input_value("#view-x") == "0"
    page.select_option("#view-x", "pca")
    page.select_option("#view-x", "1")
    assert page.input_value("#view-y") == "0"


def test_a_number_may_have_a_decimal_comma_and_text_is_refused(person):
    page = person.page
    person.set("tau-number", "0,2")
    assert page.input_value("#tau-number") == "0.2"
    for field, text, words in (
        ("tau-number", "much", "tau must be a number."),
        ("growth_rate", "fast", "Growth rate must be a number."),
        ("psi-number", "1,000", "psi must be a whole number, without separators."),
    ):
        page.fill(f"#{field}", text)
        page.press(f"#{field}", "Enter")
        assert person.text("#error-words") == words
    page.click("[data-way=chosen]")
    person.wait_until("() => document.getElementById('n_clusters-number').value !== ''")
    page.fill("#n_clusters-number", "few")
    page.press("#n_clusters-number", "Enter")
    assert person.text("#error-words").startswith("Number of clusters must be a whole number")


def test_hints_on_columns_come_first_and_a_button_scales(visit, folder):
    rows = np.column_stack([np.random.RandomState(0).permutation(10**6)[:600], blobs()])
    rows[:, 2] *= 1000
    table = pyarrow.table([pyarrow.array(column) for column in rows.T], names=["id", "x", "y"])
    pyarrow.csv.write_csv(table, folder / "units.csv")
    person = visit("units.csv", *START)
    person.page.wait_for_selector("#column-hints .do-it")
    first, second = person.page.locator("#column-hints li").all_inner_texts()
    assert first.startswith('"id" looks like an id. To leave it out, start the explorer with:')
    command = person.page.locator("#column-hints code").inner_text()
    assert command.startswith("pskclust explore units.csv ")
    assert "--id id" in command
    # No word of a command is broken after a dash.
    for word in person.page.locator("#column-hints .word").all():
        assert word.evaluate("word => word.getClientRects().length") == 1
    person.page.click("#column-hints .copy")
    person.page.wait_for_selector("#column-hints .copy:not(:text-is('Copy'))")
    assert '"y" varies' in second
    before = person.shown
    person.page.click("text=Set Scaling to standard")
    person.wait_for_picture(before)
    assert person.page.input_value("#scaling") == "standard"
    person.wait_until("() => document.querySelectorAll('#column-hints li').length === 1")


def test_colours_of_an_image_shown_as_points_are_those_of_the_points(visit):
    person = visit("painting.png", "--psi", "8", "--tau", "0.1")
    means = colour_of(person, 0)
    person.page.select_option("#view-x", "pca")
    person.wait_until(
        f"() => document.querySelector('[data-cluster=\"0\"] .swatch').style.background !== "
        f"'rgb({means.replace(',', ', ')})'"
    )
    red, green, blue = colour_of(person, 0).split(",")
    person.wait_until(
        f"""() => {{
            const canvas = document.querySelector("#pane-right canvas");
            const size = [canvas.width, canvas.height];
            const {{ data }} = canvas.getContext("2d").getImageData(0, 0, ...size);
            const colour = [{red}, {green}, {blue}];
            const is = (i) => colour.every((channel, place) => data[i + place] === channel);
            return data.some((value, i) => i % 4 === 0 && is(i));
        }}"""
    )


def test_noise_has_a_line_of_its_own(visit):
    person = visit("blobs.csv", *START)
    person.set("tau-number", "0.9")
    person.wait_until("() => document.querySelector('#clusters tr.noise') !== null")
    assert person.text("#clusters tr.noise").split()[0] == "Noise"


def test_names_of_columns_are_text_and_never_markup(visit):
    person = visit("nasty.csv", *START)
    page = person.page
    options = page.locator("#view-x option").all_inner_texts()
    assert options == ["Principal axes", *NASTY, "z"]
    page.select_option("#view-x", "0")
    page.select_option("#view-y", "1")
    page.wait_for_timeout(300)
    canvas = page.locator("#pane-right canvas").bounding_box()
    page.mouse.move(canvas["x"] + 0.82 * canvas["width"], canvas["y"] + 0.82 * canvas["height"])
    person.wait_until("() => !document.getElementById('hover').hidden")
    assert NASTY[0] in person.text("#hover")
    assert NASTY[0] in person.text("#clusters")
    page.click("#tab-export")
    assert repr(NASTY[0]) in person.text("#python-code")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0


def test_zoom_and_pan_by_wheel_mouse_and_keys(person):
    page = person.page

    def box():
        found = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('box')")
        return [float(value) for value in found.split(",")] if found else None

    canvas = page.locator("#pane-right canvas").bounding_box()
    middle = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2
    page.mouse.move(*middle)
    page.mouse.wheel(0, -300)
    person.wait_until("() => location.hash.includes('box=')")
    zoomed = box()
    page.mouse.down()
    page.mouse.move(middle[0] - 100, middle[1], steps=4)
    page.mouse.up()
    dragged = box()
    assert dragged[0] > zoomed[0]
    assert dragged[1] - dragged[0] == pytest.approx(zoomed[1] - zoomed[0], rel=1e-4)
    page.focus("#pane-right canvas")
    page.keyboard.press("ArrowUp")
    assert box()[3] > dragged[3]
    page.keyboard.press("0")
    person.wait_until("() => !location.hash.includes('box=')")


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768), (820, 1180)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_fits_on_the_screen_and_can_be_read(visit, size, theme):
    person = visit("blobs.csv", *START, size=size, theme=theme)
    page = person.page
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture = page.locator("#pane-right canvas").bounding_box()
    assert picture["width"] >= 400
    assert picture["height"] >= 380
    if size[0] > 960:
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    # Text against what is behind it, as the web content accessibility guidelines ask.
    for text in ("--text", "--quiet"):
        for behind in ("--card", "--page", "--chosen"):
            assert page.evaluate(CONTRAST, [text, behind]) >= 4.5
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") != theme
    page.click("[data-mode=growth]")
    person.wait_until("() => !document.getElementById('legend').hidden")
    line = page.locator(".underline")
    assert line.evaluate("line => line.scrollWidth <= line.clientWidth")
    legend, around = page.locator("#legend-words").bounding_box(), line.bounding_box()
    assert legend["x"] + legend["width"] <= around["x"] + around["width"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_everything_is_one_below_another(visit, theme):
    page = visit("blobs.csv", *START, size=(400, 800), theme=theme).page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("#tab-export")
    boxes = [page.locator(name).bounding_box() for name in (".stage", ".controls", ".answers")]
    assert len({box["width"] for box in boxes}) == 1
    assert boxes[0]["y"] < boxes[1]["y"] < boxes[2]["y"]
    for name in ("#seconds", "#tab-export", "#scaling", "#command-line"):
        box = page.locator(name).bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= 400


@pytest.mark.parametrize(("n_classes", "more"), [(9, ""), (40, "more")])
def test_as_many_classes_are_named_as_fit_on_the_line(visit, folder, n_classes, more):
    kinds = pyarrow.array([f"k{row % n_classes}" for row in range(600)])
    columns = [*map(pyarrow.array, blobs().T), kinds]
    name = f"kinds{n_classes}.csv"
    pyarrow.csv.write_csv(pyarrow.table(columns, names=["x", "y", "kind"]), folder / name)
    page = visit(name, *START, "--label", "kind").page
    page.click("[data-mode=classes]")
    line = page.locator("#class-names")
    n_named = line.locator(".swatch").count()
    assert line.evaluate("line => line.scrollWidth <= line.clientWidth")
    assert 7 <= n_named <= n_classes
    words = line.inner_text()
    assert words.endswith(f"and {n_classes - n_named} more" if n_named < n_classes else "k8")
    assert more in words
    # Bars of the profile have numbers.
    page.click("#tab-profile")
    shown = page.locator("#profile .quiet").all_text_contents()
    assert sum(int(size) for size in shown if size.isdigit()) == 600


def test_settings_below_the_end_of_the_panel_are_pointed_to(visit, folder):
    (folder / "open.csv").write_bytes((folder / "blobs.csv").read_bytes())
    page = visit("open.csv", size=(1280, 800)).page
    more = page.locator("#more-below")
    assert more.is_visible()
    assert page.locator("#scaling").bounding_box()["y"] > 800
    # Not `click`, which may scroll to the button first, and so hides it.
    more.evaluate("button => button.click()")
    page.wait_for_selector("#more-below", state="hidden")
    scaling = page.locator("#scaling").bounding_box()
    assert scaling["y"] + scaling["height"] < 800


def test_a_circle_looks_like_one_and_axes_of_other_ranges_fill_the_pane(visit, folder):
    angle = np.linspace(0, 2 * np.pi, 300)
    columns = [np.cos(angle), np.sin(angle), 10 * np.sin(angle)]
    table = pyarrow.table([pyarrow.array(column) for column in columns], names=["x", "y", "tall"])
    pyarrow.csv.write_csv(table, folder / "circle.csv")
    person = visit("circle.csv", *START)
    page = person.page
    for column, equal in (("1", True), ("2", False)):
        page.select_option("#view-x", "0")
        page.select_option("#view-y", column)
        page.wait_for_timeout(600)
        wide, tall = page.evaluate(EXTENT)
        assert (abs(wide - tall) <= 4) == equal


EXTENT = """() => {
    const canvas = document.querySelector("#pane-right canvas");
    const [left, top] = [60, 12];
    const [width, height] = [canvas.width - left - 16, canvas.height - top - 40];
    const { data } = canvas.getContext("2d").getImageData(left, top, width, height);
    const at = [[], []];
    for (let i = 0; i < data.length; i += 4) {
        if (Math.min(data[i], data[i + 1], data[i + 2]) > 200) continue;
        at[0].push((i / 4) % width);
        at[1].push(Math.floor(i / 4 / width));
    }
    const most = (places) => places.reduce((a, b) => Math.max(a, b));
    const least = (places) => places.reduce((a, b) => Math.min(a, b));
    return at.map((places) => most(places) - least(places));
}"""


CONTRAST = """([one, other]) => {
    const style = getComputedStyle(document.documentElement);
    const luminance = (name) => {
        const hex = style.getPropertyValue(name).trim();
        const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
        const linear = parts.map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}"""


def test_another_page_can_link_to_it_but_not_use_it(browser, start):
    url = start("blobs.csv", *START)
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.set_content(f'<a href="{url}">Explore the clusters</a>')
        refused = page.evaluate(
            """url => fetch(url + "api/session", { method: "POST", body: "{}" })
                .then(() => "answered", () => "refused")""",
            url,
        )
        assert refused == "refused"
        page.click("a")
        page.wait_for_selector("#pane-right canvas[data-fit]")


def test_everything_can_be_reached_by_keyboard(person):
    page = person.page
    page.focus("#undo")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    for name in ("psi", "tau-number", "metric", "view-x", "zoom-all", "tab-clusters", "pick"):
        assert name in reached
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, canvas")].filter((part) =>
            !part.labels?.length && !part.getAttribute("aria-label") && !part.textContent.trim()
            && !part.closest("[hidden]")).map((part) => part.outerHTML)"""
    )
    assert unnamed == []
    page.focus("#tab-clusters")
    page.keyboard.press("ArrowRight")
    assert page.locator("#panel-map").is_visible()
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()


def test_arrow_keys_double_psi_and_move_tau_by_a_tenth_of_a_power_of_ten(person):
    page = person.page
    for name, key, expected in (
        ("psi", "ArrowRight", "32"),
        ("psi", "PageUp", "64"),
        ("tau", "ArrowLeft", "0.0635"),
    ):
        page.focus(f"#{name}")
        page.keyboard.press(key)
        assert page.input_value(f"#{name}-number") == expected
