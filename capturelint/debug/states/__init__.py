"""What calls change besides their results: seen, put back, and named by line."""
