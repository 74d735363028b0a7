"""The lab notebook: what was assumed, what was tried and what came of it, by day."""
