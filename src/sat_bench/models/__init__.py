"""Systems under test. SaT models: where their files are, and how they read a text."""

# Here, where no library is loaded, so that `--help` can show them.
DEFAULT_THRESHOLD = 0.025
WINDOW_TOKENS = 510  # 512 positions less <s> and </s>; some models have fewer
DEFAULT_TIMEOUT_S = 120.0  # for one text
LARGEST_OVERLAP = WINDOW_TOKENS - 1
