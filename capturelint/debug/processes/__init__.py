"""The child processes that run the user's code, and what they tell their parent."""
