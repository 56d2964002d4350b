"""The static site: the player, the recorded runs and the theory as files that need no server of ours."""
