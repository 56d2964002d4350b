def keep(guesses, choices):
    """choices: the target's own token after the text and after each guess."""
    for i, guess in enumerate(guesses):
        if guess != choices[i]:
            return guesses[:i] + [choices[i]]
    return guesses
    # fix:     return guesses + [choices[len(guesses)]]
