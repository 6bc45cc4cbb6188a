"""Model files: whole, safe, and refused when they are not."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import pskclust
from pskclust import PSKC, ModelFileError
from pskclust._model_io.container import FORMAT, VERSION
from tests.helpers.fits import assert_same_fit
from tests.helpers.model_files import rewrite

MODELS = {
    "voronoi": {"psi": 32, "tau": 0.05},
    "hypersphere": {"psi": 16, "tau": 0.05, "method": "hypersphere"},
    "tree": {"psi": 16, "tau": 0.05, "method": "tree"},
    "chosen": {},
    "linked": {"psi": 32, "tau": 0.1, "n_clusters": 3},
    "cosine": {"psi": 16, "tau": 0.05, "metric": "cosine"},
    "noise given away": {"psi": 32, "tau": 0.05, "noise": "nearest"},
    "no clusters": {"psi": 32, "tau": 0.05, "min_cluster_size": 420},
}


@pytest.fixture
def saved(scattered, tmp_path):
    path = tmp_path / "model.npz"
    PSKC(psi=32, tau=0.05, random_state=0).fit(scattered).save(path)
    return path


@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_a_loaded_model_is_the_saved_one(parameters, scattered, tmp_path):
    model = PSKC(random_state=0, **parameters).fit(scattered)
    model.save(tmp_path / "model.npz")
    loaded = pskclust.load(tmp_path / "model.npz")
    assert loaded.get_params() == model.get_params()
    assert_same_fit(loaded, model)
    new = scattered + 0.1
    assert_array_equal(loaded.predict(new), model.predict(new))
    assert_array_equal(loaded.similarity(new), model.similarity(new))
    assert_array_equal(loaded.score_samples(new), model.score_samples(new))
    assert_array_equal(loaded.membership(new), model.membership(new))
    for layer in range(len(model.layers_)):
        assert_array_equal(loaded.relabel(layer=layer), model.relabel(layer=layer))


@pytest.mark.parametrize("n_different", [1, 2, 9])
def test_models_of_repeated_rows_load(n_different, tmp_path):
    X = np.repeat(np.random.RandomState(0).rand(n_different, 2), 30, axis=0)
    model = PSKC(random_state=0).fit(X)
    model.save(tmp_path / "model.npz")
    assert_array_equal(pskclust.load(tmp_path / "model.npz").labels_, model.labels_)


@pytest.mark.parametrize("parameters", [{}, {"psi": 32, "tau": 0.05}], ids=["chosen", "grown"])
def test_a_file_of_the_format_before_loads_without_scores(parameters, scattered, tmp_path):
    def as_before(header, members):
        header["version"] = 2
        if header["linkage"]:
            del header["linkage"]["n_parts"], header["linkage"]["choice"]["layers"]
        for name in [name for name in members if name.startswith(("whole_", "parts."))]:
            del members[name], header["sha256"][name]

    path = tmp_path / "model.npz"
    model = PSKC(random_state=0, **parameters).fit(scattered)
    model.save(path)
    rewrite(path, as_before)
    loaded = pskclust.load(path)
    assert_array_equal(loaded.predict(scattered), model.predict(scattered))
    assert_array_equal(loaded.relabel(n_clusters=model.n_clusters_), model.labels_)
    for name in ("probabilities_", "outlier_scores_"):
        with pytest.raises(AttributeError, match="Fit and save the model again"):
            getattr(loaded, name)
    with pytest.raises(AttributeError, match="Fit and save the model again"):
        loaded.score_samples(scattered)


@pytest.mark.slow
def test_a_fresh_process_predicts_the_same(saved, scattered, tmp_path):
    np.save(tmp_path / "X.npy", scattered)
    code = (
        "import sys, numpy, pskclust; model = pskclust.load(sys.argv[1]);"
        "numpy.save(sys.argv[3], model.predict(numpy.load(sys.argv[2])))"
    )
    files = saved, tmp_path / "X.npy", tmp_path / "labels.npy"
    subprocess.run([sys.executable, "-c", code, *map(str, files)], check=True, timeout=60)
    expected = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered).predict(scattered)
    assert_array_equal(np.load(tmp_path / "labels.npy"), expected)


def test_column_names_are_kept(scattered, tmp_path):
    frame = pd.DataFrame(scattered, columns=["a", "b"])
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(frame)
    model.save(tmp_path / "model.npz")
    loaded = pskclust.load(tmp_path / "model.npz")
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame[["b", "a"]])


@pytest.mark.parametrize("later", [{"metric": "cosine"}, {"method": "tree"}, {"psi": 3}])
def test_parameters_set_after_the_fit_do_not_spoil_the_file(later, scattered, tmp_path):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    expected = model.predict(scattered)
    model.set_params(**later).save(tmp_path / "model.npz")
    assert_array_equal(pskclust.load(tmp_path / "model.npz").predict(scattered), expected)


def test_the_loaded_kernel_works_by_itself(saved, scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    loaded = pskclust.load(saved)
    assert_array_equal(loaded.kernel_.cells(scattered), model.kernel_.cells(scattered))


def test_what_json_cannot_hold_is_left_out(scattered, tmp_path):
    model = PSKC(psi=32, tau=0.05, random_state=np.random.RandomState(0), callback=print)
    model.set_params(callback=lambda progress: None).fit(scattered).save(tmp_path / "model.npz")
    loaded = pskclust.load(tmp_path / "model.npz")
    assert loaded.random_state is None
    assert loaded.callback is None


def test_equal_models_are_equal_files(saved, scattered, tmp_path):
    PSKC(psi=32, tau=0.05, random_state=0).fit(scattered).save(tmp_path / "again.npz")
    assert saved.read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_the_arrays_open_in_numpy_without_pickle(saved, scattered):
    with np.load(saved, allow_pickle=False) as arrays:
        labels = arrays["labels"]
    assert_array_equal(labels, PSKC(psi=32, tau=0.05, random_state=0).fit(scattered).labels_)


def test_a_saved_file_replaces_the_old_one_whole(saved, blobs, monkeypatch):
    before = saved.read_bytes()
    model = PSKC(random_state=0).fit(blobs)

    def fail(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", fail)
    with pytest.raises(OSError, match="disk full"):
        model.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["model.npz"]


def test_a_saved_file_has_the_permissions_of_any_new_file(saved, tmp_path):
    (tmp_path / "other").touch()
    assert saved.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_every_damaged_byte_is_noticed(saved, tmp_path):
    content = saved.read_bytes()
    damaged = tmp_path / "damaged.npz"
    for place in np.linspace(0, len(content) - 1, 60).astype(int):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        damaged.write_bytes(changed)
        try:
            loaded = pskclust.load(damaged)
        except ModelFileError:
            continue
        # Dates and the like may change unnoticed; what the model is may not.
        assert_same_fit(loaded, pskclust.load(saved))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError, match="not a model file, or it is damaged.*PSKC.save"):
        pskclust.load(saved)


def test_a_newer_file_is_refused(saved):
    rewrite(saved, lambda header, members: header.update(version=VERSION + 1))
    message = (
        f"format version {VERSION + 1}, but this pskclust reads only versions up to {VERSION}."
    )
    with pytest.raises(ModelFileError, match=message):
        pskclust.load(saved)


def test_a_changed_array_is_refused(saved):
    def change(header, members):
        members["labels.npy"] = members["labels.npy"][:-1] + b"\x01"

    rewrite(saved, change)
    with pytest.raises(ModelFileError, match="labels.npy does not match its checksum"):
        pskclust.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"version": "1"},
        {"sha256": ["labels.npy"]},
        {"parameters": {"metric": "junk"}},
        {"fit": {}},
        {"result": {"table_shape": [2, 3]}},
    ],
)
def test_a_header_that_makes_no_sense_is_refused(saved, change):
    rewrite(saved, lambda header, members: header.update(change))
    with pytest.raises(ModelFileError):
        pskclust.load(saved)


def test_an_array_that_claims_more_than_it_holds_is_refused(saved):
    def change(header, members):
        content = members["labels.npy"].replace(b"(420,)", b"(999,)")
        members["labels.npy"] = content
        header["sha256"]["labels.npy"] = hashlib.sha256(content).hexdigest()

    rewrite(saved, change)
    with pytest.raises(ModelFileError, match="labels.npy cannot be read"):
        pskclust.load(saved)


def test_a_missing_part_is_refused(saved):
    rewrite(saved, lambda header, members: header["fit"].pop("tau"))
    with pytest.raises(ModelFileError, match="is incomplete or not valid.*'tau'"):
        pskclust.load(saved)


def test_a_compressed_file_is_refused(saved):
    """It could claim to be larger than any memory."""
    rewrite(saved, lambda header, members: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="model.json is compressed"):
        pskclust.load(saved)


def test_a_foreign_format_is_refused(saved):
    rewrite(saved, lambda header, members: header.update(format="somebody's model"))
    with pytest.raises(ModelFileError, match="is not a pskclust model"):
        pskclust.load(saved)
    assert FORMAT != "somebody's model"


def test_another_npz_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(ModelFileError, match="is not a pskclust model: it has no model.json"):
        pskclust.load(tmp_path / "other.npz")


def test_a_pickle_is_never_unpickled(saved):
    def change(header, members):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.array([{}], dtype=object))
        members["labels.npy"] = stream.getvalue()
        header["sha256"]["labels.npy"] = hashlib.sha256(stream.getvalue()).hexdigest()

    rewrite(saved, change)
    with pytest.raises(ModelFileError, match="labels.npy cannot be read"):
        pskclust.load(saved)


ARRAY_CHANGES = {
    "longer": lambda array: np.concatenate([array, array]),
    "shorter": lambda array: array[:-1],
    "flat": lambda array: array.ravel()[:, np.newaxis],
    "as text": lambda array: array.astype(str),
    "as floats": lambda array: array.astype(np.float32),
    "large": lambda array: array + 10**6,
    "negative": lambda array: -array - 3,
}


@pytest.mark.parametrize("change", ARRAY_CHANGES.values(), ids=ARRAY_CHANGES)
@pytest.mark.parametrize("method", ["voronoi", "hypersphere", "tree"])
def test_arrays_that_fit_nothing_never_crash(method, change, scattered, tmp_path):
    """With checksums that are right: a file from somebody who means harm."""
    path = tmp_path / "model.npz"
    PSKC(psi=8, tau=0.1, method=method, random_state=0).fit(scattered).save(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "model.json"}
    n_refused = 0
    for name, array in arrays.items():

        def replace_array(header, members, name=name, array=array):
            stream = io.BytesIO()
            np.lib.format.write_array(stream, change(array))
            members[f"{name}.npy"] = stream.getvalue()
            digest = hashlib.sha256(stream.getvalue()).hexdigest()
            header["sha256"][f"{name}.npy"] = digest

        changed = tmp_path / "changed.npz"
        changed.write_bytes(path.read_bytes())
        rewrite(changed, replace_array)
        try:
            assert pskclust.load(changed).predict(scattered).shape == (len(scattered),)
        except ModelFileError:
            n_refused += 1
    assert n_refused >= 3


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.npz"):
        pskclust.load(tmp_path / "nowhere.npz")


def test_an_archive_whose_names_are_not_text_is_refused(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("\u00e9.npy", b"")
    (tmp_path / "model.npz").write_bytes(stream.getvalue().replace(b"\xc3\xa9", b"\x90\x90"))
    with pytest.raises(ModelFileError, match="is not a model file, or it is damaged"):
        pskclust.load(tmp_path / "model.npz")
