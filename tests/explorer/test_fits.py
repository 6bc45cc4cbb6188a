"""The explorer's fits are PSKC's, cells are shared, the newest work wins."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust import _advice as rules
from pskclust._advice import Outcome
from pskclust._utils.progress import Progress, ignore
from pskclust.explorer.advice import hints, join, split, to_json
from pskclust.explorer.answers import summary
from pskclust.explorer.colours import N_BASE_COLOURS, N_COLOURS, follow, palette
from pskclust.explorer.column_hints import column_hints
from pskclust.explorer.control_names import CONTROLS, as_controls
from pskclust.explorer.fits import Fitter, Kept
from pskclust.explorer.psi_tau_map import PsiTauMap, Spot
from pskclust.explorer.queue import Cancelled, WorkQueue
from pskclust.explorer.sessions import Sessions, TooManySessionsError
from pskclust.explorer.settings import Settings, first_settings
from pskclust.explorer.side_effects import besides
from pskclust.explorer.subject import ImageSubject, Origin, TableSubject, TypedCommand
from pskclust.image import segment
from tests.helpers.explorer_client import blobs, painting

# Finds the five blobs; the two that are close become one at tau 0.05.
COMMAND = TypedCommand("pskclust explore t.csv {}".format, str, str)
FIRST = Settings(psi=16, tau=0.08, n_partitions=50)


@pytest.fixture(scope="module")
def table():
    return TableSubject.of(blobs())


@pytest.fixture
def fitter(table):
    return Fitter(table)


@pytest.fixture
def queue():
    queue = WorkQueue()
    yield queue
    queue.close()


class TestSettings:
    def test_equal_settings_have_equal_ids(self):
        assert FIRST.id == replace(FIRST).id != replace(FIRST, tau=0.031).id

    def test_json_numbers_become_those_of_pskc(self):
        found = Settings.of({"psi": 16.0, "tau": 0.5, "random_state": 3.0, "growth_rate": 0.5})
        assert type(found.psi) is int
        assert type(found.random_state) is int

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ([], "settings must be a JSON object."),
            ({"tau": 0.1}, "psi is missing: clusters that grow need psi and tau."),
            ({"n_clusters": 0}, "n_clusters=0 must be a whole number from 1 to 10,000."),
            (
                {"psi": 4, "tau": 0.1, "n_clusters": 3},
                "n_clusters=3 and tau=0.1 cannot be explored together",
            ),
            ({"noise": "drop"}, "noise='drop' is not allowed."),
            ({"psi": 4, "tau": 0.1, "path": "/etc"}, "there is no setting 'path'."),
            ({"psi": 1, "tau": 0.1}, "psi=1 must be a whole number from 2 to 65,536."),
            ({"psi": True, "tau": 0.1}, "psi=True must be a whole number"),
            ({"psi": "auto", "tau": 0.1}, "psi='auto' must be a whole number"),
            ({"psi": 4, "tau": "x" * 99}, "must be a number from 1e-07 to 0.99."),
            ({"psi": 4, "tau": 0}, "tau=0.0 must be a number"),
            ({"psi": 4, "tau": 10**400}, "must be a number from 1e-07 to 0.99."),
            ({"psi": 4, "tau": 0.1, "n_partitions": 10**6}, "n_partitions=1000000 must be"),
            ({"psi": 4, "tau": 0.1, "metric": "l1"}, "metric='l1' is not allowed."),
            ({"psi": 4, "tau": 0.1, "scaling": "z"}, "scaling='z' must be one of none, standard"),
            ({"psi": 4, "tau": 0.1, "refine": 1}, "refine=1 is not allowed."),
            (
                {"metric": "haversine", "scaling": "standard"},
                "metric='haversine' needs degrees, which scaling='standard' changes.",
            ),
        ],
    )
    def test_bad_settings_are_refused_in_words(self, content, words):
        with pytest.raises(ValueError, match=re.escape(words)) as error:
            Settings.of(content)
        assert len(str(error.value)) < 200

    def test_exploring_starts_with_what_pskc_chooses(self):
        assert first_settings(600) == Settings()
        assert PSKC(**Settings().parameters).get_params() == PSKC(random_state=0).get_params()
        assert first_settings(600, psi="auto", tau="auto", refine="auto") == Settings()
        assert first_settings(600, n_clusters=4) == Settings(n_clusters=4)
        assert first_settings(600, psi=10) == Settings(psi=10)

    def test_with_tau_exploring_starts_with_growth(self):
        model = PSKC(tau=0.02, random_state=0).fit(blobs())
        first = first_settings(600, tau=0.02)
        assert (first.psi, first.tau) == (model.psi_, model.tau_)
        assert first_settings(600, psi=10, tau=0.02).psi == 10

    def test_an_image_starts_as_in_the_paper_unless_a_number_is_given(self):
        assert first_settings(600, is_image=True) == Settings(psi=16, tau=0.1)
        assert first_settings(600, is_image=True, psi=8) == Settings(psi=8, tau=0.1)
        assert first_settings(600, is_image=True, n_clusters=3) == Settings(n_clusters=3)

    def test_what_is_of_growth_waits_while_clusters_are_chosen(self):
        settings = Settings(growth_rate=0.3)
        assert settings.parameters["growth_rate"] == 0.1
        assert replace(settings, psi=8, tau=0.1).parameters["growth_rate"] == 0.3

    def test_refinement_is_named_only_where_it_is_not_as_usual(self):
        assert Settings(refine=True).parameters["refine"] is True
        assert Settings(refine=False).parameters["refine"] == "auto"
        assert replace(FIRST, refine=True).parameters["refine"] == "auto"
        assert replace(FIRST, refine=False).parameters["refine"] is False


class TestFits:
    @pytest.mark.parametrize(
        "changes",
        [
            {},
            {"tau": 0.06},
            {"tau": 0.01, "min_cluster_size": 40},
            {"refine": False, "growth_rate": 0.2},
            {"psi": 32, "metric": "cosine"},
        ],
    )
    def test_a_fit_is_that_of_pskc(self, fitter, table, changes):
        fitter.fit(FIRST, ignore)
        settings = replace(FIRST, **changes)
        fit = fitter.fit(settings, ignore)
        alone = PSKC(**settings.parameters).fit(table.values)
        assert_array_equal(fit.labels, alone.labels_)
        assert fit.model.objective_ == alone.objective_
        assert fit.sizes.sum() + fit.n_noise == 600

    @pytest.mark.parametrize(
        "settings",
        [
            Settings(),
            Settings(n_clusters=3, random_state=2),
            Settings(psi=32, noise="nearest", min_cluster_size=20),
        ],
    )
    def test_chosen_clusters_are_those_of_pskc(self, fitter, table, settings):
        fit = fitter.fit(settings, ignore)
        alone = PSKC(**settings.parameters).fit(table.values)
        assert_array_equal(fit.labels, alone.labels_)
        assert fit.model.auto_ == alone.auto_
        assert_array_equal(fit.model.confidences_, alone.confidences_)
        assert fitter.fit(settings, ignore) is fit
        assert fit.seconds.choice > 0

    def test_growth_of_chosen_clusters_is_refused_in_words(self, fitter):
        with pytest.raises(ValueError, match="these clusters were chosen and did not grow"):
            _ = fitter.fit(Settings(), ignore).growth_steps

    def test_what_was_found_is_told_with_whatever_number_is_asked_for(self, fitter, table):
        asked = Settings(n_clusters=3)
        assert fitter.found(asked) is None
        found = fitter.fit(Settings(), ignore)
        assert fitter.found(asked) is found
        assert fitter.found(replace(asked, random_state=1)) is None
        assert fitter.found(FIRST) is None
        told = summary(fitter.fit(asked, ignore), np.arange(3), table, found)
        assert told["clusters"] == 3
        assert told["found"]["clusters"] == found.n_clusters > 3
        chosen = [option for option in told["found"]["options"] if option["is_chosen"]]
        assert [option["n_clusters"] for option in chosen] == [found.n_clusters]
        assert told["found"]["reason"] == found.model.auto_.reason

    def test_a_move_of_tau_finds_no_cells(self, fitter):
        stages = []
        fitter.fit(FIRST, lambda progress: stages.append(progress.stage))
        assert "encode" in stages
        stages.clear()
        fit = fitter.fit(replace(FIRST, tau=0.05), lambda progress: stages.append(progress.stage))
        assert stages
        assert "encode" not in stages
        assert fit.seconds.cells == 0

    def test_a_fit_that_was_ended_leaves_the_cells_usable(self, fitter, table):
        fitter.fit(FIRST, ignore)

        def end(progress: Progress) -> None:
            if progress.stage == "grow" and progress.n_clusters == 2:
                raise Cancelled

        settings = replace(FIRST, tau=0.05)
        with pytest.raises(Cancelled):
            fitter.fit(settings, end)
        alone = PSKC(**settings.parameters).fit(table.values)
        assert_array_equal(fitter.fit(settings, ignore).labels, alone.labels_)

    def test_fits_of_an_image_are_numbered_as_segment_does(self):
        image = painting()
        fit = Fitter(ImageSubject(image)).fit(replace(FIRST, psi=8, tau=0.1), ignore)
        found = segment(image, psi=8, tau=0.1, n_partitions=50, random_state=0)
        subject = ImageSubject(image)
        assert_array_equal(fit.labels[subject.numbers], found.labels)
        assert_array_equal(fit.sizes, found.sizes)

    def test_weights_are_those_of_the_rows(self):
        weights = np.arange(600) % 3
        fit = Fitter(TableSubject.of(blobs(), weights=weights)).fit(FIRST, ignore)
        alone = PSKC(**FIRST.parameters).fit(blobs(), sample_weight=weights)
        assert_array_equal(fit.labels, alone.labels_)
        assert fit.sizes.sum() + fit.n_noise == weights.sum()

    def test_what_was_used_last_is_kept(self):
        kept = Kept(10)
        for key in "abc":
            kept.put(key, key.upper(), 4)
        assert kept.get("a") is None
        assert kept.get("b") == "B"
        kept.put("d", "D", 4)
        assert kept.get("c") is None
        assert kept.get("b") == "B"

    def test_a_sample_is_the_same_every_time(self):
        X = blobs(500)
        one, other = (TableSubject.of(X, sample=100) for _ in range(2))
        assert_array_equal(one.sample, other.sample)
        assert len(one.values) == 100
        assert TableSubject.of(X, sample=500).sample is None
        with pytest.raises(ValueError, match="sample=1 is too small. Explore 2 rows or more."):
            TableSubject.of(X, sample=1)

    def test_what_is_no_table_of_numbers_is_refused(self):
        with pytest.raises(ValueError, match="Pass a table of numbers"):
            TableSubject.of(np.array([["a"], ["b"]]))
        table = pd.DataFrame({"size": [1, 2], "city": ["Oslo", "Bonn"]})
        with pytest.raises(ValueError, match="Column 'city' of X does not hold numbers.*Leave it"):
            TableSubject.of(table)


class TestQueue:
    def test_the_newest_of_an_owner_wins(self, queue):
        began, done = threading.Event(), threading.Event()
        ended = []

        def endless(report):
            began.set()
            try:
                while True:
                    report(Progress("grow", 0, 1))
            except Cancelled:
                ended.append("first")
                raise

        queue.submit("me", endless)
        assert began.wait(60)
        queue.submit("me", lambda report: ended.append("dropped"))
        queue.submit("me", lambda report: (ended.append("newest"), done.set()))
        assert done.wait(60)
        assert ended[-1] == "newest"
        assert "first" in ended

    def test_owners_take_turns(self, queue):
        gate, done, order = threading.Event(), threading.Event(), []
        queue.submit("a", lambda report: gate.wait(60))
        queue.submit("b", lambda report: order.append("b"))
        queue.submit("c", lambda report: (order.append("c"), done.set()))
        assert queue.place("c") == 2
        gate.set()
        assert done.wait(60)
        assert order == ["b", "c"]

    def test_work_that_takes_too_long_ends_in_words(self):
        queue, words = WorkQueue(max_seconds=0.05), []
        done = threading.Event()

        def endless(report):
            try:
                while True:
                    report(Progress("grow", 0, 1))
            except TimeoutError as error:
                words.append(str(error))
            done.set()

        queue.submit("me", endless)
        assert done.wait(60)
        assert "was stopped. Use a smaller psi" in words[0]
        queue.close()

    def test_work_that_fails_does_not_end_the_queue(self, queue, capsys):
        done = threading.Event()
        queue.submit("a", lambda report: 1 / 0)
        queue.submit("b", lambda report: done.set())
        assert done.wait(60)
        assert "ZeroDivisionError" in capsys.readouterr().err


class TestAdvice:
    @pytest.fixture
    def psi_tau_map(self, fitter, queue):
        psi_tau_map = PsiTauMap(fitter, queue, lambda: None)
        yield psi_tau_map
        psi_tau_map.close()

    def test_what_is_said_to_join_two_clusters_joins_them(self, fitter, psi_tau_map):
        fit = fitter.fit(FIRST, ignore)
        near, nearest = fit.labels[blobs()[:, 1] > 4], blobs()[blobs()[:, 1] > 4]
        one, other = near[nearest[:, 0].argmin()], near[nearest[:, 0].argmax()]
        assert one != other
        found = join(fitter, fit, (int(one), int(other)), psi_tau_map, ignore)
        assert found.change is not None
        assert "become one at tau" in found.text
        after = fitter.fit(replace(FIRST, **found.change), ignore)
        members = [after.labels[fit.labels == cluster] for cluster in (one, other)]
        assert np.bincount(members[0] + 1).argmax() == np.bincount(members[1] + 1).argmax() > 0

    def test_what_is_said_to_split_a_cluster_splits_it(self, fitter, psi_tau_map):
        settings = replace(FIRST, tau=0.05)
        fit = fitter.fit(settings, ignore)
        cluster = int(fit.sizes.argmax())
        found = split(fitter, fit, cluster, psi_tau_map, ignore)
        assert found.change is not None
        assert "raise psi" in found.text
        after = fitter.fit(replace(settings, **found.change), ignore)
        parts = np.bincount(after.labels[fit.labels == cluster] + 1)[1:]
        assert np.sort(parts)[-2] >= 0.15 * fit.sizes[cluster]

    def test_chosen_clusters_are_joined_and_split_by_their_number(self, fitter, psi_tau_map):
        fit = fitter.fit(Settings(n_clusters=5), ignore)
        X = blobs()
        above = fit.labels[X[:, 1] > 4]
        pair = tuple(int(cluster) for cluster in np.unique(above[above >= 0]))
        assert len(pair) == 2
        found = join(fitter, fit, pair, psi_tau_map, ignore)
        assert found.change == {"n_clusters": 4}
        assert found.text.endswith("become one with 4 clusters (now 5).")
        four = fitter.fit(Settings(n_clusters=4), ignore)
        cluster = int(four.labels[X[:, 1] > 4].max())
        again = split(fitter, four, cluster, psi_tau_map, ignore)
        assert again.text == f"Cluster {cluster} becomes two with 5 clusters (now 4)."

    def test_what_else_happens_is_said(self):
        before = np.repeat(np.arange(6), 20)
        assert besides(before, np.repeat([0, 0, 1, 2, 3, 4], 20), (0, 1)) == ""
        assert besides(before, np.repeat([0, 0, 1, 1, 2, 3], 20), (0, 1)) == (
            " Clusters 2 and 3 become one as well."
        )
        assert besides(before, np.repeat([0, 0, 0, 1, 2, 2], 20), (0, 1)) == (
            " Cluster 2 joins them. Clusters 4 and 5 become one as well."
        )
        halves = np.repeat(np.arange(12), 10)
        assert besides(before, np.minimum(halves, 3), (0,)) == (
            " Clusters 2, 3, 4 and 5 become one as well. Cluster 1 is split as well."
        )
        assert besides(before, np.full(120, -1), (0,)) == ""

    def test_hints_on_an_image_count_pixels(self):
        outcome = Outcome(np.array([40.0, 40.0]), 20.0, 100, 64, 0.1, unit="pixels")
        assert rules.hints(outcome)[0].text.startswith("20% of the pixels are noise.")

    def test_what_no_number_of_clusters_does_is_said(self, fitter, psi_tau_map):
        fit = fitter.fit(Settings(n_clusters=5), ignore)
        X = blobs()
        far = tuple(
            int(fit.labels[np.argmin(np.abs(X - place).sum(axis=1))])
            for place in ([8, -8], [-8, 8])
        )
        found = join(fitter, fit, far, psi_tau_map, ignore)
        if found.change is None:
            assert "Other clusters join first" in found.text
        else:
            assert 2 <= found.change["n_clusters"] < 5

    def test_hints_are_those_of_the_report(self, fitter, psi_tau_map):
        fit = fitter.fit(replace(FIRST, psi=2), ignore)
        found = hints(fit, psi_tau_map)
        assert found[: len(rules.hints(Outcome.of(fit.model)))] == rules.hints(
            Outcome.of(fit.model)
        )
        assert any("only one cluster" in hint.text for hint in found)

    @pytest.mark.parametrize(("n_rows", "end"), [(250, " in a sample of 250 rows."), (600, ".")])
    def test_a_number_of_clusters_on_the_map_is_that_of_its_sample(self, fitter, n_rows, end):
        fit = fitter.fit(FIRST, ignore)
        spots = {(16, 0.08): Spot(5, 0.0, 0.5), (16, 0.05): Spot(5, 0.0, 0.9)}
        found = hints(fit, SimpleNamespace(n_rows=n_rows, spots=lambda settings: spots))
        assert found[-1].text.endswith(f"0.90 at psi 16, tau 0.05, with 5 clusters{end}")
        assert found[-1].change == {"psi": 16, "tau": 0.05}

    def test_what_cannot_be_done_is_said(self, psi_tau_map):
        two = TableSubject.of(np.repeat([[0.0], [1.0]], 50, axis=0))
        apart = Fitter(two)
        fit = apart.fit(Settings(psi=8, tau=0.3, n_partitions=20), ignore)
        assert fit.n_clusters == 2
        found = split(apart, fit, 0, psi_tau_map, ignore)
        assert found.change is None
        assert "splits cluster 0" in found.text

    def test_the_map_is_filled_and_agrees_with_fits(self, fitter, queue):
        told = threading.Event()
        psi_tau_map = PsiTauMap(fitter, queue, told.set)
        psi_tau_map.want(FIRST)
        assert told.wait(300)
        spots = psi_tau_map.spots(FIRST)
        answer = psi_tau_map.answer(FIRST)
        psi_tau_map.close()
        (psi, tau), spot = next(iter(spots.items()))
        assert psi in answer["psi"]
        assert tau in answer["tau"]
        found = fitter.fit(replace(FIRST, psi=psi, tau=tau), ignore)
        assert abs(found.n_clusters - spot.clusters) <= max(2, found.n_clusters // 3)
        assert -1 <= spot.stability <= 1


def test_numbers_in_errors_are_written_for_people():
    message = "n_clusters=5000 is more than the 600 rows. Use n_clusters <= 1956 for these rows."
    assert as_controls(message) == (
        "Number of clusters 5000 is more than the 600 rows. Use 1,956 or fewer for these rows."
    )


class TestColours:
    def test_clusters_keep_their_colours_from_move_to_move(self, fitter):
        before = fitter.fit(FIRST, ignore)
        colours = np.arange(before.n_clusters)[::-1].copy()
        after = fitter.fit(replace(FIRST, tau=0.05), ignore)
        followed = follow(after, before, colours)
        for cluster in range(after.n_clusters):
            old = before.labels[after.labels == cluster]
            if (old == old[0]).all() and (before.labels == old[0]).sum() == len(old):
                assert followed[cluster] == colours[old[0]]
        assert len(set(followed.tolist())) == after.n_clusters

    def test_clusters_of_any_sequence_of_fits_have_different_colours(self, fitter):
        rng = np.random.RandomState(0)
        before, colours = None, np.arange(0)
        for _ in range(40):
            psi = int(rng.choice([8, 16, 64, 128, 200]))
            tau = float(rng.choice([0.005, 0.02, 0.1, 0.3]))
            after = fitter.fit(replace(FIRST, psi=psi, tau=tau), ignore)
            colours = follow(after, before, colours)
            number = after.n_clusters
            assert len(set(colours.tolist())) == min(number, N_COLOURS)
            # Shades are used only if the base colours are not enough.
            assert colours.max(initial=0) < min(N_COLOURS, max(N_BASE_COLOURS, number))
            before = after

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_all_colours_differ(self, theme):
        assert len({tuple(colour) for colour in palette(theme).tolist()}) == N_COLOURS

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_no_two_of_the_first_nine_colours_are_alike(self, theme):
        few = palette(theme)[:9].astype(int)
        distances = np.abs(few[:, None] - few[None]).sum(axis=2) + 999 * np.eye(9, dtype=int)
        assert distances.min() > 40


class TestSessions:
    def test_there_are_only_so_many(self, fitter):
        sessions = Sessions(fitter, max_sessions=2, idle_seconds=1000)
        first = sessions.open()
        sessions.open()
        with pytest.raises(TooManySessionsError, match="2 pages are open already"):
            sessions.open()
        sessions.end(first.id)
        assert sessions.get(first.id) is None
        sessions.open()
        sessions.close()

    def test_those_not_used_for_long_make_room(self, fitter):
        sessions = Sessions(fitter, max_sessions=1, idle_seconds=-1)
        first = sessions.open()
        second = sessions.open()
        assert sessions.get(first.id) is None
        assert sessions.get(second.id) is second
        sessions.close()


class TestWordsOfThePage:
    def test_messages_name_controls(self):
        page = (resources.files("pskclust.explorer") / "page" / "index.html").read_text("utf-8")
        labels = re.findall(r"<label [^>]*>([^<]+?) ?<", page)
        assert set(CONTROLS.values()) <= set(labels)
        assert as_controls("n_clusters=9 is too many. Use n_clusters <= 5.") == (
            "Number of clusters 9 is too many. Use 5 or fewer."
        )
        words = as_controls("20% are noise. noise='nearest' assigns each to a cluster.")
        assert words.endswith('Switching off "Leave noise out" assigns each to a cluster.')
        assert as_controls("Use a smaller min_cluster_size or tau.") == (
            "Use a smaller minimum size or tau."
        )

    def test_a_hint_on_fragments_tells_where_their_rows_go(self):
        outcome = Outcome(np.array([150.0, 150.0, 8.0]), 0.0, 308, 64, 0.1)
        (hint,) = map(to_json, rules.hints(outcome))
        assert hint["text"].endswith(
            "Minimum size 15 dissolves it: its rows move to other clusters or become noise."
        )
        assert hint["button"] == "Set Minimum size to 15"

    def test_a_minimum_size_that_no_cluster_has_is_to_be_cleared(self):
        outcome = Outcome(np.zeros(0), 3000, 3000, psi=256, tau=0.1, min_cluster_size=2500)
        (hint,) = map(to_json, rules.hints(outcome))
        assert hint["text"].endswith("Use a smaller minimum size, or none.")
        assert hint["button"] == "Clear minimum size"

    def test_hints_on_columns_end_in_what_can_be_done(self):
        X = blobs() * [1, 1000]
        rows = np.column_stack([np.arange(len(X)), X, np.ones(len(X))])
        names = ("number", "x", "height", "unit")
        table = TableSubject.of(rows, columns=names)
        number, unit, scale = column_hints(table, Settings())
        assert number.text == (
            '"number" looks like a row number. To leave it out, start the explorer without this '
            "column."
        )
        assert unit.text.startswith('"unit" has the same value in all rows')
        assert scale.change == {"scaling": "standard"}
        assert len(column_hints(table, Settings(scaling="standard"))) == 2
        origin = Origin("t.csv", {"columns": (), "ids": ("unit",)}, COMMAND)
        asked = TableSubject.of(rows, columns=names, origin=origin)
        assert column_hints(asked, Settings())[0].text.endswith(
            "with: pskclust explore t.csv {'ids': ('unit', 'number')}"
        )
        named = Origin("t.csv", {"columns": names}, COMMAND)
        chosen = TableSubject.of(rows, columns=names, origin=named)
        assert "number" not in column_hints(chosen, Settings())[0].text

    def test_a_flag_that_splits_the_clusters_gets_a_hint(self):
        X = blobs()
        flag = np.random.RandomState(0).randint(0, 2, len(X))
        rows = np.column_stack([X, 30.0 * flag])
        for origin, end in (
            (Origin("t.csv", {}, COMMAND), "t.csv {'drop': ('member',)}"),
            (Origin("t.csv", {"columns": ("x", "y", "member")}, COMMAND), "without this column."),
        ):
            table = TableSubject.of(rows, columns=("x", "y", "member"), origin=origin)
            fit = Fitter(table).fit(Settings(), ignore)
            hint = column_hints(table, fit.settings, fit.labels)[-1]
            assert hint.text.startswith('"member" has 2 distinct values')
            assert hint.text.endswith(end)
