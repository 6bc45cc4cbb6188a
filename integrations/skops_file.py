"""skops: models in files without pickle.

`PSKC.save` writes a file of arrays and JSON, which cannot run code when it is loaded. skops does
the same for a whole pipeline; it asks which types of other packages to trust.
"""

import numpy as np
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pskclust import PSKC
from pskclust.datasets import make_shapes

X, _ = make_shapes(3_000, random_state=0)
pipeline = make_pipeline(StandardScaler(), PSKC(random_state=0)).fit(X)

skops.io.dump(pipeline, "pipeline.skops")
unknown = skops.io.get_untrusted_types(file="pipeline.skops")
assert all(name.startswith(("pskclust.", "numpy.", "scipy.")) for name in unknown), unknown
restored = skops.io.load("pipeline.skops", trusted=unknown)

assert np.array_equal(restored.predict(X), pipeline.predict(X))
print(f"{len(unknown)} types to trust, all of pskclust or of NumPy; the same labels after loading")
