"""The algorithms: the table of them, their pages, the classes behind their names."""
