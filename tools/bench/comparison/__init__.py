"""Parts of tools/bench/compare.py."""
