"""What a run says about the findings of `check`: proved, refuted, not reached, or not to be told."""
