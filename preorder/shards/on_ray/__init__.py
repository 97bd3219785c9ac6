"""Shards done by workers of a Ray cluster, or of a Ray on this machine alone that is started for it."""
