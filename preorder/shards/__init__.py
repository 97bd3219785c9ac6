"""Folders of files, a job each, done by threads, by processes or by a Ray cluster."""
