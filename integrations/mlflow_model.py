"""MLflow: logged by its scikit-learn flavour.

The script logs the parameters, a metric and the model of a run, then loads the model as a function
of a data frame. MLflow stores models with skops or pickle. This model is stored with cloudpickle:
load such files only from people you trust.
"""

import mlflow
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pskclust import PSKC
from pskclust.datasets import make_shapes

X, _ = make_shapes(3_000, random_state=0)
table = pd.DataFrame(X, columns=["east", "north"])
pipeline = make_pipeline(StandardScaler(), PSKC(random_state=0)).fit(table)

mlflow.set_tracking_uri("sqlite:///runs.db")
with mlflow.start_run() as run:
    mlflow.log_params(pipeline[-1].get_params())
    mlflow.log_metric("n_clusters", pipeline[-1].n_clusters_)
    logged = mlflow.sklearn.log_model(
        pipeline, name="clusters", input_example=table[:3], serialization_format="cloudpickle"
    )

loaded = mlflow.pyfunc.load_model(logged.model_uri)
assert np.array_equal(loaded.predict(table), pipeline.predict(table))
kept = mlflow.get_run(run.info.run_id).data.metrics["n_clusters"]
print(f"{kept:.0f} clusters logged; the same labels from the loaded model")
