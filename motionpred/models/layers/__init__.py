"""Building blocks that the families share."""
