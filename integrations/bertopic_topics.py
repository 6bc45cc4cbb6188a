"""BERTopic: `PSKC` in the place of HDBSCAN.

`hdbscan_model` takes any object with `fit`, `predict` and `labels_`, and topics are the clusters;
-1 is the topic of texts in none. Here texts are made of five vocabularies, and embedded by tf-idf
and SVD, so that nothing is downloaded; sentence embeddings go the same way. Leave out the reduction
by UMAP with `BaseDimensionalityReduction`: psKC works in many columns.
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
