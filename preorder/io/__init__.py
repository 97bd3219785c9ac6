"""Files: local, compressed or at URLs; read line by line, written whole or not at all."""
