"""SaT models: where their files are, and how they read a text."""
