"""Models that cannot be read: asked for answers, which the rules imitate.

A black box is a Forest like any other to those who use it: it has splits, and it
answers rows. Its splits are those of the data and of trees grown on the answers; its
answers are the model's own.
"""

from defragtrees.methods.black_box.asking import can_be_asked, model_task
from defragtrees.methods.black_box.forest import AskedForest
from defragtrees.methods.black_box.imitation import ask_model

__all__ = ["AskedForest", "ask_model", "can_be_asked", "model_task"]
