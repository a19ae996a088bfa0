"""Support for testing stores: the shared conformance cases, and stores that watch or stop what runs."""
