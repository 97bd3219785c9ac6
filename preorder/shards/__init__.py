"""Folders of files, a job each: which there are, what they were made with, and how they are done."""
