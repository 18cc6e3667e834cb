"""Fixtures of all tests: the built book (built.py), the chapters in this process (chapters.py); skips in CI."""

pytest_plugins = ["skips", "built", "chapters"]
