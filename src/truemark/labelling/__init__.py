"""Pages on which people make truth: the server, what it stores, and how far two of them agree."""
