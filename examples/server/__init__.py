"""A chat server on sessionstore: what it takes to stream answers and survive a crash."""
