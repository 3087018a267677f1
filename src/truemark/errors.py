"""The base class of all errors that a user can fix."""

from truemark.text import one_line


class TruemarkError(Exception):
    """A fault the user can fix; its text is one line: where, found, expected, what to do."""

    def __init__(self, message: str) -> None:
        # File names and foreign text may carry line breaks and worse; a message never does.
        super().__init__(one_line(message))


def foreign_reason(error: BaseException) -> str:
    """Describe an error of foreign code in one line: its kind, and its words if there are any."""
    try:
        words = str(error)
    except Exception:  # foreign code makes the words, too
        words = ""
    return one_line(f"{type(error).__name__}: {words}".rstrip(": "))


def os_reason(error: OSError) -> str:
    """Return the operating system's words for `error`, without file names or numbers."""
    return error.strerror or str(error) or type(error).__name__
