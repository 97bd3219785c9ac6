"""Runs as one page of HTML that needs nothing else: tables, pictures, examples."""
