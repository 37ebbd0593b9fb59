"""Split -> Plan: clips, noise, thresholds, prices and the digest."""
