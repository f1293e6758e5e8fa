"""``python -m motionpred``: the same as the command ``motionpred``."""

from motionpred.cli import main

if __name__ == "__main__":
    main()
