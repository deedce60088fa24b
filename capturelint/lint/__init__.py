"""Find hazards in source: files in, findings out, without torch."""
