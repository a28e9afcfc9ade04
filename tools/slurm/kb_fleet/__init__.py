"""Shards of what is to be judged, and results of the nodes that judged them."""
