"""`python -m execlab`."""

from execlab.cli import main

if __name__ == "__main__":
    main()
