"""The entry point of `truemark` and of `python -m truemark`."""


def main() -> int:
    """Run the command and return its exit status."""
    try:
        from truemark.command import run_main

        return run_main("truemark.cli")
    except KeyboardInterrupt:  # before anything could be imported
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
