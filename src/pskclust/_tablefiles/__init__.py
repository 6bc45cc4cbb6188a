"""Tables in files: opened, read whole or in batches of bounded size, and written."""
