"""Runs as pages: one self-contained HTML file each, drawn from records alone."""
