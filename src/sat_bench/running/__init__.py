"""Where systems run: on this machine, on a cluster, or from a cache of earlier answers."""
