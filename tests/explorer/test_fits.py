"""The explorer's fits are PSKC's, cells are shared, the newest work wins."""

from __future__ import annotations

import re
import threading
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust import _advice as rules
from pskclust._advice import Outcome
from pskclust._utils.progress import Progress, ignore
from pskclust.explorer.advice import hints, join, split
from pskclust.explorer.colours import follow, palette
from pskclust.explorer.fits import Fitter, Kept
from pskclust.explorer.psi_tau_map import PsiTauMap
from pskclust.explorer.queue import Cancelled, WorkQueue
from pskclust.explorer.sessions import Sessions, TooManySessionsError
from pskclust.explorer.settings import Settings, first_settings
from pskclust.explorer.subject import ImageSubject, TableSubject
from pskclust.image import segment
from tests.helpers.explorer_client import blobs, painting

# Finds the five blobs; the two that are close become one at tau 0.05.
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
            ({"psi": 4}, "tau is missing."),
            ({"psi": 4, "tau": 0.1, "path": "/etc"}, "there is no setting 'path'."),
            ({"psi": 1, "tau": 0.1}, "psi=1 must be a whole number from 2 to 65536 here."),
            ({"psi": True, "tau": 0.1}, "psi=True must be a whole number"),
            ({"psi": "auto", "tau": 0.1}, "psi='auto' must be a whole number"),
            ({"psi": 4, "tau": "x" * 99}, "must be a number from 1e-07 to 0.99 here."),
            ({"psi": 4, "tau": 0}, "tau=0.0 must be a number"),
            ({"psi": 4, "tau": 0.1, "n_partitions": 10**6}, "n_partitions=1000000 must be"),
            ({"psi": 4, "tau": 0.1, "metric": "l1"}, "metric='l1' is not allowed."),
            ({"psi": 4, "tau": 0.1, "scaling": "z"}, "scaling='z' must be one of none, standard"),
            ({"psi": 4, "tau": 0.1, "refine": 1}, "refine=1 is not allowed."),
        ],
    )
    def test_bad_settings_are_refused_in_words(self, content, words):
        with pytest.raises(ValueError, match=re.escape(words)) as error:
            Settings.of(content)
        assert len(str(error.value)) < 200

    def test_exploring_starts_where_the_paper_would(self):
        model = PSKC(tau=0.01, random_state=0).fit(blobs())
        first = first_settings(600)
        assert (first.psi, first.tau) == (model.psi_, model.tau_)
        assert first_settings(600, psi=10).psi == 10
        assert first_settings(600, is_image=True).tau == 0.1


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
        with pytest.raises(ValueError, match="must be a table of numbers"):
            TableSubject.of(np.array([["a"], ["b"]]))


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
        assert "was ended. Use a smaller psi" in words[0]
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

    def test_hints_are_those_of_the_report(self, fitter, psi_tau_map):
        fit = fitter.fit(replace(FIRST, psi=2), ignore)
        found = hints(fit, psi_tau_map)
        assert found[: len(rules.hints(Outcome.of(fit.model)))] == rules.hints(
            Outcome.of(fit.model)
        )
        assert any("only one cluster" in hint.text for hint in found)

    def test_what_cannot_be_done_is_said(self, psi_tau_map):
        two = TableSubject.of(np.repeat([[0.0], [1.0]], 50, axis=0))
        apart = Fitter(two)
        fit = apart.fit(Settings(psi=8, tau=0.3, n_partitions=20), ignore)
        assert fit.n_clusters == 2
        found = split(apart, fit, 0, psi_tau_map, ignore)
        assert found.change is None
        assert "makes two of cluster 0" in found.text

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
