"""A case: what the user named, loaded, moved to the device, with the inputs of each step."""
