"""The main job, end to end, on a folder of parallel text."""
