"""The labelling page: one item at a time, on this machine, for whoever has the token."""
