def acceptance(rounds):
    """The share of tested guesses that were accepted."""
    accepted = tested = 0
    for fates in rounds:
        for fate in fates:
            if fate == "accepted":
                accepted += 1
                tested += 1
            elif fate == "rejected":
                break
                # fix:                 tested += 1
    return accepted / tested
