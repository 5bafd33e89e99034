"""Side by side with peers, in one run, as ratios: `python -m bench [name ...]`."""
