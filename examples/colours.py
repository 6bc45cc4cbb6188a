"""Segmentation of a photograph by colour.

Pixels are points in the colour space CIELAB, where distances are close to the differences that
people see. The number of segments is found. Pixels of the same colour become one row, weighted by
their number, which saves time. To segment another photograph, use `--image photo.jpg`.
"""

import argparse

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

from pskclust.image import read_image, segment

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--image", help="a PNG, JPEG, TIFF or WebP file")
parser.add_argument("--picture", default="colours.png")
options = parser.parse_args()

image = read_image(options.image) if options.image else load_sample_image("flower.jpg")
result = segment(image, psi=16, tau=0.1, min_cluster_size=image[..., 0].size // 100, random_state=0)

sizes = [(result.labels == cluster).sum() for cluster in range(len(result.colors))]
print(f"{len(sizes)} segments")
for size, colour in zip(sizes, result.colors, strict=True):
    print(f"{size / result.labels.size:6.1%} of the pixels, mean colour {tuple(map(int, colour))}")

shown = [result.image, result.mean_color_image(), *map(result.cutout, range(min(4, len(sizes))))]
titles = ["photograph", "mean colours", *(f"segment {cluster}" for cluster in range(4))]
figure, axes = plt.subplots(2, 3, figsize=(9, 4.4), layout="constrained")
for each in axes.ravel():
    each.set_axis_off()
for each, picture, title in zip(axes.ravel(), shown, titles, strict=False):
    each.imshow(picture)
    each.set_title(title, fontsize=10)
figure.savefig(options.picture, dpi=100)
