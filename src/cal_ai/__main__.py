"""Start the command: `cal-ai`, or `python -m cal_ai`."""


def main() -> int:
    """Run the command and return its exit status."""
    try:
        from truemark.command import run_main

        return run_main("cal_ai.cli")
    except KeyboardInterrupt:  # while truemark.command was imported
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
