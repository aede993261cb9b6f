"""One SQL text for every engine: a plan's data as queries."""
