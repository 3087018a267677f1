"""Systems under test: SaT models, libraries, programs, files, language models."""
