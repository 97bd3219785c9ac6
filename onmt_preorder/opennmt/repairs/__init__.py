"""What repairs OpenNMT-py for everybody, not for our models alone; each file says why, and when it can go."""
