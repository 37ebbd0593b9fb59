"""Functions that take JSON and structs apart."""
