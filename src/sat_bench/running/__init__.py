"""From talks to probabilities: on this machine, from a cache, on a cluster."""
