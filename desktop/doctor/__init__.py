"""One click looks at everything; what is wrong can be mended with another."""
