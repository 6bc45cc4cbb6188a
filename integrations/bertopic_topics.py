"""BERTopic: `PSKC` in the place of HDBSCAN.

`hdbscan_model` takes any object with `fit`, `predict` and `labels_`. The clusters are the topics,
and -1 is the topic of texts in no cluster. The texts here are generated from five vocabularies and
embedded by tf-idf and SVD, so that nothing is downloaded; sentence embeddings are used in the same
way. `BaseDimensionalityReduction` replaces UMAP, because psKC works in many columns.
"""

import numpy as np
from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from pskclust import PSKC

VOCABULARIES = (
    "orbit rocket moon launch satellite telescope planet crew",
    "goal match league striker coach season keeper stadium",
    "flour oven butter yeast dough sugar recipe bake",
    "court judge appeal verdict lawyer trial jury evidence",
    "guitar drum chord melody concert album singer stage",
)
rng = np.random.RandomState(0)
kinds = rng.randint(len(VOCABULARIES), size=600)
texts = [" ".join(rng.choice(VOCABULARIES[kind].split(), 12)) for kind in kinds]
embeddings = make_pipeline(TfidfVectorizer(), TruncatedSVD(20, random_state=0)).fit_transform(texts)

topic_model = BERTopic(
    embedding_model=None,
    umap_model=BaseDimensionalityReduction(),
    hdbscan_model=PSKC(metric="cosine", random_state=0),
)
topics, _ = topic_model.fit_transform(texts, embeddings)
again, _ = topic_model.transform(texts, embeddings)

assert adjusted_rand_score(kinds, topics) > 0.9
assert adjusted_rand_score(topics, again) > 0.9
words = [topic_model.get_topic(topic)[0][0] for topic in sorted(set(topics) - {-1})]
print(f"{len(words)} topics: {', '.join(words)}")
