"""The global hotkey: one backend for each system, chosen by what is there. None of them sees any other key."""
