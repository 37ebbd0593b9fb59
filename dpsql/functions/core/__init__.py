"""Types, ranges, constants, conversions and choices: what every function rests on."""
