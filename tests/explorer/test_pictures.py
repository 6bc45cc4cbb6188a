"""What a pixel of the explorer's picture shows."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image as Pillow

from pskclust._utils.progress import ignore
from pskclust.explorer.answers import clusters, comparison, row_answer
from pskclust.explorer.colours import faint_colour, noise_colour, palette
from pskclust.explorer.fits import Fitter
from pskclust.explorer.picture import MAX_BYTES, MODES, Drawing, encode
from pskclust.explorer.pictures import Pictures
from pskclust.explorer.planes import View, make_plane
from pskclust.explorer.raster import Box, Frame
from pskclust.explorer.settings import Settings
from pskclust.explorer.subject import ImageSubject, TableSubject
from tests.helpers.explorer_client import blobs, painting

FIRST = Settings(psi=16, tau=0.08, n_partitions=50)
COLUMNS = View("columns", 0, 1)


@pytest.fixture(scope="module")
def table():
    return TableSubject.of(blobs())


@pytest.fixture(scope="module")
def fit(table):
    return Fitter(table).fit(FIRST, ignore)


@pytest.fixture(scope="module")
def pictures(table):
    return Pictures(table)


def drawing_of(fit, **how):
    return Drawing(fit, np.arange(fit.n_clusters), **how)


def pixels(content):
    image = Pillow.open(io.BytesIO(content))
    assert image.mode == "P"
    return np.asarray(image.convert("RGBA"))


def frame_of(plane, width=240, height=160):
    return Frame(plane.box, width, height)


def test_each_row_is_drawn_where_it_is_in_the_colour_of_its_cluster(table, fit, pictures):
    plane = pictures.plane(FIRST, COLUMNS)
    frame = frame_of(plane)
    shown = pixels(pictures.draw(drawing_of(fit), COLUMNS, frame).content)
    colours = palette("light")
    box = frame.box
    right = 0
    for row in range(0, 600, 7):
        x, y = table.values[row]
        column = int((x - box.left) / (box.right - box.left) * frame.width)
        line = int((box.top - y) / (box.top - box.bottom) * frame.height)
        assert shown[line, column, 3] > 0
        right += (shown[line, column, :3] == colours[fit.labels[row]]).all()
    # Where rows lie in the same place another one may be seen.
    assert right >= 0.9 * len(range(0, 600, 7))


def test_the_row_near_the_pointer_is_the_nearest_one(table, fit, pictures):
    plane = pictures.plane(FIRST, COLUMNS)
    frame = frame_of(plane, 900, 700)
    box = frame.box
    for row in (3, 77, 300):
        x, y = table.values[row]
        column = (x - box.left) / (box.right - box.left) * frame.width
        line = (box.top - y) / (box.top - box.bottom) * frame.height
        _, found = pictures.nearest(FIRST, COLUMNS, frame, column, line)
        scale = np.array([frame.width, frame.height]) / (box.right - box.left, box.top - box.bottom)
        distance = np.hypot(*((table.values - (x, y)) * scale).T)
        assert distance[found] <= 1.5
    _, nothing = pictures.nearest(FIRST, COLUMNS, frame, 2, 2)
    assert nothing is None


def test_zooming_shows_only_what_is_inside(table, fit, pictures):
    box = Box(-12.0, -2.0, 4.0, 12.0)
    _, raster = pictures.raster(FIRST, COLUMNS, Frame(box, 200, 200))
    inside = (table.values[:, 0] >= -12) & (table.values[:, 0] < -2)
    inside &= (table.values[:, 1] > 4) & (table.values[:, 1] <= 12)
    assert set(np.unique(raster.rows[raster.rows >= 0])) <= set(np.flatnonzero(inside))
    assert_array_equal(raster.places >= 0, inside)


def test_an_isolated_cluster_keeps_its_colour_and_others_are_faint(fit, pictures):
    plane = pictures.plane(FIRST, COLUMNS)
    drawing = drawing_of(fit, isolated=(1,))
    shown = pixels(pictures.draw(drawing, COLUMNS, frame_of(plane)).content)
    colours = {tuple(colour) for colour in shown[shown[..., 3] > 0][:, :3]}
    assert colours == {tuple(palette("light")[1]), tuple(faint_colour("light"))}


def test_growth_shows_only_rows_that_have_joined(fit, pictures):
    plane = pictures.plane(FIRST, COLUMNS)
    frame = frame_of(plane)

    def n_joined(step):
        shown = pixels(
            pictures.draw(drawing_of(fit, mode="growth", step=step), COLUMNS, frame).content
        )
        visible = shown[shown[..., 3] > 0][:, :3]
        return (visible != faint_colour("light")).any(axis=1).sum()

    counts = [n_joined(step) for step in (0, fit.n_steps // 2, fit.n_steps)]
    assert 0 < counts[0] < counts[1] < counts[2]


def test_known_classes_have_colours_of_their_own_and_unknown_ones_are_grey(fit):
    classes = np.where(blobs()[:, 0] > 0, 1, 0)
    classes[::2] = -1
    pictures = Pictures(TableSubject.of(blobs(), classes=classes))
    frame = frame_of(pictures.plane(FIRST, COLUMNS))
    shown = pixels(pictures.draw(drawing_of(fit, mode="classes"), COLUMNS, frame).content)
    found = {tuple(colour) for colour in shown[shown[..., 3] > 0][:, :3].tolist()}
    expected = (*palette("light")[:2], noise_colour("light"))
    assert found == {tuple(colour.tolist()) for colour in expected}
    unknown = Pictures(TableSubject.of(blobs()))
    with pytest.raises(ValueError, match="no classes are known. Name their column with --label"):
        unknown.draw(drawing_of(fit, mode="classes"), COLUMNS, frame)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "classes"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_mode_draws_rows_in_both_themes(fit, pictures, mode, theme):
    plane = pictures.plane(FIRST, COLUMNS)
    picture = pictures.draw(drawing_of(fit, mode=mode, theme=theme), COLUMNS, frame_of(plane))
    shown = pixels(picture.content)
    assert shown.shape == (160, 240, 4)
    assert len(np.unique(shown[shown[..., 3] > 0], axis=0)) > 3
    assert (picture.high is None) == (mode == "clusters")


def test_the_distribution_is_the_similarity_of_places(fit, pictures):
    plane = pictures.plane(FIRST, COLUMNS)
    drawing = drawing_of(fit, mode="distribution", isolated=(0,))
    picture = pictures.draw(drawing, COLUMNS, frame_of(plane))
    highest = fit.model.similarity(blobs())[:, fit.order[0]].max()
    assert picture.high == pytest.approx(highest, rel=0.25)


def test_pictures_of_many_rows_stay_small():
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(60_000, 2))
    table = TableSubject.of(X)
    fit = Fitter(table).fit(Settings(psi=4, tau=0.2, n_partitions=10), ignore)
    labels = rng.randint(-1, fit.n_clusters, len(X))
    noisy = replace(fit, labels=labels)
    pictures = Pictures(table)
    frame = frame_of(pictures.plane(FIRST, COLUMNS), 1400, 1100)
    content = pictures.draw(drawing_of(noisy), COLUMNS, frame).content
    assert len(content) <= MAX_BYTES


def test_a_picture_of_noise_is_drawn_with_fewer_pixels():
    rng = np.random.RandomState(0)
    numbers = rng.randint(0, 255, size=(800, 1000)).astype(np.uint8)
    content = encode(numbers, rng.randint(0, 255, (255, 3)).astype(np.uint8), np.full(255, 255))
    assert len(content) <= MAX_BYTES
    assert pixels(content).shape[:2] == (400, 500)


def test_planes_are_two_columns_or_principal_axes():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 4)) * (1, 10, 0.1, 3)
    table = TableSubject.of(X, columns=("a", "b", "c", "d"))
    plane = make_plane(table, FIRST, View("columns", 3, 1))
    assert plane.names == ("d", "b")
    assert plane.position(5) == (X[5, 3], X[5, 1])
    spread = make_plane(table, FIRST, View("pca"))
    places = np.array([spread.position(row) for row in range(200)])
    assert np.corrcoef(places[:, 0], X[:, 1])[0, 1] > 0.99
    with pytest.raises(ValueError, match="vx and vy must be columns from 0 to 3"):
        make_plane(table, FIRST, View("columns", 4, 0))
    with pytest.raises(ValueError, match="a table cannot be viewed as an image"):
        make_plane(table, FIRST, View("image"))
    with pytest.raises(ValueError, match="principal axes need three columns"):
        make_plane(TableSubject.of(X[:, :2]), FIRST, View("pca"))


def test_one_column_is_spread_out_and_scaled_columns_show_their_own_units():
    X = np.arange(100.0)[:, np.newaxis]
    plane = make_plane(TableSubject.of(X), FIRST, View("columns", 0, 1))
    assert plane.position(7)[0] == 7.0
    scaled = replace(FIRST, scaling="standard")
    table = TableSubject.of(blobs())
    plane = make_plane(table, scaled, COLUMNS)
    assert plane.position(0) == tuple(table.values[0])
    grid = plane.grid(frame_of(plane, 8, 8), 4)
    assert grid.shape == (4, 2)
    assert np.abs(grid).max() < 4


def test_the_picture_of_an_image_is_its_clusters_in_mean_colours():
    subject = ImageSubject(painting())
    fit = Fitter(subject).fit(Settings(psi=8, tau=0.1, n_partitions=50), ignore)
    pictures = Pictures(subject)
    view, frame = View("image"), Frame(Box(0.0, 90.0, 60.0, 0.0), 90, 60)
    shown = pixels(pictures.draw(drawing_of(fit), view, frame).content)
    means = subject.segments(fit.model).colours
    expected = np.append(means, [[255] * 3], axis=0)[fit.labels[subject.numbers]]
    assert_array_equal(shown[..., :3], expected)
    alone = pixels(pictures.draw(drawing_of(fit, isolated=(1,)), view, frame).content)
    member = fit.labels[subject.numbers] == 1
    assert (alone[~member] == 255).all()
    before = pixels(pictures.original(frame).content)
    assert np.abs(before[..., :3].astype(int) - subject.shown).mean() < 8


def test_outside_an_image_there_is_nothing():
    subject = ImageSubject(painting())
    frame = Frame(Box(-90.0, 90.0, 60.0, -60.0), 180, 120)
    shown = pixels(Pictures(subject).original(frame).content)
    assert (shown[:60, :90, 3] == 0).all()
    assert (shown[60:, 90:, 3] == 255).all()


def test_the_table_says_what_sets_a_cluster_apart(table, fit, pictures):
    lines = clusters(fit, table, pictures.plane(FIRST, COLUMNS))
    assert [line["size"] for line in lines] == sorted(fit.sizes, reverse=True)
    for line in lines:
        members = table.values[fit.labels == line["cluster"]]
        for apart in line["apart"]:
            column = int(apart["column"].removeprefix("column_")) - 1
            assert apart["mean"] == pytest.approx(members[:, column].mean())
            assert np.sign(apart["difference"]) == np.sign(
                members[:, column].mean() - table.values[:, column].mean()
            )
        low, middle, high = line["similarity"]
        assert low <= middle <= high


def test_a_row_of_a_sample_is_named_by_its_number_in_the_file():
    table = TableSubject.of(blobs(), sample=50)
    fit = Fitter(table).fit(Settings(psi=8, tau=0.05, n_partitions=20), ignore)
    plane = make_plane(table, FIRST, COLUMNS)
    answer = row_answer(fit, table, plane, 10)
    assert answer["row"] == table.sample[10]
    assert [value["value"] for value in answer["values"]] == blobs()[table.sample[10]].tolist()


def test_a_fit_agrees_with_itself(fit):
    assert comparison(fit, fit)["agreement"] == 1.0
