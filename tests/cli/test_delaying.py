"""Commands load only the modules that they use."""

import json
import subprocess
import sys

import pytest

from pskclust.cli.delaying import DelayedModule, delayed_imports


def printed_by(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.splitlines()[-1]


def test_a_delayed_module_is_loaded_when_it_is_used():
    code = """
import sys
from pskclust.cli.delaying import delayed_imports
with delayed_imports(("wave",)):
    import wave
assert "wave" not in sys.modules
assert wave.Error.__name__ == "Error"
assert sys.modules["wave"].Error is wave.Error
print("used")
"""
    assert printed_by(code) == "used"


def test_modules_that_are_loaded_or_do_not_exist_are_left_alone():
    with delayed_imports(("json", "no_such_module")):
        assert sys.modules["json"] is json
        assert "no_such_module" not in sys.modules
        with pytest.raises(ModuleNotFoundError):
            import no_such_module  # noqa: F401


def test_scikit_learn_works_with_delayed_modules():
    code = """
import sys
from pskclust.cli.delaying import import_sklearn
import_sklearn()
assert "scipy.stats._stats_py" not in sys.modules
assert "pandas" not in sys.modules
import pandas
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import _mode
frame = pandas.DataFrame({"a": [0.0, 2.0], "b": [1.0, 1.0]})
scaled = StandardScaler().set_output(transform="pandas").fit_transform(frame)
assert list(scaled.columns) == ["a", "b"]
assert _mode([1, 1, 2])[0] == 1
print("works")
"""
    assert printed_by(code) == "works"


def test_a_small_fit_with_known_classes_loads_only_what_it_needs(tmp_path):
    rows = "\n".join(f"{i % 7},{i % 11},{i % 3 or None}" for i in range(200))
    (tmp_path / "rows.csv").write_text("x,y,class\n" + rows)
    unwanted = ("numba", "pandas", "scipy.stats", "scipy.optimize", "matplotlib", "sklearn.metrics")
    code = f"""
import sys
from pskclust.cli.app import run
options = ["--label", "class", "--json", "-o", {str(tmp_path / "labels.csv")!r}]
assert run(["fit", {str(tmp_path / "rows.csv")!r}, *options]) == 0
print(sorted({{*{unwanted!r}, "asyncio", "numpy.f2py"}} & set(sys.modules)))
"""
    assert printed_by(code) == "[]"


def test_numpy_works_with_delayed_modules():
    code = """
import sys
from pskclust.cli.delaying import import_sklearn
import_sklearn()
import numpy
assert "numpy.testing" not in sys.modules
assert numpy.testing.assert_array_equal is not None
import numpy.f2py
assert numpy.f2py is sys.modules["numpy.f2py"]
from numpy.testing import assert_allclose
import asyncio
print(asyncio.run(asyncio.sleep(0, "works")))
"""
    assert printed_by(code) == "works"


def test_a_delayed_module_has_the_name_of_the_module():
    assert DelayedModule("wave").__name__ == "wave"
