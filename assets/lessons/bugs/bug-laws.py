def draft(model, text, gamma, temperature, coin):
    """Guesses, and for each the law that the test will ask for."""
    guesses, laws = [], []
    for _ in range(gamma):
        logits = model(text + guesses)
        q = (logits / temperature).softmax(-1)
        guesses.append(coin.draw(q))
        laws.append(logits.softmax(-1))
        # fix:         laws.append(q)
    return guesses, laws
