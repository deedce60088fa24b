"""Let a module run eagerly between captured pieces, where nothing mends what it does."""
