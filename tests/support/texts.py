"""Text files that tests write, and folders that they compare."""


def write(path, *lines):
    """Write lines to a file, those of bytes as they are; return its name."""
    path.write_bytes(b"".join(line if isinstance(line, bytes) else f"{line}\n".encode() for line in lines))
    return str(path)


def content(folder):
    """Return what is in each file below a folder, by its path there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
