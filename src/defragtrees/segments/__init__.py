"""Segments: where a model fails, and where two models differ, as rules."""

from defragtrees.segments.found import Segment as Segment
from defragtrees.segments.found import SegmentGroups as SegmentGroups
from defragtrees.segments.found import Segments as Segments
from defragtrees.segments.search import compare_models as compare_models
from defragtrees.segments.search import explain_errors as explain_errors
from defragtrees.segments.search import find_segments as find_segments
