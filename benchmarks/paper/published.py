"""What the paper says: its data, settings and printed numbers.

S. Hara and K. Hayashi, "Making Tree Ensembles Interpretable: A Bayesian Model Selection
Approach", section 7. A pair is a mean and a standard deviation over ten data draws.
"""

# Table 1: features, rows of the whole set, rows to train and as many to test on.
DATASETS = {
    "synthetic1": (2, None, 1000),
    "synthetic2": (2, None, 1000),
    "spambase": (57, 4601, 1000),
    "miniboone": (50, 130_065, 5000),
    "higgs": (28, 11_000_000, 5000),
    "energy": (8, 768, 384),
}
TITLES = {
    "synthetic1": "Synthetic1",
    "synthetic2": "Synthetic2",
    "spambase": "Spambase",
    "miniboone": "MiniBooNE",
    "higgs": "Higgs",
    "energy": "Energy",
}

N_TREES = 100
MOST_COMPONENTS = 10
N_RESTARTS = 20
N_REALISATIONS = 10
DEPTHS = (2, 3, 4, 6, 8, 10)
# The forest with the smallest out-of-bag error over this grid is simplified.
NODE_SIZES = (10, 50, 100, 150)
LEAF_NUMBERS = (16, 32, 64, 128)

# Table 2: seconds for one restart; EM is the sum over K = 1..10.
SECONDS = {
    "FAB": {
        "synthetic1": (2.59, 2.28),
        "synthetic2": (4.03, 4.76),
        "spambase": (3.07, 1.35),
        "miniboone": (280.0, 174.0),
        "higgs": (149.0, 58.3),
        "energy": (0.03, 0.02),
    },
    "EM": {
        "synthetic1": (21.4, 7.33),
        "synthetic2": (30.1, 11.4),
        "spambase": (81.2, 12.4),
        "miniboone": (1459.0, 263.0),
        "higgs": (603.0, 53.6),
        "energy": (0.49, 0.18),
    },
}

# Table 3: mean number of rules that cover a test point.
OVERLAP = {
    "Proposed": {
        "synthetic1": (1.01, 0.03),
        "synthetic2": (1.05, 0.06),
        "spambase": (1.60, 0.12),
        "miniboone": (2.51, 0.09),
        "higgs": (1.56, 0.21),
        "energy": (0.95, 0.08),
    },
    "inTrees": {
        "synthetic1": (4.65, 0.38),
        "synthetic2": (3.73, 0.41),
        "spambase": (5.39, 0.34),
        "miniboone": (6.25, 0.28),
        "higgs": (5.53, 0.27),
        "energy": (3.30, 0.19),
    },
    "Node Harvest": {
        "synthetic1": (3.53, 0.95),
        "synthetic2": (8.78, 2.02),
        "spambase": (12.4, 1.76),
        "miniboone": (17.9, 2.24),
        "higgs": (9.42, 1.85),
        "energy": (3.61, 0.19),
    },
}

REGIONS_OF_FIVE_TREES = {"synthetic1": 787, "synthetic2": 1374}

# Table 4: rules on Energy, as printed there.
ENERGY_RULES = {
    "Proposed": (
        ("Overall Height < 5.25, Wall Area < 306.25", 12.33),
        ("Overall Height < 5.25, Wall Area >= 318.50", 14.39),
        ("Overall Height >= 5.25, Wall Area < 330.75", 28.17),
        ("Overall Height >= 5.25, Wall Area >= 343.00", 37.38),
    ),
    "BATrees": (
        (
            "Relative Compactness < 0.84, Wall Area < 330.75, Roof Area < 183.75, "
            "Glazing Area < 0.33, Glazing Area Distribution < 0.50",
            17.18,
        ),
        (
            "Relative Compactness < 0.84, Wall Area < 330.75, Roof Area < 183.75, "
            "Orientation < 3.50, Glazing Area < 0.33, "
            "0.50 <= Glazing Area Distribution < 3.50",
            24.50,
        ),
        (
            "Relative Compactness < 0.84, Wall Area < 330.75, Roof Area < 183.75, "
            "3.50 <= Orientation < 4.50, Glazing Area < 0.33, "
            "0.50 <= Glazing Area Distribution < 3.50",
            24.20,
        ),
        (
            "Relative Compactness < 0.84, Wall Area < 330.75, Roof Area < 183.75, "
            "Orientation >= 4.50, Glazing Area < 0.33, "
            "0.50 <= Glazing Area Distribution < 3.50",
            23.94,
        ),
    ),
    "inTrees": (
        (
            "Relative Compactness >= 0.65, Overall Height < 5.25, Glazing Area < 0.33",
            12.58,
        ),
        (
            "Relative Compactness >= 0.75, Surface Area >= 624.75, "
            "Glazing Area Distribution >= 0.50",
            33.20,
        ),
        ("Relative Compactness >= 0.84, Glazing Area >= 0.33", 33.20),
        (
            "673.75 <= Surface Area < 796.25, Wall Area >= 306.25, "
            "Glazing Area >= 0.17",
            23.61,
        ),
    ),
    "Node Harvest": (
        ("Surface Area >= 674.00, Glazing Area >= 0.17", 14.53),
        ("Relative Compactness >= 0.81, Surface Area < 674.00", 28.17),
        ("Relative Compactness < 0.81, Surface Area < 674.00", 37.38),
        ("Surface Area >= 674.00, Glazing Area < 0.17", 11.21),
    ),
    "DTree2": (
        ("Surface Area >= 673.75, Glazing Area < 0.17", 11.21),
        ("Surface Area >= 673.75, Glazing Area >= 0.17", 14.53),
        ("Surface Area < 624.75", 28.17),
        ("624.75 <= Surface Area < 673.75", 37.38),
    ),
}
