"""Split -> Plan: choose clips, noise and thresholds; compute the price and the digest."""
